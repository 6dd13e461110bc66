//! Long courses of few policies: what shows only after hundreds of outcomes, openings or calls.

use stormproof::step::{Kind, Outcome};
use stormproof::time::Instant;
use stormproof_model::Value::{Count, Flag, Name, Nanos, Null, Thousandths};
use stormproof_model::history::Phase;
use stormproof_model::{Document, Value};

use crate::agree;
use crate::course::{elapsed, settled, start};
use crate::play::Play;

const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MILLISECOND;

fn server() -> Outcome {
    Outcome::of(Kind::Server).with_status(503)
}

/// One call of a course: how long after the last, how long it takes, and whether it goes well.
struct Turn {
    gap: u64,
    took: u64,
    well: bool,
}

/// Sebastiano Vigna's splitmix64, so that every run plays the same.
struct Dice(u64);

impl Dice {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Once in `times`.
    fn is_one_in(&mut self, times: u64) -> bool {
        self.word().is_multiple_of(times)
    }
}

/// A disagreement, without the thousands of lines that led to it.
fn must(result: Result<(), String>) {
    result.unwrap_or_else(|difference| {
        let lines: Vec<&str> = difference.lines().collect();
        let told = lines.len().min(12);
        panic!("{}\n... {} lines", lines[..told].join("\n"), lines.len());
    });
}

