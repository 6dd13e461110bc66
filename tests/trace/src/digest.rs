//! The digest of all answers: a chain of SHA-256 over blocks of steps.

use alloc::vec::Vec;

use sha2::{Digest as _, Sha256};
use stormproof::step::Kind;
use stormproof::time::Instant;
use stormproof::{Action, Decision, Snapshot, Step};

use crate::BLOCK;
use crate::input::Answer;

/// In place of a number that is not there.
const NONE: u64 = 1 << 63;
/// Instants below this are exact as milliseconds in a double, as JavaScript has them.
const EXACT: u64 = 1 << 51;

/// Words begin with what they tell of: an action by its number, or one of these.
const NOTHING: u64 = 5;
const SNAPSHOT: u64 = 6;
const TEXT: u64 = 7;

/// What has been answered so far.
pub struct Digest {
    open: Sha256,
    steps: u64,
    blocks: Vec<[u8; 32]>,
}

impl Default for Digest {
    fn default() -> Self {
        Self { open: begin(&[0; 32]), steps: 0, blocks: Vec::new() }
    }
}

impl Digest {
    /// How many steps are in it.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The digest after each block, its first eight bytes as one number.
    pub fn blocks(&self) -> impl Iterator<Item = u64> {
        self.blocks.iter().map(|block| {
            let (head, _) = block.split_first_chunk().expect("a digest has 32 bytes");
            u64::from_be_bytes(*head)
        })
    }

    /// The digest of all blocks that are full.
    pub fn hash(&self) -> u64 {
        self.blocks().last().unwrap_or_default()
    }

    /// Adds an answer. Only steps are counted.
    pub fn add(&mut self, answer: &Answer) {
        match answer {
            Answer::Step(None) => self.words(&[NOTHING]),
            Answer::Step(Some(step)) => self.step(step),
            Answer::Snapshot(snapshot) => self.snapshot(snapshot),
            Answer::Text(text) => self.text(text),
        }
    }

    fn step(&mut self, step: &Step) {
        let (action, until, detail, planned) = match step.action {
            Action::Attempt { until, number } => (0, until, u64::from(number), 0),
            Action::Wait { until, why, planned } => {
                (1, until, u64::from(why.code()), planned.as_nanos() as u64)
            }
            Action::Queue { until } => (2, until, 0, 0),
            Action::Finish(_) => (3, None, 0, 0),
            Action::Stale { late } => (4, None, u64::from(late), 0),
        };
        let change = step.circuit.map_or(0, |change| {
            let codes = [1, change.from.code(), change.to.code(), change.cause.code()];
            u64::from(u32::from_be_bytes(codes))
        });
        let (call, previous) = (step.call.to_bits(), step.previous.to_bits());
        let (poll_at, until) = (instant(step.poll_at), instant(until));
        self.words(&[action, call, previous, poll_at, until, detail, exact(planned), change]);
        if let Action::Finish(decision) = &step.action {
            self.decision(decision);
        }
        self.steps += 1;
        if self.steps.is_multiple_of(BLOCK) {
            self.close_block();
        }
    }

    fn decision(&mut self, decision: &Decision) {
        self.words(&[
            u64::from(decision.reason.code()),
            u64::from(decision.attempts),
            decision.last_kind.map_or(NONE, |kind| u64::from(kind.code())),
            u64::from(decision.last_status),
            instant(Some(decision.at)),
            instant(decision.retry_at),
            u64::from(decision.forced),
            exact(decision.total_wait),
            decision.tokens.unwrap_or(NONE),
        ]);
    }

    fn snapshot(&mut self, snapshot: &Snapshot) {
        let counters = &snapshot.counters;
        self.words(&[
            SNAPSHOT,
            u64::from(snapshot.circuit.code()),
            instant(snapshot.open_until),
            snapshot.tokens.unwrap_or(NONE),
            snapshot.capacity.unwrap_or(NONE),
            u64::from(snapshot.running),
            u64::from(snapshot.queued),
            u64::from(snapshot.abandoned),
            counters.calls,
            counters.attempts,
            counters.retries,
            counters.successes,
            counters.retry_after_adopted,
            exact(counters.total_wait),
            counters.late_results,
        ]);
        let kinds: [&[u64; Kind::ALL.len()]; 2] = [&counters.failures, &counters.refusals];
        kinds.into_iter().for_each(|counts| self.words(counts));
    }

    fn text(&mut self, text: &str) {
        self.words(&[TEXT, text.len() as u64]);
        self.open.update(text);
        self.open.update(&[0; 7][..text.len().wrapping_neg() % 8]);
    }

    fn words(&mut self, words: &[u64]) {
        for word in words {
            self.open.update(word.to_le_bytes());
        }
    }

    fn close_block(&mut self) {
        let block = self.open.finalize_reset().into();
        self.open = begin(&block);
        self.blocks.push(block);
    }
}

/// Each block begins with the digest of the one before it.
fn begin(previous: &[u8; 32]) -> Sha256 {
    Sha256::new_with_prefix(previous)
}

fn instant(instant: Option<Instant>) -> u64 {
    match instant.map(Instant::as_nanos) {
        None => NONE,
        // The last instant there is has a form of its own everywhere.
        Some(u64::MAX) => u64::MAX,
        Some(nanos) => exact(nanos),
    }
}

fn exact(nanos: u64) -> u64 {
    assert!(nanos < EXACT, "{nanos} ns do not cross as milliseconds");
    nanos
}
