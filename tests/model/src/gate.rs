//! May this call go now? The circuit, the bulkhead and its queue (O1, O2, O7, section 8).

use stormproof::time::Instant;
use stormproof::{Action, Reason};

use crate::history::{Attempt, Phase};
use crate::model::{Model, earlier};
use crate::time::Time;

impl Model {
    /// O1: deadline, circuit, bulkhead. Cancelled is an event of its own.
    pub(crate) fn try_to_go(&mut self, call: usize, word: u64) -> Action {
        let now = self.clock.now;
        if self.calls[call].deadline.is_some_and(|deadline| deadline <= now) {
            return self.finish_unsent(call, Reason::DeadlineExceeded, None, word);
        }
        if let Some(refusal) = self.breaker.refusal(&self.settings, now) {
            return self.on_refused(call, refusal, word);
        }
        let is_new = self.calls[call].id == 0;
        if is_new && self.table() >= self.settings.max_calls as usize {
            return self.finish_unsent(call, Reason::BulkheadFull, None, word);
        }
        if self.queue.is_empty() && self.is_permit_free() {
            return self.start_attempt(call);
        }
        if self.queue.len() >= self.settings.max_queue as usize {
            return self.finish_unsent(call, Reason::BulkheadFull, None, word);
        }
        let until = self.settings.queue_timeout.map(|span| now + span);
        self.queue.push(call);
        self.renew(call, Phase::Queue { until });
        self.queue_action(call, until)
    }

    pub(crate) fn queue_action(&self, call: usize, until: Option<Time>) -> Action {
        let until = earlier(until, self.calls[call].deadline);
        Action::Queue { until: until.map(|until| self.clock.host(until)) }
    }

    pub(crate) fn start_attempt(&mut self, call: usize) -> Action {
        let now = self.clock.now;
        let admitted = self.calls[call].admission.filter(|_| self.settings.scope_call);
        // O4: with scope `call` a call is let in once a generation. Reading: the open one lasts
        // until somebody is let in anew.
        let admission = match admitted {
            Some(admission) if admission.era == self.breaker.generation() => admission,
            _ => {
                self.change = self.breaker.on_arrival(now);
                self.breaker.admit(&self.settings, now)
            }
        };
        let number = self.sent(call) + 1;
        let until = self.settings.attempt_timeout.map(|span| now + span);
        let until = earlier(until, self.calls[call].deadline);
        self.renew(call, Phase::Attempt(self.attempts.len()));
        let subject = &mut self.calls[call];
        subject.admission = Some(admission);
        self.attempts.push(Attempt {
            id: subject.id,
            call,
            number,
            at: now,
            until,
            admission: Some(admission),
            token: subject.token.take(),
            ended: None,
            outcome: None,
            abandoned: false,
            late: None,
        });
        Action::Attempt { until: until.map(|until| self.clock.host(until)), number }
    }

    /// E2, H2, O7: the first waiter's turn, if it has come.
    pub(crate) fn poll(&mut self, word: u64) -> Option<(u64, u64, Action)> {
        let call = *self.queue.first()?;
        let refusal = self.breaker.refusal(&self.settings, self.clock.now);
        if refusal.is_none() && !self.is_permit_free() {
            return None;
        }
        let previous = self.calls[call].id;
        let Phase::Queue { until } = self.calls[call].phase else {
            unreachable!("who waits is in the queue")
        };
        let action = if let Some(reason) = self.lost_place(call, until) {
            self.finish_unsent(call, reason, None, word)
        } else if let Some(refusal) = refusal {
            self.on_refused(call, refusal, word)
        } else {
            self.start_attempt(call)
        };
        Some((self.calls[call].id, previous, action))
    }

    /// E2: when polling may yield something without a further event.
    pub fn poll_at(&self) -> Option<Instant> {
        let now = self.clock.now;
        self.queue.first()?;
        if self.is_permit_free() || self.breaker.refusal(&self.settings, now).is_some() {
            return Some(self.clock.host(now));
        }
        let out = self.attempts.iter().filter(|attempt| attempt.has_permit(&self.settings, now));
        out.filter_map(|attempt| attempt.permit_back(&self.settings))
            .min()
            .map(|at| self.clock.host(at))
    }

    /// H2: why a place in the queue is lost by now; the deadline wins.
    pub(crate) fn lost_place(&self, call: usize, until: Option<Time>) -> Option<Reason> {
        let passed = |limit: Option<Time>| limit.is_some_and(|limit| limit <= self.clock.now);
        if passed(self.calls[call].deadline) {
            return Some(Reason::DeadlineExceeded);
        }
        passed(until).then_some(Reason::QueueTimeout)
    }

    /// H1: the permits that are out.
    pub fn permits(&self, now: Time) -> usize {
        self.attempts.iter().filter(|attempt| attempt.has_permit(&self.settings, now)).count()
    }

    pub(crate) fn is_permit_free(&self) -> bool {
        let most = self.settings.max_concurrent;
        most.is_none_or(|most| self.permits(self.clock.now) < most as usize)
    }

    /// H4: the attempts whose operation may still run although their call is past them.
    pub fn abandoned(&self, now: Time) -> usize {
        let left = |attempt: &&Attempt| attempt.is_left_behind(&self.settings, now);
        self.attempts.iter().filter(left).count()
    }

    /// `maxCalls`: the calls under way, abandoned attempts included.
    pub(crate) fn table(&self) -> usize {
        let live =
            self.calls.iter().filter(|call| call.phase != Phase::Over && call.id != 0).count();
        live + self.abandoned(self.clock.now)
    }
}
