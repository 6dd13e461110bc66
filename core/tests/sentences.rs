//! What is said to people: decisions (R3) and policies that cannot be (E7).

use std::time::Duration;

use stormproof::classify::StatusClass;
use stormproof::policy::{Knob, Section, Setting, TimeUnit};
use stormproof::step::Kind;
use stormproof::time::Instant;
use stormproof::{Decision, Engine, ErrorCode, Jitter, Policy, PolicyError, Reason};

fn ended(reason: Reason) -> Decision {
    Decision {
        reason,
        attempts: 0,
        last_kind: None,
        last_status: 0,
        at: Instant::from_millis(1_000),
        retry_at: None,
        forced: false,
        total_wait: 0,
        tokens: None,
    }
}

/// The last of `attempts` attempts ended in `kind`.
fn after(reason: Reason, attempts: u32, kind: Kind, last_status: u16) -> Decision {
    Decision { attempts, last_kind: Some(kind), last_status, ..ended(reason) }
}

fn told(policy: &Policy, decision: Decision) -> String {
    Engine::new(policy).expect("the policy is right").explain(&decision, "payments")
}

#[test]
fn every_reason_has_its_sentence() {
    let later = Some(Instant::from_nanos(13_300_000_001));
    let cases = [
        (after(Reason::Success, 2, Kind::Success, 200), "Succeeded at attempt 2 of 4."),
        (
            Decision { total_wait: 1_500_000_000, ..after(Reason::Success, 2, Kind::Success, 200) },
            "Succeeded at attempt 2 of 4, after 1.5 s of waiting.",
        ),
        (
            after(Reason::Permanent, 1, Kind::Client, 404),
            "Not retried: a repetition would not change the answer. Attempt 1 of 4 got 404 from payments.",
        ),
        (
            after(Reason::Permanent, 1, Kind::Unclassified, 0),
            "Not retried: no rule recognises the error, so nothing says that it will pass. Attempt 1 of 4 got an error that no rule recognises from payments.",
        ),
        (
            after(Reason::UnsafeToRetry, 1, Kind::Network, 0),
            "Not retried: the request may have acted, and must not act twice. Attempt 1 of 4 got a network failure from payments.",
        ),
        (
            after(Reason::AttemptsExhausted, 4, Kind::Timeout, 0),
            "Given up: all attempts were made. Attempt 4 of 4 got no answer in time from payments.",
        ),
        (
            after(Reason::AttemptsExhausted, 2, Kind::Server, 421),
            "Given up: this answer allows no further attempt. Attempt 2 of 4 got 421 from payments.",
        ),
        (
            Decision {
                retry_at: later,
                ..after(Reason::RetryAfterTooLong, 1, Kind::Throttled, 429)
            },
            "Not retried: payments asks for a wait of 12.301 s, and 60 s are allowed. Attempt 1 of 4 got 429 from payments.",
        ),
        (
            after(Reason::RetryAfterTooLong, 1, Kind::Throttled, 0),
            "Not retried: payments asks for a wait, and 60 s are allowed. Attempt 1 of 4 got \"throttled\" from payments.",
        ),
        (
            Decision { retry_at: later, ..after(Reason::DeadlineTooNear, 1, Kind::Server, 503) },
            "Not retried: the next attempt would start in 12.301 s, at or after the deadline. Attempt 1 of 4 got 503 from payments.",
        ),
        (
            Decision { attempts: 1, ..ended(Reason::DeadlineExceeded) },
            "Given up: the deadline passed.",
        ),
        (
            Decision { retry_at: later, ..ended(Reason::CircuitOpen) },
            "Refused: the circuit of payments is open for another 12.301 s. No attempt was made.",
        ),
        (
            Decision { forced: true, ..ended(Reason::CircuitOpen) },
            "Refused: the circuit of payments is forced open. No attempt was made.",
        ),
        (
            ended(Reason::CircuitOpen),
            "Refused: the circuit of payments is open. No attempt was made.",
        ),
        (
            ended(Reason::BulkheadFull),
            "Refused: no permit and no place in the queue is free. No attempt was made.",
        ),
        (ended(Reason::QueueTimeout), "Refused: no permit came free in time. No attempt was made."),
        (ended(Reason::Cancelled), "Cancelled by the caller. No attempt was made."),
    ];
    for (decision, sentence) in cases {
        assert_eq!(told(&Policy::new(), decision), sentence);
    }
}

