//! Laws that hold under random courses of events: interleaved calls, late results, cancels, drops,
//! clock steps by years, garbage instants, random policies.

use std::collections::HashMap;
use std::time::Duration;

use stormproof::backoff::Jitter;
use stormproof::breaker::Scope;
use stormproof::bulkhead::Release;
use stormproof::policy::Section;
use stormproof::step::{Circuit, Kind, Phase, Safety};
use stormproof::time::Instant;
use stormproof::{
    Action, CallId, Control, Engine, Event, Outcome, Policy, Preset, Reason, Request, Step,
};

const SEEDS: u64 = if cfg!(miri) { 2 } else { 400 };
const STEPS: u64 = if cfg!(miri) { 200 } else { 500 };

/// SplitMix64: small, and good enough to be surprised by.
struct Dice(u64);

impl Dice {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.word() % bound
    }

    fn one_in(&mut self, bound: u64) -> bool {
        self.below(bound) == 0
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    fn millis(&mut self, bound: u64) -> Duration {
        Duration::from_millis(1 + self.below(bound))
    }
}

/// How many attempts may run at once, and how many a call may make.
#[derive(Clone, Copy)]
struct Limits {
    running: u32,
    attempts: u32,
}

fn policy(dice: &mut Dice) -> (Policy, Limits) {
    let mut limits = Limits { running: 1 + dice.below(4) as u32, attempts: 0 };
    let jitter = dice.of(Jitter::ALL);
    limits.attempts = 1 + dice.below(6) as u32;
    let base = dice.millis(200);
    let mut policy = Policy::new()
        .preset(dice.of(Preset::ALL))
        .max_attempts(limits.attempts)
        .base(base)
        .cap(base * (1 + dice.below(20) as u32))
        .jitter(jitter)
        .wait_for_circuit(dice.one_in(2))
        .failure_threshold(1 + dice.below(6) as u32)
        .open_duration(dice.millis(2_000))
        .open_growth(dice.of(&[1.0, 1.5, 3.0]))
        .probes(1 + dice.below(3) as u32)
        .success_threshold(1 + dice.below(3) as u32)
        .scope(dice.of(Scope::ALL))
        .capacity(1.0 + dice.below(20) as f64)
        .max_concurrent(limits.running)
        .max_queue(dice.below(5) as u32)
        .max_calls(dice.of(&[None, None, Some(1), Some(4)]))
        .queue_timeout(dice.of(&[None, Some(Duration::from_millis(300))]))
        .release(dice.of(Release::ALL))
        .abandoned_lease(dice.millis(3_000))
        .attempt_timeout(dice.of(&[None, Some(Duration::from_millis(150))]))
        .overall_timeout(dice.of(&[None, Some(Duration::from_millis(2_500))]));
    if dice.one_in(4) {
        policy = policy.slow_call_rate(0.5).slow_call_duration(Duration::from_millis(100));
    }
    for section in Section::ALL {
        if dice.one_in(8) && *section != Section::Bulkhead {
            policy = policy.without(*section);
            if *section == Section::Retry {
                limits.attempts = 1;
            }
        }
    }
    (policy, limits)
}

/// The host's own books, kept beside the engine's.
#[derive(Default)]
struct Books {
    max_attempts: u32,
    /// The newest step of each call under way.
    open: HashMap<CallId, Step>,
    /// Ids that named something once.
    stale: Vec<CallId>,
    /// Operations that were cut and have not ended.
    cut: Vec<CallId>,
    started: u64,
    finished: u64,
}

impl Books {
    fn on_step(&mut self, now: Instant, step: Step) {
        let before = self.open.remove(&step.previous);
        match step.action {
            Action::Stale { .. } => {
                if let Some(before) = before {
                    self.open.insert(step.previous, before);
                }
                return;
            }
            Action::Finish(decision) => {
                self.finished += 1;
                assert!(decision.reason != Reason::Success || decision.attempts > 0);
            }
            Action::Attempt { number, .. } => {
                let most = self.max_attempts;
                assert!((1..=most).contains(&number), "attempt {number} of {most}");
            }
            Action::Wait { until, .. } => assert!(until.is_none_or(|until| until >= now)),
            Action::Queue { .. } => {}
        }
        if !matches!(step.action, Action::Finish(_)) {
            self.open.insert(step.call, step);
        }
        if step.call != step.previous {
            self.stale.push(step.previous);
        }
    }
}

