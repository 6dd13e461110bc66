//! Every random wait follows the law that `docs/semantics.md` states for it (B2, B4, K2), and no two
//! of them know of each other.
//!
//! The words are those of xoshiro256++ with fixed seeds. Each statistic is held against a value that
//! a right core passes with another seed as well, but for once in a million (`fit.rs` says how it is
//! computed and what it cannot see). `STORMPROOF_JITTER_SAMPLES` sets how many waits each law is
//! judged by. Prints one line with the figures.

#[path = "jitter/circuit.rs"]
mod circuit;
#[path = "jitter/crowd.rs"]
mod crowd;
#[path = "jitter/decorrelated.rs"]
mod decorrelated;
#[path = "jitter/delays.rs"]
mod delays;
#[path = "jitter/fit.rs"]
mod fit;
#[path = "jitter/independence.rs"]
mod independence;
#[path = "jitter/report.rs"]
mod report;

use std::time::Duration;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};
use stormproof::policy::Section;
use stormproof::{Backoff, Jitter, Policy};

/// Nanoseconds.
const BASE: u64 = 100_000_000;
const CAP: u64 = 20_000_000_000;

#[test]
#[cfg_attr(miri, ignore = "sums over many waits, and nothing but arithmetic")]
fn waits_follow_their_laws() {
    let mut report = report::Report::new(samples());
    delays::check(&mut report);
    decorrelated::check(&mut report);
    circuit::check(&mut report);
    independence::check(&mut report);
    crowd::check(&mut report);
    println!("{}", report.line());
    report.close();
}

fn samples() -> usize {
    match std::env::var("STORMPROOF_JITTER_SAMPLES") {
        Ok(text) => text.parse().expect("STORMPROOF_JITTER_SAMPLES is a whole number"),
        Err(_) => 1 << 17,
    }
}

/// The random words of one client.
struct Words(Xoshiro256PlusPlus);

impl Words {
    fn of_client(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    fn next(&mut self) -> u64 {
        self.0.next_u64()
    }
}

/// A policy that lets a call wait as long as it likes.
fn patient() -> Policy {
    Policy::new().without(Section::Budget).attempt_timeout(None).overall_timeout(None)
}

fn backoff(jitter: Jitter) -> Backoff {
    let policy = Policy::new().base(Duration::from_nanos(BASE)).cap(Duration::from_nanos(CAP));
    policy.jitter(jitter).backoff().expect("the figures are right")
}

fn nanos(span: Duration) -> u64 {
    span.as_nanos().try_into().expect("a wait fits in 584 years")
}
