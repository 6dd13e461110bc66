//! Half-open: a few probes pass, each on a lease.

use super::{CLOSED, CircuitBreaker, Pass, Report, State};
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
        let State::HalfOpen { successes, .. } = &mut self.state else {
            return None;
        };
        *successes += 1;
        if *successes < self.config.success_threshold {
            return None;
        }
        self.openings = 0;
        self.enter(CLOSED);
        self.clear();
        Some(Change {
            from: Circuit::HalfOpen,
            to: Circuit::Closed,
            cause: ChangeCause::ProbesSucceeded,
        })
    }

    /// The end of the earliest lease if every probe slot is taken at `now`.
    pub(super) fn earliest_full_lease(&self, leases: &[Instant], now: Instant) -> Option<Instant> {
        // Leases are equally long, so they end in the order in which they were given.
        let ended = leases.partition_point(|lease| *lease <= now);
        (leases.len() - ended >= self.config.probes).then(|| leases[ended])
    }

    #[cold]
    pub(super) fn take_probe_slot(&mut self, now: Instant) -> Option<Instant> {
        let State::HalfOpen { leases, .. } = &mut self.state else {
            return None;
        };
        leases.retain(|lease| now < *lease);
        // Only a breaker that refuses nobody comes here with all slots taken.
        if leases.len() >= self.config.probes {
            return None;
        }
        let lease = now.after(self.config.probe_lease);
        leases.push(lease);
        Some(lease)
    }

    fn give_slot_back(&mut self, lease: Instant) {
        if let State::HalfOpen { leases, .. } = &mut self.state
            && let Some(place) = leases.iter().position(|held| *held == lease)
        {
            leases.remove(place);
        }
    }
}