#[test]
fn an_empty_budget_tells_its_figures() {
    let broke =
        Decision { tokens: Some(400), ..after(Reason::BudgetExhausted, 1, Kind::Server, 503) };
    let policy = Policy::new().cost_server(2.5);
    assert_eq!(
        told(&policy, broke),
        "Not retried: the retry budget holds 0.4 tokens, and a retry costs 2.5 (a success brings 0.1, a second 0.01). Attempt 1 of 4 got 503 from payments."
    );
    // A decision of another client.
    assert_eq!(
        told(&policy.without(Section::Budget), Decision { last_kind: None, tokens: None, ..broke }),
        "Not retried: the retry budget holds 0 tokens, and a retry costs 0."
    );
}

#[test]
fn each_kind_costs_what_its_knob_says() {
    let policy = Policy::new()
        .cost(9.0)
        .cost_network(1.0)
        .cost_timeout(2.0)
        .cost_server(3.0)
        .cost_throttled(4.0);
    for (kind, cost) in
        [(Kind::Network, 1), (Kind::Timeout, 2), (Kind::Server, 3), (Kind::Throttled, 4)]
    {
        let sentence = told(&policy, after(Reason::BudgetExhausted, 1, kind, 0));
        assert!(sentence.contains(&format!("a retry costs {cost} (")), "{sentence}");
    }
}

fn refused(policy: Policy) -> String {
    Engine::new(&policy).expect_err("the policy is wrong").to_string()
}

#[test]
fn a_refused_policy_says_what_stands_there_and_what_may() {
    let second = Duration::from_secs(1);
    for (policy, sentence) in [
        (
            Policy::new().with(Knob::MaxAttempts, Setting::Number(0.0)),
            "retry.maxAttempts: this value is not allowed; allowed: a whole number from 1 to 1000000",
        ),
        (
            Policy::new().cap(Duration::from_millis(50)),
            "retry.capMs: 50 ms is not allowed; allowed: at least retry.baseMs (100 ms)",
        ),
        (
            Policy::new().cap(Duration::from_millis(50)).in_unit(TimeUnit::Seconds),
            "retry.capMs: 0.05 s is not allowed; allowed: at least retry.baseMs (0.1 s)",
        ),
        (
            Policy::new().min_delay(second).jitter(Jitter::Equal),
            "retry.minDelayMs: 1000 ms is not allowed; allowed: 0 unless retry.jitter is \"full\"",
        ),
        (
            Policy::new().rolling_window(Duration::ZERO),
            "breaker.rollingWindowMs: 0 ms is not allowed; allowed: a duration from 0.001 ms to 36525 days",
        ),
        (
            Policy::new().base(Duration::MAX),
            "retry.baseMs: 18446744073709.551615 ms is not allowed; allowed: a duration from 0 ms to 36525 days",
        ),
        (
            Policy::new().slow_call_rate(0.5),
            "breaker.slowCallDurationMs: null is not allowed; allowed: a duration, since breaker.slowCallRate is named",
        ),
        (
            Policy::new().open_cap(second),
            "breaker.openCapMs: 1000 ms is not allowed; allowed: at least breaker.openDurationMs (5000 ms)",
        ),
        (
            Policy::new().capacity(2.5).initial(3.0),
            "budget.initial: 3 is not allowed; allowed: at most budget.capacity (2.5)",
        ),
        (
            Policy::new().with(Knob::Capacity, Setting::Flag(true)),
            "budget.capacity: true is not allowed; allowed: a number from 0 to 1000000 in steps of 0.001 or \"auto\"",
        ),
        (
            Policy::new().with(Knob::Factor, Setting::Flag(false)),
            "retry.factor: false is not allowed; allowed: a number from 1 to 1000 in steps of 0.001",
        ),
        (
            Policy::new().with(Knob::OpenJitter, Setting::Null),
            "breaker.openJitter: null is not allowed; allowed: true or false",
        ),
        (
            Policy::new().with(Knob::Jitter, Setting::UnknownName),
            "retry.jitter: this value is not allowed; allowed: \"none\", \"full\", \"equal\", \"decorrelated\"",
        ),
        (
            Policy::new().with(Knob::MaxCalls, Setting::WrongType),
            "maxCalls: this value is not allowed; allowed: a whole number from 1 to 1048576 or null",
        ),
        (
            Policy::new().with(Knob::AttemptHeader, Setting::UnknownName),
            "propagate.attemptHeader: this value is not allowed; allowed: a header name or null",
        ),
        (
            Policy::new().with(Knob::Name, Setting::Flag(true)),
            "name: true is not allowed; allowed: a text of 1 to 200 characters, none of them a control character",
        ),
    ] {
        assert_eq!(refused(policy), sentence);
    }
}

