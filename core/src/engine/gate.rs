//! May this call go now? The breaker's gate, the bulkhead's, and the start of an attempt.

use super::call::{Call, Entry, Stage, Token};
use super::{Ending, Engine};
use crate::breaker::{Refusal, Scope};
use crate::bulkhead;
use crate::step::{Action, CallId, Kind, Outcome, Reason, Step};
use crate::time::{Instant, Limit};

impl From<Refusal> for Ending {
    fn from(refusal: Refusal) -> Self {
        Self { reason: Reason::CircuitOpen, retry_at: refusal.retry_at, forced: refusal.forced }
    }
}

impl Engine {
    /// A new call asks for a permit.
    #[inline(always)]
    pub(super) fn enter_new(&mut self, now: Instant, mut call: Call) -> Step {
        let stage = Stage::Queued { until: Limit::NEVER };
        match self.calls.insert(Entry::Live { call, stage }) {
            Some(id) => self.enter(now, id, CallId::NONE),
            None => self.refuse(now, CallId::NONE, &mut call, Ending::of(Reason::BulkheadFull)),
        }
    }

    /// A call that the circuit lets go asks for a permit. `id` names it, `previous` did.
    #[inline(always)]
    pub(super) fn enter(&mut self, now: Instant, id: CallId, previous: CallId) -> Step {
        match self.bulkhead.enter(id.slot()) {
            bulkhead::Entry::Permit => self.begin(now, id, previous),
            bulkhead::Entry::Queued => self.stand_in_line(now, id, previous),
            bulkhead::Entry::Full => self.refuse_full(now, id, previous),
        }
    }

    /// An attempt starts: circuit and bulkhead have let it go.
    #[inline(always)]
    pub(super) fn begin(&mut self, now: Instant, id: CallId, previous: CallId) -> Step {
        let timeout = Limit::after(now, self.plan.attempt_timeout);
        let Some(Entry::Live { call, stage }) = self.calls.get_mut(id) else {
            return self.stale(now, id, false);
        };
        call.attempts = call.attempts.saturating_add(1);
        if let Token::Held(cost) = call.token {
            call.token = Token::Spent(cost);
        }
        let goes_on = call.pass.is_some_and(|pass| self.breaker.is_current(&pass));
        if self.plan.scope == Scope::Attempt || !goes_on {
            let (pass, change) = self.breaker.admit_after_peek(now);
            call.pass = Some(pass);
            self.change = change.or(self.change);
        }
        let until = timeout.min(call.deadline);
        *stage = Stage::Running { until };
        let number = call.attempts;
        self.counters.attempts += 1;
        self.counters.retries += u64::from(number > 1);
        let until = self.host_limit(until);
        self.step(now, id, previous, Action::Attempt { until, number })
    }

    pub(super) fn put(&mut self, id: CallId, call: Call, stage: Stage) {
        if let Some(entry) = self.calls.get_mut(id) {
            *entry = Entry::Live { call, stage };
        }
    }

    /// The call ends by a refusal; its slot has been given up. Where whole calls count, the
    /// circuit gets its pass back.
    #[cold]
    pub(super) fn refuse(
        &mut self,
        now: Instant,
        id: CallId,
        call: &mut Call,
        ending: Ending,
    ) -> Step {
        let kind = match ending.reason {
            Reason::CircuitOpen => Kind::CircuitOpen,
            Reason::BulkheadFull => Kind::BulkheadFull,
            Reason::QueueTimeout => Kind::QueueTimeout,
            Reason::Cancelled => Kind::Cancelled,
            _ => Kind::DeadlineExceeded,
        };
        self.counters.refusals[kind as usize] += 1;
        self.report(now, call.pass.take(), &Outcome::of(kind), 0);
        self.finish(now, id, call, ending)
    }

    #[cold]
    fn refuse_full(&mut self, now: Instant, id: CallId, previous: CallId) -> Step {
        let Some(Entry::Live { mut call, .. }) = self.calls.get(id).copied() else {
            return self.stale(now, id, false);
        };
        self.calls.remove(id);
        self.refuse(now, previous, &mut call, Ending::of(Reason::BulkheadFull))
    }
}
