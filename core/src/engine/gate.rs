//! May this call go now? The breaker's gate, the bulkhead's, and the start of an attempt.

use super::call::{Call, Entry, Phase, Token};
use super::{Ending, Engine};
use crate::breaker::{Refusal, Scope};
use crate::bulkhead::Entry as Permit;
use crate::step::{Action, CallId, Kind, Reason, Step};
use crate::time::{Instant, soonest};

impl From<Refusal> for Ending {
    fn from(refusal: Refusal) -> Self {
        Self { reason: Reason::CircuitOpen, retry_at: refusal.retry_at, forced: refusal.forced }
    }
}

impl Engine {
    /// Would the circuit let an attempt of this call go? A call that it has let go as a whole asks
    /// again only when the circuit has changed since.
    pub(super) fn gate(&self, now: Instant, call: &Call) -> Result<(), Refusal> {
        match &call.admission {
            Some(admission) if self.breaker.is_current(admission) => Ok(()),
            _ => self.breaker.peek(now),
        }
    }

    /// A new call asks for a permit.
    pub(super) fn enter_new(&mut self, now: Instant, call: Call) -> Step {
        let phase = Phase::Queued { until: None };
        match self.calls.insert(Entry::Live { call, phase }) {
            Some(id) => self.enter(now, id, CallId::NONE, call),
            None => self.refuse(now, CallId::NONE, call, Ending::of(Reason::BulkheadFull)),
        }
    }

    /// A call that the circuit lets go asks for a permit. `id` names it, `previous` did.
    pub(super) fn enter(&mut self, now: Instant, id: CallId, previous: CallId, call: Call) -> Step {
        match self.bulkhead.enter(id.slot()) {
            Permit::Permit => self.begin(now, id, previous, call),
            Permit::Queued => self.stand_in_line(now, id, previous, call),
            Permit::Full => {
                self.calls.remove(id);
                self.refuse(now, previous, call, Ending::of(Reason::BulkheadFull))
            }
        }
    }

    /// An attempt starts: circuit and bulkhead have let it go.
    pub(super) fn begin(
        &mut self,
        now: Instant,
        id: CallId,
        previous: CallId,
        mut call: Call,
    ) -> Step {
        call.attempts = call.attempts.saturating_add(1);
        if let Token::Held(cost) = call.token {
            call.token = Token::Spent(cost);
        }
        self.counters.attempts += 1;
        self.counters.retries += u64::from(call.attempts > 1);
        let admission = self.admit(now, &mut call);
        let timeout = self.plan.attempt_timeout.map(|timeout| now.after(timeout));
        let until = soonest(timeout, call.deadline);
        self.put(id, call, Phase::Running { until, admission });
        let until = until.map(|until| self.clock.to_host(until));
        self.step(now, id, previous, Action::Attempt { until, number: call.attempts })
    }

    pub(super) fn put(&mut self, id: CallId, call: Call, phase: Phase) {
        if let Some(entry) = self.calls.get_mut(id) {
            *entry = Entry::Live { call, phase };
        }
    }

    /// The call ends by a refusal; its slot has been given up.
    pub(super) fn refuse(&mut self, now: Instant, id: CallId, call: Call, ending: Ending) -> Step {
        let kind = match ending.reason {
            Reason::CircuitOpen => Kind::CircuitOpen,
            Reason::BulkheadFull => Kind::BulkheadFull,
            Reason::QueueTimeout => Kind::QueueTimeout,
            Reason::Cancelled => Kind::Cancelled,
            _ => Kind::DeadlineExceeded,
        };
        self.counters.refusals[kind as usize] += 1;
        self.finish(now, id, call, ending, 0)
    }

    /// Takes the circuit's leave: for this attempt, or for the call where whole calls are counted.
    fn admit(&mut self, now: Instant, call: &mut Call) -> Option<crate::breaker::Admission> {
        let goes_on = |call: &Call| {
            call.admission.is_some_and(|admission| self.breaker.is_current(&admission))
        };
        if goes_on(call) {
            return None;
        }
        let (admission, change) = self.breaker.admit_after_peek(now);
        self.change = change.or(self.change);
        match self.plan.scope {
            Scope::Attempt => Some(admission),
            Scope::Call => {
                call.admission = Some(admission);
                None
            }
        }
    }
}