#[test]
fn a_choice_is_one_of_the_names() {
    let choose = |place| Policy::new().with(Knob::Jitter, Setting::Choice(place)).check();
    assert!(choose(3).is_ok());
    assert_eq!(choose(4).map_err(|error| error.code), Err(ErrorCode::WrongType));
}

#[test]
fn unknown_names_get_a_suggestion_within_reach() {
    let json = |text: &str| Policy::from_json(text).expect_err("the name is wrong").to_string();
    for (document, sentence) in [
        (
            r#"{"retry": {"baseMillis": 1}}"#,
            "retry.baseMillis is not a field of a policy; did you mean retry.baseMs?",
        ),
        (
            r#"{"maxAttempts": 1}"#,
            "maxAttempts is not a field of a policy; did you mean retry.maxAttempts?",
        ),
        (r#"{"retries": {}}"#, "retries is not a field of a policy; did you mean retry?"),
        // Four slips in the field and the section left out: one too many.
        (r#"{"basexxxx": 1}"#, "basexxxx is not a field of a policy; no field has a name like it"),
        (r#"{"BREAKER": {}}"#, "BREAKER is not a field of a policy; did you mean breaker?"),
        (
            r#"{"shouldNotBeSoFarFromAnythingThatIsKnownHere": 1}"#,
            "shouldNotBeSoFarFromAnythingThatIsKnownHere is not a field of a policy; no field has a name like it",
        ),
        (
            r#"{"retry.baseMs": 1}"#,
            "retry.baseMs is not a field of a policy; fields of a section stand inside it, without dots in their names",
        ),
        (
            r#"{"preset": "fast"}"#,
            "preset: \"fast\" is not allowed; allowed: \"default\", \"article\", \"ephemeral\", \"interactive\", \"background\", \"payment\"",
        ),
        (r#"{"a\nb": 1}"#, "a\\u{a}b is not a field of a policy; did you mean name?"),
        (r#"{"retry": 7}"#, "retry: 7 is not allowed; allowed: false or an object"),
        (r#"{"classify": 7}"#, "classify: 7 is not allowed; allowed: an object"),
        (
            r#"{"classify": {"success": 404}}"#,
            "classify.success: 404 is not allowed; allowed: a list of statuses from 100 to 999",
        ),
        (
            r#"{"classify": {"throttled": [99]}}"#,
            "classify.throttled: [99] is not allowed; allowed: statuses from 100 to 999",
        ),
        (
            r#"{"classify": {"transient": [404], "permanent": [404]}}"#,
            "classify.permanent: [404] is not allowed; allowed: each status in one list",
        ),
    ] {
        assert_eq!(json(document), sentence);
    }
}

#[test]
fn statuses_can_be_classed_by_the_builder() {
    let mut policy = Policy::default();
    for status in 100..164 {
        policy = policy.status(status, StatusClass::Transient);
    }
    let engine = Engine::new(&policy).expect("64 statuses are allowed");
    assert_eq!(engine.classify(163, None, engine.default_safety()).kind, Kind::Server);
    let error = policy.status(164, StatusClass::Success).check().expect_err("65 are not");
    assert_eq!(
        error.to_string(),
        "classify: this value is not allowed; allowed: 64 statuses in all lists"
    );
    let error = Policy::new().status(99, StatusClass::Success).check();
    assert_eq!(error.map_err(|error| error.code), Err(ErrorCode::OutOfRange));
}

#[test]
fn a_document_that_is_none_says_so() {
    let bad = |value: &str| PolicyError {
        code: ErrorCode::BadDocument,
        field: String::new(),
        value: Some(value.into()),
        allowed: "why".into(),
    };
    assert_eq!(bad("the policy document").to_string(), "the policy document: why");
    let unreadable = PolicyError { code: ErrorCode::UnreadableFile, ..bad("a.json") };
    assert_eq!(unreadable.to_string(), "a.json: why");
}