#[test]
fn random_courses_keep_the_laws() {
    for seed in 0..SEEDS {
        let mut dice = Dice(seed);
        let (policy, limits) = policy(&mut dice);
        let mut engine = Engine::new(&policy).unwrap_or_else(|error| panic!("{seed}: {error}"));
        let mut books = Books { max_attempts: limits.attempts, ..Books::default() };
        let mut now = dice.of(&[0, 1_000, 1 << 50]);
        for number in 0..STEPS {
            now = next_reading(&mut dice, now);
            play(&mut dice, &mut engine, &mut books, Instant::from_nanos(now));
            let snapshot = engine.snapshot(Instant::from_nanos(now));
            let context = format!("seed {seed}, step {number}: {snapshot:?}");
            assert!(snapshot.running <= limits.running, "running ≤ max; {context}");
            let counters = &snapshot.counters;
            let ended = counters.successes + counters.failures.iter().sum::<u64>();
            assert!(ended <= counters.attempts, "{context}");
            assert_eq!(books.started, books.finished + books.open.len() as u64, "{context}");
        }
        settle_down(&mut engine, &mut books, now, seed);
    }
}

fn next_reading(dice: &mut Dice, now: u64) -> u64 {
    const MILLISECOND: u64 = 1_000_000;
    match dice.below(200) {
        0 => now.saturating_sub(dice.below(3_600_000) * MILLISECOND),
        1 => now.saturating_add(dice.below(10) * 31_536_000_000 * MILLISECOND),
        2 => u64::MAX,
        3 => 0,
        4..20 => now,
        _ => now.saturating_add(dice.below(120) * MILLISECOND),
    }
}

fn play(dice: &mut Dice, engine: &mut Engine, books: &mut Books, now: Instant) {
    let word = dice.word();
    let known: Vec<_> = books.open.values().copied().collect();
    match dice.below(20) {
        0..6 => {
            let request = Request {
                safety: dice.of(Safety::ALL),
                deadline: dice.one_in(4).then(|| now.saturating_add(dice.millis(900))),
                cancelled: dice.one_in(20),
            };
            books.started += 1;
            let step = engine.start(now, request);
            books.on_step(now, step);
        }
        6..8 => {
            while let Some(step) = engine.poll_ready(now, word) {
                books.on_step(now, step);
            }
        }
        8 if !books.stale.is_empty() => {
            let id = dice.of(&books.stale);
            let step = engine.on_event(now, id, event(dice), word);
            assert!(matches!(step.action, Action::Stale { .. }) || books.cut.contains(&id));
        }
        9 => {
            let id = CallId::from_bits(dice.word() >> dice.below(64));
            if !books.open.contains_key(&id) && !books.cut.contains(&id) {
                let step = engine.on_event(now, id, event(dice), word);
                assert!(matches!(step.action, Action::Stale { .. }));
            }
        }
        10 if dice.one_in(10) => {
            let step = engine.control(now, dice.of(Control::ALL));
            books.on_step(now, step);
        }
        11 if !books.cut.is_empty() => {
            let id = books.cut.swap_remove(dice.below(books.cut.len() as u64) as usize);
            let step = engine.on_event(now, id, Event::Settled(outcome(dice)), word);
            assert!(matches!(step.action, Action::Stale { .. }));
        }
        _ if !known.is_empty() => {
            let step = dice.of(&known);
            let attempts = matches!(step.action, Action::Attempt { .. });
            let event = event(dice);
            let next = engine.on_event(now, step.call, event, word);
            let left = attempts && !matches!(event, Event::Settled(_)) && next.call != step.call
                || attempts && event == Event::Cancelled
                || attempts && event == Event::Elapsed && matches!(next.action, Action::Finish(_));
            if left {
                books.cut.push(step.call);
            }
            // An early timer answers with the same id: the call stands where it stood.
            if next.call == step.call && !matches!(next.action, Action::Finish(_)) {
                return;
            }
            books.on_step(now, next);
        }
        _ => {}
    }
}

fn event(dice: &mut Dice) -> Event {
    match dice.below(8) {
        0 => Event::Cancelled,
        1..5 => Event::Elapsed,
        _ => Event::Settled(outcome(dice)),
    }
}

fn outcome(dice: &mut Dice) -> Outcome {
    Outcome {
        kind: dice.of(Kind::ALL),
        status: dice.of(&[0, 200, 404, 409, 421, 425, 429, 503]),
        phase: dice.of(Phase::ALL),
        retry_after_ms: dice.of(&[None, Some(0), Some(20), Some(1_000), Some(u64::MAX)]),
    }
}

