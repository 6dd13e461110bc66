//! The engine's memory laid open, for the walk through every reachable state (`tests/walk`).

use alloc::vec::Vec;

use crate::step::{Circuit, Why};
use crate::time::{Instant, Limit, Nanos};

/// All that can still matter to an engine, told from one instant.
///
/// Engines with equal states take the same decisions for ever: spans count from now, ids are left
/// out, and what lies too far in the past to matter is told as one thing. What is only counted or
/// reported (counters, total waits, last kinds) is not in it, nor is the distance between engine
/// time and the host's clock. A budget must not be `auto`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The circuit and what it counts.
    pub circuit: CircuitState,
    /// What the budget holds, in 10^-12 of a token.
    pub tokens: Option<u64>,
    /// Permits that are out, by the bulkhead's own count.
    pub running: u32,
    /// Calls under way and attempts left behind, in the order of their contents.
    pub calls: Vec<CallState>,
}

/// What a circuit breaker remembers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CircuitState {
    /// The state.
    pub phase: CircuitPhase,
    /// How long the next opening lasts without its spread.
    pub next_open: Nanos,
    /// `metrics_only`.
    pub refuses_nobody: bool,
}

/// The state of a circuit with what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CircuitPhase {
    /// Counting. What no rule looks at is left out.
    Closed {
        /// Failures in a row, the last of them younger than the window, and its age.
        run: (u64, Nanos),
        /// Total, failures and slow ones of each slice within the window, newest first; without
        /// the empty ones at the end.
        slices: Vec<[u64; 3]>,
        /// How much of the newest slice has passed.
        into_slice: Nanos,
        /// The ages of the failures within the window, oldest first.
        failures: Vec<Nanos>,
    },
    /// Refusing, for this long.
    Open {
        /// Zero when the time has passed.
        left: Nanos,
    },
    /// Probing.
    HalfOpen {
        /// How long the leases of the probes still run.
        leases: Vec<Nanos>,
        /// Successes so far.
        successes: u64,
    },
    /// Forced open or forced closed.
    Forced(Circuit),
}

/// What the call table remembers in one slot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallState {
    /// Under way.
    Live {
        /// Where it stands.
        stage: StageState,
        /// Time to the deadline.
        deadline: Option<Nanos>,
        /// Attempts started.
        attempts: u32,
        /// Ceiling, last own delay, and whether any retry was planned.
        growth: (Nanos, Nanos, bool),
        /// The token of the retry: its cost and whether the retry was sent.
        token: Option<(u64, bool)>,
        /// Whether it was retried after a 421 or 425.
        retried_once: bool,
        /// What the circuit gave it.
        pass: Option<PassState>,
        /// What the safety of the operation is, by its number.
        safety: u8,
    },
    /// An attempt left behind.
    Abandoned {
        /// Its place among those left behind.
        place: u32,
        /// How long its permit is waited for.
        lease: Nanos,
        /// Whether it has one.
        holds_permit: bool,
    },
}

/// Where a call stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StageState {
    /// In the queue, at this place.
    Queued(u32, Option<Nanos>),
    /// An attempt runs, for this long at most.
    Running(Option<Nanos>),
    /// Between two attempts, for this long, for the reason with this number.
    Waiting(Nanos, u8),
}

/// What the circuit gave an attempt: in its present generation, or a probe's pass of an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PassState {
    /// Whether the generation is the present one. If not, only that it was a probe's still matters.
    pub is_current: bool,
    /// How long ago it was given, up to where an outcome is slow; 0 where nothing is slow.
    pub age: Nanos,
    /// Whether it is a probe's.
    pub is_probe: bool,
    /// How long its lease still runs.
    pub lease: Nanos,
}

impl StageState {
    pub(crate) fn waiting(now: Instant, until: Instant, why: Why) -> Self {
        Self::Waiting(until.since(now), why.code())
    }
}

/// The time left to a limit; nothing where it never comes.
pub(crate) fn left(now: Instant, limit: Limit) -> Option<Nanos> {
    limit.instant().map(|instant| instant.since(now))
}
