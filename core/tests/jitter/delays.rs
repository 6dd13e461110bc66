//! `none`, `full` (with and without `min_delay`) and `equal` (B1, B2).

use std::time::Duration;

use stormproof::{Backoff, Jitter, Policy};

use super::fit::{Cells, place, uniform};
use super::report::Report;
use super::{BASE, CAP, Words, backoff, nanos};

/// The last two have the cap for their ceiling.
const RETRIES: u32 = 10;
const MIN_DELAY: u64 = 300_000_000;

/// The interval of a retry whose ceiling is given.
type Interval = fn(u64) -> (u64, u64);

pub fn check(report: &mut Report) {
    let floored = Policy::new()
        .base(Duration::from_nanos(BASE))
        .cap(Duration::from_nanos(CAP))
        .min_delay(Duration::from_nanos(MIN_DELAY))
        .backoff()
        .expect("the figures are right");
    for (name, backoff, interval) in strategies(floored) {
        follows_its_interval(report, name, &backoff, interval);
    }
    both_ends_are_as_likely_as_the_rest(report);
}

fn strategies(floored: Backoff) -> [(&'static str, Backoff, Interval); 4] {
    [
        ("none", backoff(Jitter::None), |ceiling| (ceiling, ceiling)),
        ("full", backoff(Jitter::Full), |ceiling| (0, ceiling)),
        ("full with min_delay", floored, |ceiling| (MIN_DELAY.min(ceiling), ceiling)),
        ("equal", backoff(Jitter::Equal), |ceiling| (ceiling - ceiling / 2, ceiling)),
    ]
}

fn follows_its_interval(report: &mut Report, name: &str, fresh: &Backoff, interval: Interval) {
    let mut words = Words::of_client(1);
    let mut clients = vec![fresh.clone(); report.samples];
    let mut all = Cells::new(1_000);
    let mut at_cap = 0;
    for retry in 1..=RETRIES {
        let ceiling = CAP.min(BASE << (retry - 1));
        let (low, high) = interval(ceiling);
        let mut waits: Vec<u64> =
            clients.iter_mut().map(|client| nanos(client.on_retry(words.next()))).collect();
        if low < high {
            waits.iter().for_each(|wait| all.add(place(*wait, low, high)));
            at_cap += waits.iter().filter(|wait| **wait == CAP).count();
        }
        report.follows(format!("{name}, retry {retry}"), &mut waits, uniform(low, high));
    }
    if name != "none" {
        report.is_even(format!("{name}, all retries"), all.counts());
    }
    // The law puts one wait in 10^10 on the cap: two among these come once in 10^8.
    assert!(at_cap <= 1, "{name}: {at_cap} waits lie on the cap");
}

/// Nanoseconds can be counted one by one: an end that is left out or doubled shows.
fn both_ends_are_as_likely_as_the_rest(report: &mut Report) {
    let tiny = |jitter| Policy::new().base(Duration::from_nanos(10)).jitter(jitter).backoff();
    for (jitter, low, high) in
        [(Jitter::Full, 0, 10), (Jitter::Equal, 5, 10), (Jitter::Decorrelated, 10, 30)]
    {
        let fresh = tiny(jitter).expect("the figures are right");
        let mut words = Words::of_client(2);
        let mut counts = vec![0; (high - low + 1) as usize];
        for _ in 0..report.samples {
            let wait = nanos(fresh.clone().on_retry(words.next()));
            counts[(wait - low) as usize] += 1;
        }
        report.is_even(format!("{jitter} over {low}..={high} ns"), &counts);
    }
}

#[test]
fn the_least_and_the_greatest_word_draw_the_ends() {
    let floored = Policy::new().min_delay(Duration::from_nanos(MIN_DELAY)).backoff();
    for (name, fresh, interval) in strategies(floored.expect("the figures are right")) {
        let (mut least, mut greatest) = (fresh.clone(), fresh);
        for retry in 1..=RETRIES {
            let ends = (nanos(least.on_retry(0)), nanos(greatest.on_retry(u64::MAX)));
            assert_eq!(ends, interval(CAP.min(BASE << (retry - 1))), "{name}, retry {retry}");
        }
    }
}
