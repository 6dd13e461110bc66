//! The open time: d + uniform[0, d/2], drawn from the word whose halves are swapped, so that it knows
//! nothing of the delay drawn from the same word (E1, K2).

use std::time::Duration;

use stormproof::step::Kind;
use stormproof::time::Instant;
use stormproof::{Action, Engine, Event, Outcome};

use super::fit::{Squares, chi_square, critical_chi_square, place, uniform};
use super::report::Report;
use super::{BASE, Words, patient};

const OPEN: u64 = 5_000_000_000;

pub fn check(report: &mut Report) {
    let (mut words, engine) = (Words::of_client(5), engine());
    let mut opens = Vec::with_capacity(report.samples);
    let (mut pairs, mut same) = (Squares::new(), Squares::new());
    for _ in 0..report.samples {
        let word = words.next();
        let (open, own) = open_and_own(&engine, None, word);
        pairs.add(place(open, OPEN, OPEN + OPEN / 2), place(own, 0, BASE));
        let unswapped = stormproof::jitter::uniform(word, 0, OPEN / 2);
        same.add(place(unswapped, 0, OPEN / 2), place(own, 0, BASE));
        opens.push(open);
    }
    report.follows("open time", &mut opens, uniform(OPEN, OPEN + OPEN / 2));
    report.is_even("open time and the delay of the same word", pairs.counts());
    let unswapped = chi_square(same.counts()) / critical_chi_square(same.counts().len());
    assert!(unswapped > 1.0, "one word drawn twice without swapping is found");

    let asked = 7_000;
    let mut opens: Vec<u64> =
        (0..report.samples).map(|_| open_and_own(&engine, Some(asked), words.next()).0).collect();
    let low = asked * 1_000_000;
    report.follows("open time asked for", &mut opens, uniform(low, low + OPEN / 2));
}

/// A circuit that the first failure opens, and a retry that waits for it.
fn engine() -> Engine {
    let policy = patient()
        .base(Duration::from_nanos(BASE))
        .failure_threshold(1)
        .open_duration(Duration::from_nanos(OPEN))
        .wait_for_circuit(true);
    Engine::new(&policy).expect("the figures are right")
}

/// The open time of the first failure and the retry's own delay after it, both from `word`.
fn open_and_own(engine: &Engine, retry_after_ms: Option<u64>, word: u64) -> (u64, u64) {
    let mut engine = engine.clone();
    let call = engine.start(Instant::ORIGIN, Default::default()).call;
    let failure = Outcome { retry_after_ms, ..Outcome::of(Kind::Server).with_status(503) };
    let step = engine.on_event(Instant::ORIGIN, call, Event::Settled(failure), word);
    let Action::Wait { until: Some(wake), .. } = step.action else { panic!("{step:?}") };
    let open = engine.snapshot(Instant::ORIGIN).open_until.expect("the circuit is open");
    (open.as_nanos(), wake.as_nanos() - open.as_nanos())
}

#[test]
fn the_least_and_the_greatest_word_draw_the_ends() {
    let engine = engine();
    assert_eq!(open_and_own(&engine, None, 0), (OPEN, 0));
    assert_eq!(open_and_own(&engine, None, u64::MAX), (OPEN + OPEN / 2, BASE));
    let low_half = open_and_own(&engine, None, u64::from(u32::MAX));
    assert_eq!(low_half.1, 0, "the delay takes the upper half");
    assert_eq!(low_half.0, OPEN + OPEN / 2, "the open time takes the lower half");
}
