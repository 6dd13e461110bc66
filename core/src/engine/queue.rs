//! The line of calls that wait for a permit, and the permits of abandoned attempts.

use super::call::{Call, Entry, Stage};
use super::{Ending, Engine};
use crate::step::{Action, CallId, Reason, Step};
use crate::time::{Instant, Limit};

impl Engine {
    /// One waiting call whose turn has come, if there is one. Call it until it answers `None`,
    /// whenever the newest step's `poll_at` is reached; then ask [`poll_at`](Self::poll_at) anew. `word` is a fresh random number.
    pub fn poll_ready(&mut self, now: Instant, word: u64) -> Option<Step> {
        let now = self.on_time(now);
        let place = self.bulkhead.first()?;
        let id = self.calls.id_at(place);
        let Some(Entry::Live { call, stage: Stage::Queued { until } }) =
            self.calls.get(id).copied()
        else {
            return None;
        };
        let gate = self.breaker.peek(now);
        if gate.is_ok() && !self.bulkhead.has_free_permit() {
            return None;
        }
        if until.is_reached(now) {
            return Some(self.on_queue_timer(now, id, call, until));
        }
        if let Err(refusal) = gate {
            self.bulkhead.on_leave(place);
            return Some(self.on_circuit_refusal(now, id, call, refusal, word));
        }
        self.bulkhead.poll_next();
        let renewed = self.calls.renew(id);
        Some(self.begin(now, renewed, id))
    }

    #[cold]
    pub(super) fn stand_in_line(&mut self, now: Instant, id: CallId, previous: CallId) -> Step {
        let mut until = Limit::after(now, self.bulkhead.config().queue_timeout);
        if let Some(Entry::Live { call, stage }) = self.calls.get_mut(id) {
            until = until.min(call.deadline);
            *stage = Stage::Queued { until };
        }
        let until = self.host_limit(until);
        self.step(now, id, previous, Action::Queue { until })
    }

    pub(super) fn on_queue_timer(
        &mut self,
        now: Instant,
        id: CallId,
        mut call: Call,
        until: Limit,
    ) -> Step {
        if !until.is_reached(now) {
            let until = self.host_limit(until);
            return self.step(now, id, id, Action::Queue { until });
        }
        let reason =
            if call.is_deadline_by(now) { Reason::DeadlineExceeded } else { Reason::QueueTimeout };
        self.bulkhead.on_leave(id.slot());
        self.calls.remove(id);
        self.refuse(now, id, &mut call, Ending::of(reason))
    }

    /// Leaves the attempt that `id` names behind. It may still run: unless the policy frees its
    /// permit now, it keeps it until it ends or its lease does.
    pub(super) fn abandon(&mut self, now: Instant, id: CallId) {
        let config = self.bulkhead.config();
        let lease = now.after(config.abandoned_lease);
        let holds_permit = config.release == crate::bulkhead::Release::Settled;
        if !holds_permit {
            self.bulkhead.on_release();
        }
        if let Some(entry) = self.calls.get_mut(id) {
            *entry = Entry::Abandoned { lease, holds_permit };
            self.abandoned.join(id.slot());
        }
    }

    /// An abandoned attempt has ended.
    pub(super) fn on_late_result(&mut self, now: Instant, id: CallId, holds_permit: bool) -> Step {
        self.counters.late_results += 1;
        self.forget(id, holds_permit);
        self.stale(now, id, true)
    }

    /// When polling may yield something without a further event, where somebody stands in line.
    #[cold]
    pub(super) fn ready_at(&self, now: Instant) -> Option<Instant> {
        if self.bulkhead.has_free_permit() || self.breaker.peek(now).is_err() {
            return Some(now);
        }
        let (_, lease, holds_permit) = self.first_lease()?;
        holds_permit.then_some(lease)
    }

    /// Abandoned attempts whose leases end give their permits back.
    pub(super) fn end_leases(&mut self, now: Instant) {
        while let Some((id, lease, holds_permit)) = self.first_lease()
            && lease <= now
        {
            self.forget(id, holds_permit);
        }
    }

    /// How many leases have ended by `now`, and how many permits with them.
    pub(super) fn ended_leases(&self, now: Instant) -> (u32, u32) {
        let mut ended = (0, 0);
        for place in self.abandoned.iter() {
            match self.calls.get(self.calls.id_at(place)) {
                Some(Entry::Abandoned { lease, holds_permit }) if *lease <= now => {
                    ended.0 += 1;
                    ended.1 += u32::from(*holds_permit);
                }
                _ => break,
            }
        }
        ended
    }

    fn first_lease(&self) -> Option<(CallId, Instant, bool)> {
        let id = self.calls.id_at(self.abandoned.first()?);
        match self.calls.get(id) {
            Some(Entry::Abandoned { lease, holds_permit }) => Some((id, *lease, *holds_permit)),
            _ => None,
        }
    }

    fn forget(&mut self, id: CallId, holds_permit: bool) {
        self.abandoned.leave(id.slot());
        self.calls.remove(id);
        if holds_permit {
            self.bulkhead.on_release();
        }
    }
}
