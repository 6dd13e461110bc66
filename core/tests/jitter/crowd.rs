//! A thousand clients that a dependency has told the same do not return together (B4).

use std::time::Duration;

use stormproof::retry_after::Combine;
use stormproof::step::Kind;
use stormproof::time::Instant;
use stormproof::{Action, Engine, Event, Outcome, Policy};

use super::fit::{place, uniform};
use super::report::Report;
use super::{Words, patient};

const CLIENTS: u64 = 1_000;
const ASKED: u64 = 30_000_000_000;
/// A quarter of what was asked.
const SPREAD: u64 = ASKED / 4;
/// Buckets of 100 ms in the spread.
const BUCKETS: u64 = SPREAD / 100_000_000;

pub fn check(report: &mut Report) {
    let spread = patient();
    let returns = returns(&spread, ASKED, None, CLIENTS);
    let peak = report.has_no_peak("1,000 clients told 30 s", &buckets(&returns));
    let together = self::returns(&spread.combine(Combine::Max), ASKED, None, CLIENTS);
    assert!(together.iter().all(|wait| *wait == ASKED), "`max` has no spread");
    report.remark(format!(
        "{CLIENTS} clients told 30 s: at most {peak} in 100 ms ({CLIENTS} with \"max\")"
    ));
    follow_the_law_of_the_spread(report);
}

/// What was asked, until when the call may last, and what is added at most (nanoseconds).
const SPREADS: [(u64, Option<u64>, u64); 5] = [
    (ASKED, None, SPREAD),
    (2_000_000_000, None, 1_000_000_000),
    (300_000_000, None, 300_000_000),
    // The interval is cut before the deadline, not the value drawn from it.
    (ASKED, Some(33_000_000_000), 3_000_000_000 - 1),
    (ASKED, Some(30_000_000_011), 10),
];

fn follow_the_law_of_the_spread(report: &mut Report) {
    for (asked, deadline, widest) in SPREADS {
        let mut returns = returns(&patient(), asked, deadline, report.samples as u64);
        let earliest = returns.iter().copied().min().expect("a client");
        assert!(earliest >= asked, "never earlier than asked");
        let name = format!("spread of {asked} ns, deadline {deadline:?}");
        report.follows(name, &mut returns, uniform(asked, asked + widest));
    }
}

/// When each client comes back that was told at 0 to wait for `asked`.
fn returns(policy: &Policy, asked: u64, deadline: Option<u64>, clients: u64) -> Vec<u64> {
    let engine = Engine::new(policy).expect("the figures are right");
    (0..clients)
        .map(|client| returns_at(&engine, asked, deadline, Words::of_client(client).next()))
        .collect()
}

fn returns_at(engine: &Engine, asked: u64, deadline: Option<u64>, word: u64) -> u64 {
    let mut engine = engine.clone();
    let deadline = deadline.map(Instant::from_nanos);
    let request = stormproof::Request { deadline, ..Default::default() };
    let call = engine.start(Instant::ORIGIN, request).call;
    let told = Outcome::of(Kind::Throttled).with_status(429);
    let told = told.with_retry_after_ms(asked / 1_000_000);
    let step = engine.on_event(Instant::ORIGIN, call, Event::Settled(told), word);
    let Action::Wait { until: Some(until), .. } = step.action else { panic!("{step:?}") };
    until.as_nanos()
}

fn buckets(returns: &[u64]) -> Vec<u64> {
    let mut counts = vec![0; BUCKETS as usize];
    for wait in returns {
        let bucket = place(*wait, ASKED, ASKED + SPREAD) * BUCKETS as f64;
        counts[bucket as usize] += 1;
    }
    counts
}

#[test]
fn the_least_and_the_greatest_word_draw_the_ends() {
    let engine = Engine::new(&patient()).expect("the figures are right");
    for (asked, deadline, widest) in SPREADS {
        assert_eq!(returns_at(&engine, asked, deadline, 0), asked);
        assert_eq!(returns_at(&engine, asked, deadline, u64::MAX), asked + widest);
    }
}

/// Where nothing was asked or no time is left there is nothing to spread.
#[test]
fn no_room_is_no_spread() {
    let engine = Engine::new(&patient().base(Duration::ZERO)).expect("the figures are right");
    assert_eq!(returns_at(&engine, 0, None, u64::MAX), 0);
    assert_eq!(returns_at(&engine, ASKED, Some(ASKED + 1), u64::MAX), ASKED);
}