/// Plays call after call under one rule of the breaker, past every open time; tells how often the
/// circuit opened.
fn calls(rule: &[(&'static str, Value)], calls: u64, turn: fn(u64, &mut Dice) -> Turn) -> usize {
    let open = [("breaker.openDurationMs", Nanos(SECOND)), ("breaker.openJitter", Flag(false))];
    let off = vec!["retry", "budget", "bulkhead"];
    let fields = open.into_iter().chain(rule.iter().copied()).collect();
    let mut play = Play::new(Document { off, fields, ..Document::default() }, false);
    let (mut dice, mut now) = (Dice(1), 0);
    for call in 0..calls {
        let Turn { gap, took, well } = turn(call, &mut dice);
        now += gap;
        if let Some(until) = play.model.breaker.eras.last().and_then(|era| era.until()) {
            now = now.max(play.model.clock.host(until).as_nanos());
        }
        must(play.line((now, start(), 0)));
        if play.model.calls.last().is_some_and(|call| matches!(call.phase, Phase::Attempt(_))) {
            now += took;
            let outcome = if well { Outcome::SUCCESS } else { server() };
            must(play.line((now, settled(play.model.ids, outcome), dice.word())));
        }
    }
    must(play.close());
    play.model.breaker.eras.iter().filter(|era| era.until().is_some()).count()
}

fn turn(gap: u64, well: bool) -> Turn {
    Turn { gap, took: 0, well }
}

#[test]
fn long_runs_and_none_well() {
    let run = [("breaker.consecutiveFailures", Count(100))];
    assert!(calls(&run, 1_500, |_, dice| turn(MILLISECOND, dice.is_one_in(120))) > 2);

    let none = [("breaker.noSuccessFailures", Count(100))];
    let opened = calls(&none, 1_500, |call, dice| {
        // A success within each window, then none at all.
        turn(20 * MILLISECOND, call < 900 && (call == 0 || dice.is_one_in(400)))
    });
    assert!(opened > 0);
}

#[test]
fn long_rates() {
    for rate in [800, 801] {
        let rate = [
            ("breaker.failureRate", Thousandths(rate)),
            ("breaker.minimumCalls", Count(500)),
            ("breaker.rollingWindowMs", Nanos(10 * SECOND)),
        ];
        // 239 well, then none: the rate is approached a thousandth at a time.
        assert!(calls(&rate, 1_300, |call, _| turn(MILLISECOND, call < 239)) > 0);
        // Around the rate, in windows that move.
        assert!(calls(&rate, 1_500, |_, dice| turn(9 * MILLISECOND, dice.is_one_in(5))) > 0);
    }

    let slow = [
        ("breaker.slowCallRate", Thousandths(250)),
        ("breaker.slowCallDurationMs", Nanos(5 * MILLISECOND)),
        ("breaker.minimumCalls", Count(200)),
    ];
    let opened = calls(&slow, 1_500, |call, dice| {
        let often = if call % 500 < 300 { 8 } else { 2 };
        let took = if dice.is_one_in(often) { 5 } else { 4 } * MILLISECOND;
        Turn { gap: MILLISECOND, took, well: true }
    });
    assert!(opened > 0);
}

#[test]
fn long_outages() {
    let growth = [
        ("breaker.consecutiveFailures", Count(1)),
        ("breaker.openGrowth", Thousandths(1_100)),
        ("breaker.openCapMs", Nanos(365 * 86_400 * SECOND)),
        ("breaker.successThreshold", Count(1)),
    ];
    assert!(calls(&growth, 1_000, |_, dice| turn(0, dice.is_one_in(100))) > 500);
}

/// A crowd of calls in ten seconds, whose budget ends at its 1,000 tokens; then some fail.
#[test]
fn long_crowds() {
    let fields = vec![
        ("budget.capacity", Name("auto")),
        ("budget.refillPerSecond", Thousandths(1_000_000)),
        ("budget.cost", Thousandths(300_000)),
        ("retry.jitter", Name("none")),
        ("attemptTimeoutMs", Null),
        ("overallTimeoutMs", Null),
    ];
    let off = vec!["breaker", "bulkhead"];
    let mut play = Play::new(Document { off, fields, ..Document::default() }, false);
    for call in 0..5_500 {
        must(play.line((call * 1_800_000, start(), 0)));
        if call % 1_100 == 0 {
            must(play.snapshots(Instant::from_nanos(call * 1_800_000)));
        }
    }
    let end = 9_950 * MILLISECOND;
    for id in 1..=5 {
        must(play.line((end, settled(id, server()), 0)));
    }
    // Not closed: the laws of a whole course count everything anew for each call.
    must(play.snapshots(Instant::from_nanos(end)));
}

/// C2: a 503 between two 421 does not bring back their one retry.
#[test]
fn one_retry_of_421_is_not_forgotten() {
    let fields = vec![("retry.maxAttempts", Count(8)), ("retry.jitter", Name("none"))];
    let off = vec!["breaker", "budget", "bulkhead"];
    let misdirected = Outcome::of(Kind::Server).with_status(421);
    agree(
        &Document { off, fields, ..Document::default() },
        &[
            (0, start(), 0),
            (0, settled(1, misdirected), 0),
            (100 * MILLISECOND, elapsed(2), 0),
            (100 * MILLISECOND, settled(3, server()), 0),
            (300 * MILLISECOND, elapsed(4), 0),
            (300 * MILLISECOND, settled(5, misdirected), 0),
        ],
    );
}

/// B2: a draw at a circuit that refuses is the delay before the next.
#[test]
fn a_redraw_goes_on_from_the_last() {
    let fields = vec![
        ("retry.maxAttempts", Count(9)),
        ("retry.jitter", Name("decorrelated")),
        ("retry.capMs", Nanos(5 * SECOND)),
        ("retry.waitForCircuit", Flag(true)),
        ("breaker.failureThreshold", Count(1)),
        ("breaker.openDurationMs", Nanos(SECOND)),
        ("breaker.openJitter", Flag(false)),
        ("breaker.successThreshold", Count(1)),
        ("attemptTimeoutMs", Null),
        ("overallTimeoutMs", Null),
    ];
    let off = vec!["budget", "bulkhead"];
    let at = |millis: u64| millis * MILLISECOND;
    agree(
        &Document { off, fields, ..Document::default() },
        &[
            (at(0), start(), 0),
            (at(0), settled(1, server()), 0),
            (at(1_050), start(), 0),
            (at(1_060), settled(3, server()), 0),
            (at(1_100), elapsed(2), u64::MAX),
            (at(2_160), elapsed(4), 0),
            (at(2_170), settled(6, Outcome::SUCCESS), 0),
            (at(2_360), elapsed(5), 0),
            (at(2_360), settled(7, server()), u64::MAX),
        ],
    );
}