/// With time and healthy answers every call ends and nothing is held.
fn settle_down(engine: &mut Engine, books: &mut Books, mut now: u64, seed: u64) {
    engine.control(Instant::from_nanos(now), Control::ForceClosed);
    for _ in 0..10_000 {
        now = now.wrapping_add(500_000_000);
        let at = Instant::from_nanos(now);
        while let Some(step) = engine.poll_ready(at, 0) {
            books.on_step(at, step);
        }
        for step in books.open.values().copied().collect::<Vec<_>>() {
            let event = match step.action {
                Action::Attempt { .. } => Event::Settled(Outcome::SUCCESS),
                _ => Event::Elapsed,
            };
            let next = engine.on_event(at, step.call, event, 0);
            if next.call != step.call || matches!(next.action, Action::Finish(_)) {
                books.on_step(at, next);
            }
        }
        if books.open.is_empty() {
            break;
        }
    }
    let end = Instant::from_nanos(now);
    for id in std::mem::take(&mut books.cut) {
        engine.on_event(end, id, Event::Settled(Outcome::SUCCESS), 0);
    }
    let snapshot = engine.snapshot(end);
    assert_eq!(books.started, books.finished, "seed {seed}");
    assert_eq!((snapshot.running, snapshot.queued, snapshot.abandoned), (0, 0, 0), "seed {seed}");
}

#[test]
fn healthy_answers_close_any_circuit() {
    for seed in 0..SEEDS {
        let mut dice = Dice(seed ^ 0xc105_ed00);
        let (policy, limits) = policy(&mut dice);
        let mut engine = Engine::new(&policy).expect("a policy of the dice is right");
        let mut books = Books { max_attempts: limits.attempts, ..Books::default() };
        let mut now = 0;
        for _ in 0..200 {
            now = next_reading(&mut dice, now);
            play(&mut dice, &mut engine, &mut books, Instant::from_nanos(now));
        }
        let forced = |circuit| matches!(circuit, Circuit::ForcedOpen | Circuit::ForcedClosed);
        if forced(engine.snapshot(Instant::from_nanos(now)).circuit) {
            continue;
        }
        // What is under way is given up, so that permits and probe slots are free.
        for step in books.open.values() {
            engine.on_event(Instant::from_nanos(now), step.call, Event::Cancelled, 0);
        }
        for _ in 0..2_000 {
            now = now.wrapping_add(1_000_000_000);
            let at = Instant::from_nanos(now);
            let mut next = Some(engine.start(at, Request::default()));
            while let Some(step) = next {
                if let Action::Attempt { .. } = step.action {
                    engine.on_event(at, step.call, Event::Settled(Outcome::SUCCESS), 0);
                }
                next = engine.poll_ready(at, 0);
            }
        }
        let circuit = engine.snapshot(Instant::from_nanos(now)).circuit;
        assert_eq!(circuit, Circuit::Closed, "seed {seed}");
    }
}

/// E2: the circuit refused when the poll was due and let go when it came, and no permit was free.
#[test]
fn a_poll_that_comes_late_is_told_when_to_come_again() {
    let policy = Policy::new()
        .max_attempts(1)
        .max_concurrent(1)
        .failure_threshold(1)
        .open_duration(Duration::from_millis(10))
        .open_jitter(false)
        .attempt_timeout(Duration::from_millis(1))
        .overall_timeout(None)
        .abandoned_lease(Duration::from_secs(1));
    let mut engine = Engine::new(&policy).expect("the policy is right");
    let at = Instant::from_millis;
    let first = engine.start(at(0), Request::default());
    let second = engine.start(at(0), Request::default());
    assert!(matches!(second.action, Action::Queue { .. }));
    let cut = engine.on_event(at(1), first.call, Event::Elapsed, 0);
    assert_eq!(cut.poll_at, Some(at(1)), "the circuit refuses the waiter");
    assert_eq!(
        engine.poll_ready(at(12), 0),
        None,
        "the circuit would let it go, the permit is out"
    );
    assert_eq!(engine.poll_at(at(12)), Some(at(1_001)), "the lease of the permit ends");
    let step = engine.poll_ready(at(1_001), 0).expect("the permit has come back");
    assert_eq!(step.previous, second.call);
    assert_eq!(engine.poll_at(at(1_001)), None);
}
