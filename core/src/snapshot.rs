//! What a client has done and how it stands, read at once.

use crate::step::{Circuit, Kind};
use crate::time::Instant;

/// Counts since the engine was built.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Calls started, cancelled ones included.
    pub calls: u64,
    /// Attempts sent.
    pub attempts: u64,
    /// Attempts sent that were not the first of their call.
    pub retries: u64,
    /// Attempts that succeeded.
    pub successes: u64,
    /// Attempts that ended in each [`Kind`] but success, by its number: cut ones in `timeout`,
    /// cancelled ones in `cancelled`. With `successes` and the attempts under way they add up to
    /// `attempts`.
    pub failures: [u64; Kind::ALL.len()],
    /// Calls that ended in each refusal, by the number of its [`Kind`].
    pub refusals: [u64; Kind::ALL.len()],
    /// Waits that were as long as they were because of Retry-After.
    pub retry_after_adopted: u64,
    /// The sum of all planned waits, in nanoseconds.
    pub total_wait: u64,
    /// Attempts that ended after their call had moved on.
    pub late_results: u64,
}

/// How a client stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// What it has done.
    pub counters: Counters,
    /// The state of the circuit.
    pub circuit: Circuit,
    /// When an open circuit may be asked again.
    pub open_until: Option<Instant>,
    /// What the retry budget holds, in thousandths of a token; `None` where it is off.
    pub tokens: Option<u64>,
    /// What the retry budget can hold now, in thousandths of a token.
    pub capacity: Option<u64>,
    /// Permits that are out.
    pub running: u32,
    /// Calls that wait for a permit.
    pub queued: u32,
    /// Abandoned attempts that may still run.
    pub abandoned: u32,
}
