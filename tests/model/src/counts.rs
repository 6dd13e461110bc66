//! V2: every figure of a snapshot is a count over the history.

use stormproof::Snapshot;
use stormproof::snapshot::Counters;
use stormproof::step::{Kind, Why};
use stormproof::time::Instant;

use crate::history::{Attempt, Call, refusal};
use crate::model::{Model, saturated};

impl Model {
    /// How things stand at this reading. Changes nothing (K7).
    pub fn snapshot(&self, reading: Instant) -> Snapshot {
        let mut clock = self.clock;
        clock.read(reading);
        let now = clock.now;
        // Reading: with metrics_only an open circuit may be asked at any time.
        let refusal = self.breaker.refusal(&self.settings, now).filter(|refusal| refusal.open);
        let open_until = refusal.and_then(|refusal| refusal.promised).map(|at| clock.host(at));
        let budget = self.settings.budget_on.then_some(&self.budget);
        Snapshot {
            counters: self.counters(),
            circuit: self.breaker.circuit(now),
            open_until,
            tokens: budget.map(|budget| budget.tokens(&self.settings, &clock)),
            capacity: budget.map(|budget| budget.capacity(&self.settings, &clock)),
            running: self.permits(now) as u32,
            queued: self.queue.len() as u32,
            abandoned: self.abandoned(now) as u32,
        }
    }

    fn counters(&self) -> Counters {
        let ended = |kind: Kind| {
            let as_this = |attempt: &&Attempt| attempt.ended.is_some_and(|(_, it)| it == kind);
            self.attempts.iter().filter(as_this).count() as u64
        };
        let refused = |kind: Kind| {
            // Section 15: a cancelled start counts only as a call.
            let begun = |call: &&Call| call.id != 0 || kind != Kind::Cancelled;
            let reasons = self.calls.iter().filter(begun).flat_map(|call| &call.finishes);
            reasons.filter(|(_, decision)| refusal(decision.reason) == Some(kind)).count() as u64
        };
        let mut counters = Counters {
            calls: self.calls.len() as u64,
            attempts: self.attempts.len() as u64,
            retries: self.attempts.iter().filter(|attempt| attempt.number > 1).count() as u64,
            successes: ended(Kind::Success),
            retry_after_adopted: self
                .waits
                .iter()
                .filter(|wait| wait.why == Why::RetryAfter)
                .count() as u64,
            total_wait: saturated(self.waits.iter().map(|wait| wait.until - wait.at).sum()),
            late_results: self.attempts.iter().filter(|attempt| attempt.late.is_some()).count()
                as u64,
            ..Counters::default()
        };
        for kind in Kind::ALL {
            counters.refusals[usize::from(kind.code())] = refused(*kind);
            if *kind != Kind::Success {
                counters.failures[usize::from(kind.code())] = ended(*kind);
            }
        }
        counters
    }
}
