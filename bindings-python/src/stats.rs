//! What a client has done and how it stands.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use stormproof::Snapshot;
use stormproof::step::Kind;
use stormproof::time::Instant;

use crate::clock::seconds;

/// What a client has done and how it stands, read at once.
#[pyclass(frozen, module = "stormproof", name = "Stats")]
pub struct Stats {
    pub snapshot: Snapshot,
    pub now: Instant,
}

fn by_kind(counts: &[u64]) -> BTreeMap<&'static str, u64> {
    let named = Kind::NAMES.iter().copied().zip(counts.iter().copied());
    named.filter(|(_, count)| *count > 0).collect()
}

#[pymethods]
impl Stats {
    /// `closed`, `open`, `half_open`, `forced_open` or `forced_closed`.
    #[getter]
    fn circuit(&self) -> &'static str {
        self.snapshot.circuit.name()
    }

    /// For how many seconds an open circuit goes on refusing.
    #[getter]
    fn open_for(&self) -> Option<f64> {
        let until = self.snapshot.open_until?;
        Some(until.saturating_since(self.now).as_secs_f64())
    }

    /// When an open circuit may be asked again, on the clock of `time.monotonic_ns()`.
    #[getter]
    fn open_until_ns(&self) -> Option<u64> {
        self.snapshot.open_until.map(Instant::as_nanos)
    }

    /// What the retry budget holds; `None` where it is off.
    #[getter]
    fn tokens(&self) -> Option<f64> {
        self.snapshot.tokens.map(|tokens| tokens as f64 / 1e3)
    }

    /// What the retry budget can hold now; `None` where it is off.
    #[getter]
    fn capacity(&self) -> Option<f64> {
        self.snapshot.capacity.map(|tokens| tokens as f64 / 1e3)
    }

    /// Permits that are out.
    #[getter]
    fn running(&self) -> u32 {
        self.snapshot.running
    }

    /// Calls that wait for a permit.
    #[getter]
    fn queued(&self) -> u32 {
        self.snapshot.queued
    }

    /// Abandoned attempts that may still run.
    #[getter]
    fn abandoned(&self) -> u32 {
        self.snapshot.abandoned
    }

    /// Calls started, cancelled ones included.
    #[getter]
    fn calls(&self) -> u64 {
        self.snapshot.counters.calls
    }

    /// Attempts sent.
    #[getter]
    fn attempts(&self) -> u64 {
        self.snapshot.counters.attempts
    }

    /// Attempts sent that were not the first of their call.
    #[getter]
    fn retries(&self) -> u64 {
        self.snapshot.counters.retries
    }

    /// Attempts that succeeded.
    #[getter]
    fn successes(&self) -> u64 {
        self.snapshot.counters.successes
    }

    /// Waits that were as long as they were because of Retry-After.
    #[getter]
    fn retry_after_adopted(&self) -> u64 {
        self.snapshot.counters.retry_after_adopted
    }

    /// The sum of all planned waits in seconds.
    #[getter]
    fn total_wait(&self) -> f64 {
        seconds(self.snapshot.counters.total_wait)
    }

    /// The sum of all planned waits in nanoseconds.
    #[getter]
    fn total_wait_ns(&self) -> u64 {
        self.snapshot.counters.total_wait
    }

    /// Attempts that ended after their call had moved on.
    #[getter]
    fn late_results(&self) -> u64 {
        self.snapshot.counters.late_results
    }

    /// How many attempts ended in each kind of failure; kinds that none ended in are left out.
    #[getter]
    fn failures(&self) -> BTreeMap<&'static str, u64> {
        by_kind(&self.snapshot.counters.failures)
    }

    /// How many calls ended in each refusal; refusals that none ended in are left out.
    #[getter]
    fn refusals(&self) -> BTreeMap<&'static str, u64> {
        by_kind(&self.snapshot.counters.refusals)
    }

    fn __repr__(&self) -> String {
        format!(
            "<Stats: circuit={}, calls={}, attempts={}, running={}, queued={}>",
            self.circuit(),
            self.calls(),
            self.attempts(),
            self.running(),
            self.queued()
        )
    }
}
