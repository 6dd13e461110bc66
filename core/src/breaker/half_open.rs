//! Half-open: a few probes pass, each on a lease.

use super::{CircuitBreaker, Pass, Report, State};
use crate::classify::Verdict;
use crate::step::{Change, ChangeCause, Circuit};
use crate::time::Instant;

impl CircuitBreaker {
    #[cold]
    pub(super) fn on_probe_result(
        &mut self,
        now: Instant,
        pass: Pass,
        slow: bool,
        report: Report,
        word: u64,
    ) -> Option<Change> {
        let lease = pass.lease?;
        let on_lease = now < lease;
        if on_lease {
            self.give_slot_back(lease);
        }
        match report.verdict {
            Verdict::Neutral => None,
            Verdict::Healthy if !slow => self.on_probe_success(),
            verdict if on_lease => {
                // A probe that failed by being slow was answered well: that asks for no wait.
                let asked = report.retry_after_ms.filter(|_| verdict == Verdict::Failure);
                Some(self.open(now, ChangeCause::ProbeFailed, asked, word))
            }
            _ => None,
        }
    }

    fn on_probe_success(&mut self) -> Option<Change> {
        self.successes += 1;
        if self.successes < self.config.success_threshold {
            return None;
        }
        self.openings = 0;
        self.enter(State::Closed);
        self.clear();
        Some(Change {
            from: Circuit::HalfOpen,
            to: Circuit::Closed,
            cause: ChangeCause::ProbesSucceeded,
        })
    }

    /// The end of the earliest lease if every probe slot is taken at `now`.
    pub(super) fn earliest_full_lease(&self, now: Instant) -> Option<Instant> {
        // Leases are equally long, so they end in the order in which they were given.
        let ended = self.leases.partition_point(|lease| *lease <= now);
        (self.leases.len() - ended >= self.config.probes).then(|| self.leases[ended])
    }

    #[cold]
    pub(super) fn take_probe_slot(&mut self, now: Instant) -> Option<Instant> {
        if !matches!(self.state, State::HalfOpen) {
            return None;
        }
        self.leases.retain(|lease| now < *lease);
        // Only a breaker that refuses nobody comes here with all slots taken.
        if self.leases.len() >= self.config.probes {
            return None;
        }
        let lease = now.after(self.config.probe_lease);
        self.leases.push(lease);
        Some(lease)
    }

    fn give_slot_back(&mut self, lease: Instant) {
        if let Some(place) = self.leases.iter().position(|held| *held == lease) {
            self.leases.remove(place);
        }
    }
}
