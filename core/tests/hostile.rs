//! What a dependency that answers as it likes can make the core do. `SECURITY.md` names each test.

use std::time::Duration;

use stormproof::policy::{Domain, Knob, Section, Setting};
use stormproof::retry_after::{self, Fields};
use stormproof::step::{Circuit, Kind, Reason, Safety};
use stormproof::time::Instant;
use stormproof::{Action, Engine, Event, Outcome, Policy, Request, Step};

/// The largest draw of every interval.
const HIGHEST: u64 = u64::MAX;
const SECOND_MS: u64 = 1_000;

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

/// No circuit and no budget, so that each bound is seen alone.
fn alone() -> Policy {
    Policy::new().without(Section::Breaker).without(Section::Budget)
}

fn engine(policy: &Policy) -> Engine {
    Engine::new(policy).expect("a policy that can be")
}

fn unwell() -> Outcome {
    Outcome::of(Kind::Server).with_status(503)
}

fn settle(engine: &mut Engine, now: Instant, step: &Step, outcome: Outcome, word: u64) -> Step {
    engine.on_event(now, step.call, Event::Settled(outcome), word)
}

fn reason(step: &Step) -> Reason {
    match step.action {
        Action::Finish(decision) => decision.reason,
        action => panic!("the call goes on: {action:?}"),
    }
}

fn wait(step: &Step) -> Duration {
    match step.action {
        Action::Wait { planned, .. } => planned,
        action => panic!("no wait: {action:?}"),
    }
}

#[test]
fn a_wait_that_is_too_long_is_not_begun() {
    for asked in [60_001, 86_400_000, u64::MAX / 1_000_000, u64::MAX] {
        let mut engine = engine(&alone().overall_timeout(None));
        let step = engine.start(at(0), Request::default());
        let step = settle(&mut engine, at(1), &step, unwell().with_retry_after_ms(asked), HIGHEST);
        assert_eq!(reason(&step), Reason::RetryAfterTooLong, "{asked}");
    }
    let mut engine = engine(&alone().overall_timeout(None));
    let step = engine.start(at(0), Request::default());
    let asked = unwell().with_retry_after_ms(60_000);
    let longest = wait(&settle(&mut engine, at(1), &step, asked, HIGHEST));
    assert!(longest <= Duration::from_secs(75), "{longest:?}: what is allowed, and a quarter");
}

#[test]
fn no_wait_reaches_the_deadline() {
    for asked in (0..40_000).step_by(if cfg!(miri) { 7_001 } else { 7 }) {
        let mut engine = engine(&alone().overall_timeout(Duration::from_secs(30)));
        let step = engine.start(at(0), Request::default());
        let asked = unwell().with_retry_after_ms(asked);
        let step = settle(&mut engine, at(20), &step, asked, HIGHEST);
        match step.action {
            Action::Wait { until, .. } => assert!(until.is_some_and(|until| until < at(30_000))),
            _ => assert_eq!(reason(&step), Reason::DeadlineTooNear, "{asked:?}"),
        }
    }
}

#[test]
fn an_invitation_to_come_at_once_hurries_nobody() {
    let past = retry_after::parse(b"Thu, 01 Jan 1970 00:00:00 GMT", None, 1_768_478_400_000);
    assert_eq!(past, Some(0));
    for word in [0, 1 << 62, 1 << 63, HIGHEST] {
        let plan = |outcome: Outcome| {
            let mut engine = engine(&alone());
            let step = engine.start(at(0), Request::default());
            wait(&settle(&mut engine, at(1), &step, outcome, word))
        };
        let own = plan(unwell());
        assert_eq!(plan(unwell().with_retry_after_ms(0)), own);
        assert!(plan(unwell().with_retry_after_ms(1)) >= own);
    }
}

#[test]
fn a_value_longer_than_any_legal_one_is_not_read() {
    for length in [257, 10_000_000] {
        let digits = vec![b'9'; length];
        let fields = Fields {
            retry_after_ms: Some(&digits),
            x_ms_retry_after_ms: Some(&digits),
            retry_after: Some(&digits),
            date: Some(&digits),
        };
        assert_eq!(fields.delay_ms(0), None);
    }
    let lines = "1, ".repeat(5_000);
    assert_eq!(retry_after::parse(lines.as_bytes(), None, 0), None);
    let date = "Thu, 15 Jan 2026 12:00:00 GMT, ".repeat(5_000);
    assert_eq!(retry_after::parse(b"120", Some(date.as_bytes()), 0), Some(120_000));
}

#[test]
fn a_clock_that_lies_asks_for_no_more_than_a_number_could() {
    let clocks = [
        "Fri, 31 Dec 9999 23:59:59 GMT",
        "Thu, 01 Jan 1970 00:00:00 GMT",
        "Sat, 01 Jan 0000 00:00:00 GMT",
        "Friday, 31-Dec-99 23:59:59 GMT",
        "Thursday, 01-Jan-00 00:00:00 GMT",
        "Thu Jan  1 00:00:00 9999",
        "Mon, 30 Feb 2026 12:00:00 GMT",
        "not a date",
    ];
    let dates = clocks.iter().map(|date| Some(date.as_bytes())).chain([None]);
    for (date, asked) in dates.flat_map(|date| clocks.map(|asked| (date, asked))) {
        for wall_ms in [0, 1_768_478_400_000, u64::MAX] {
            let Some(asked) = retry_after::parse(asked.as_bytes(), date, wall_ms) else { continue };
            let mut engine = engine(&alone().overall_timeout(None));
            let step = engine.start(at(0), Request::default());
            let asked = unwell().with_retry_after_ms(asked);
            let step = settle(&mut engine, at(1), &step, asked, HIGHEST);
            match step.action {
                Action::Wait { planned, .. } => assert!(planned <= Duration::from_secs(75)),
                _ => assert_eq!(reason(&step), Reason::RetryAfterTooLong),
            }
        }
    }
}

#[test]
fn retry_after_keeps_the_circuit_open_no_longer_than_allowed() {
    for asked in [0, 60_000, 60_001, u64::MAX] {
        let mut engine = engine(&Policy::new().failure_threshold(1));
        let step = engine.start(at(0), Request::default());
        let asked = unwell().with_retry_after_ms(asked);
        settle(&mut engine, at(0), &step, asked, HIGHEST);
        let until = engine.snapshot(at(0)).open_until.expect("an open circuit");
        // The longest wait allowed, and half of the open time as its jitter.
        assert!(until <= at(60_000 + 2_500), "{until:?}");
        assert_eq!(engine.snapshot(until).circuit, Circuit::HalfOpen);
    }
}

#[test]
fn later_answers_do_not_keep_an_open_circuit_open() {
    let mut engine = engine(&Policy::new().failure_threshold(1).without(Section::Budget));
    let steps: Vec<Step> = (0..100).map(|_| engine.start(at(0), Request::default())).collect();
    let mut until = None;
    for (late, step) in steps.iter().enumerate() {
        let asked = unwell().with_retry_after_ms(60_000);
        settle(&mut engine, at(late as u64), step, asked, HIGHEST);
        let now_until = engine.snapshot(at(late as u64)).open_until;
        assert_eq!(*until.get_or_insert(now_until), now_until);
    }
}

#[test]
fn probes_that_hang_hold_their_slots_for_a_lease_only() {
    let policy = Policy::new().failure_threshold(1).open_jitter(false).attempt_timeout(None);
    let mut engine = engine(&policy.overall_timeout(None));
    let step = engine.start(at(0), Request::default());
    settle(&mut engine, at(0), &step, unwell(), 0);
    for probe in 1..=20 {
        let now = at(probe * 5 * SECOND_MS);
        let step = engine.start(now, Request::default());
        assert!(matches!(step.action, Action::Attempt { .. }), "{probe}: {step:?}");
        let refused = engine.start(now, Request::default());
        assert_eq!(reason(&refused), Reason::CircuitOpen, "one probe at a time");
    }
}

#[test]
fn a_dependency_that_always_fails_gets_few_retries() {
    let mut engine = engine(&Policy::new().without(Section::Breaker));
    let (mut word, mut waiting) = (1_u64, Vec::<(Instant, Step)>::new());
    // 100 calls a second for a minute.
    for call in 0..6_000 {
        let now = at(call * 10);
        let (due, later): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|(until, _)| *until <= now);
        waiting = later;
        let mut steps = vec![engine.start(now, Request::default())];
        for (_, step) in due {
            steps.push(engine.on_event(now, step.call, Event::Elapsed, 0));
        }
        for step in steps {
            assert!(matches!(step.action, Action::Attempt { .. }), "{step:?}");
            word = word.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            let step = settle(&mut engine, now, &step, unwell(), word);
            if let Action::Wait { until: Some(until), .. } = step.action {
                waiting.push((until, step));
            }
        }
    }
    let counters = engine.snapshot(at(60_000)).counters;
    assert_eq!(counters.calls, 6_000);
    // 5 tokens at first, and one in 100 seconds.
    assert!((1..=6).contains(&counters.retries), "{}", counters.retries);
}

#[test]
fn no_call_makes_more_attempts_than_the_policy_says() {
    for status in 0..=999 {
        let mut engine = engine(&alone());
        let mut step = engine.start(at(0), Request::default());
        let mut now = at(0);
        while let Action::Attempt { .. } = step.action {
            let outcome = engine.classify(status, Some(0), Safety::Keyed);
            step = settle(&mut engine, now, &step, outcome, HIGHEST);
            if let Action::Wait { until: Some(until), .. } = step.action {
                now = until;
                step = engine.on_event(now, step.call, Event::Elapsed, 0);
            }
        }
        let Action::Finish(decision) = step.action else { panic!("{status}: {step:?}") };
        let retried = [408, 409, 413, 429, 500, 502, 503, 504, 527, 529];
        let expected = match status {
            421 | 425 => 2,
            520..=524 => 4,
            _ if retried.contains(&status) => 4,
            _ => 1,
        };
        assert_eq!(decision.attempts, expected, "{status}");
    }
}

#[test]
fn a_number_that_is_no_status_is_no_reason_to_retry() {
    let engine = engine(&alone());
    for status in (1..100).chain(600..=u16::MAX) {
        for safety in Safety::ALL {
            let outcome = engine.classify(status, Some(0), *safety);
            assert_eq!(outcome.kind, Kind::Client, "{status}");
        }
    }
}

#[test]
fn attempts_left_behind_are_bounded_in_number_and_time() {
    let policy = alone().without(Section::Retry).max_calls(5);
    let mut engine = engine(&policy.attempt_timeout(Duration::from_secs(1)));
    for number in 0..5 {
        let step = engine.start(at(0), Request::default());
        assert!(matches!(step.action, Action::Attempt { .. }), "{number}");
        let step = engine.on_event(at(SECOND_MS), step.call, Event::Elapsed, 0);
        assert_eq!(reason(&step), Reason::AttemptsExhausted);
    }
    assert_eq!(engine.snapshot(at(SECOND_MS)).abandoned, 5);
    let refused = engine.start(at(SECOND_MS), Request::default());
    assert_eq!(reason(&refused), Reason::BulkheadFull);
    // The lease of what never ends is over after a minute.
    let step = engine.start(at(61 * SECOND_MS), Request::default());
    assert!(matches!(step.action, Action::Attempt { .. }), "{step:?}");
    assert_eq!(engine.snapshot(at(61 * SECOND_MS)).abandoned, 0);
}

#[test]
fn who_hangs_fills_the_bulkhead_and_its_queue_and_no_more() {
    let policy = alone().max_concurrent(2).max_queue(3).attempt_timeout(None);
    let mut engine = engine(&policy);
    let steps: Vec<Step> = (0..100).map(|_| engine.start(at(0), Request::default())).collect();
    let started = steps.iter().filter(|step| matches!(step.action, Action::Attempt { .. }));
    assert_eq!(started.count(), 2);
    let queued = steps.iter().filter(|step| matches!(step.action, Action::Queue { .. }));
    assert_eq!(queued.count(), 3);
    assert!(steps[5..].iter().all(|step| reason(step) == Reason::BulkheadFull));
    let late = engine.on_event(at(30 * SECOND_MS), steps[2].call, Event::Elapsed, 0);
    assert_eq!(reason(&late), Reason::DeadlineExceeded, "nobody queues past the deadline");
}

#[test]
fn no_figure_of_a_policy_is_too_large_to_work_with() {
    let ends = |domain: Domain| match domain {
        Domain::Count(min, max) => vec![min as f64, max as f64],
        Domain::Span(min, max) => vec![(min as f64 / 1e6).max(0.001), max as f64 / 1e6],
        Domain::Thousandths(min, max) | Domain::ThousandthsOrAuto(min, max) => {
            vec![min as f64 / 1e3, max as f64 / 1e3]
        }
        Domain::Flag | Domain::Choice(_) | Domain::Text(_) => Vec::new(),
    };
    let mut built = 0;
    for knob in Knob::ALL {
        for end in ends(knob.row().domain) {
            let policy = Policy::new().with(*knob, Setting::Number(end));
            // A contradiction to a default is refused; everything else works.
            let Ok(mut engine) = Engine::new(&policy) else { continue };
            built += 1;
            for now in [0, 1, 5_000, 1 << 40, u64::MAX] {
                let step = engine.start(Instant::from_nanos(now), Request::default());
                let asked = unwell().with_retry_after_ms(now);
                settle(&mut engine, Instant::from_nanos(now), &step, asked, HIGHEST);
            }
        }
    }
    assert!(built > 50, "{built}");
}

#[cfg(feature = "std")]
mod documents {
    use stormproof::{ErrorCode, Policy, PolicyError};

    fn refused(text: &str) -> PolicyError {
        Policy::from_json(text).expect_err("a document that cannot be")
    }

    #[test]
    fn a_document_can_be_as_deep_as_it_likes() {
        for depth in [2, 100, if cfg!(miri) { 1_000 } else { 200_000 }] {
            let objects = format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
            let lists = format!(r#"{{"retry":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
            for text in [objects, lists] {
                let code = refused(&text).code;
                let codes = [ErrorCode::BadDocument, ErrorCode::UnknownField, ErrorCode::WrongType];
                assert!(codes.contains(&code), "{code}");
            }
        }
    }

    #[test]
    fn a_document_can_be_as_long_as_it_likes() {
        let times = if cfg!(miri) { 100 } else { 1 };
        let long = "x".repeat(2_000_000 / times);
        assert_eq!(refused(&format!(r#"{{"{long}":1}}"#)).code, ErrorCode::UnknownField);
        let name = refused(&format!(r#"{{"name":"{long}"}}"#));
        assert_eq!((name.code, name.field.as_str()), (ErrorCode::UnknownName, "name"));
        let statuses = "404,".repeat(200_000 / times);
        let many = format!(r#"{{"classify":{{"transient":[{statuses}404]}}}}"#);
        assert!(Policy::from_json(&many).is_ok(), "the same status again is no news");
        let range: Vec<String> = (100..1000).map(|status| status.to_string()).collect();
        let many = format!(r#"{{"classify":{{"transient":[{}]}}}}"#, range.join(","));
        assert_eq!(refused(&many).code, ErrorCode::OutOfRange);
    }

    #[test]
    fn a_document_can_have_any_number() {
        for number in ["1e308", "-1e308", "-0.0001", "123456789012345678901234567890", "5e-324"] {
            let error = refused(&format!(r#"{{"retry":{{"maxAttempts":{number}}}}}"#));
            assert_eq!(error.field, "retry.maxAttempts", "{number}");
        }
        // No double holds it: to a reader of JSON it is no number.
        let error = refused(r#"{"retry":{"maxAttempts":1e400}}"#);
        assert_eq!(error.code, ErrorCode::BadDocument);
    }

    #[test]
    fn a_document_forges_no_line_of_a_log() {
        for key in ["retry\\nINFO all is well", "\\u001b[2J", "a\\u0085b", "a\\u2028b", "\\u0000"] {
            let error = refused(&format!(r#"{{"{key}":1}}"#));
            assert_eq!(error.code, ErrorCode::UnknownField);
            let message = error.to_string();
            let breaks = |c: char| c.is_control() || c == '\u{2028}';
            assert!(!message.contains(breaks), "{message:?}");
            assert!(error.field.contains(breaks), "the field itself stays as it is");
            let error = refused(&format!(r#"{{"name":"{key}"}}"#));
            assert_eq!((error.code, error.field.as_str()), (ErrorCode::UnknownName, "name"));
            assert!(!error.to_string().contains(breaks));
        }
    }
}
