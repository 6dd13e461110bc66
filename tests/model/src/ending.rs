//! How attempts and calls end: by an outcome, by a timer, by a refusal (E5, section 10).

use std::time::Duration;

use stormproof::step::{Kind, Outcome, Why};
use stormproof::{Action, Decision, Reason};

use crate::breaker::{Refusal, Verdict};
use crate::class;
use crate::history::{Attempt, Phase};
use crate::model::{Model, saturated};
use crate::retry::asked;
use crate::time::Time;

impl Model {
    /// E5: the timer of a running attempt.
    pub(crate) fn on_attempt_timer(&mut self, call: usize, attempt: usize, word: u64) -> Action {
        let now = self.clock.now;
        let until = self.attempts[attempt].until;
        if until.is_none_or(|until| now < until) {
            let until = until.map(|until| self.clock.host(until));
            return Action::Wait { until, why: Why::Running, planned: Duration::ZERO };
        }
        if self.calls[call].deadline.is_some_and(|deadline| deadline <= now) {
            self.end_attempt(attempt, Kind::Timeout, true);
            let counts = self.settings.count_deadline;
            let verdict = if counts { Verdict::Failed } else { Verdict::Neutral };
            self.report(call, attempt, verdict, None, word);
            return self.finish(call, Reason::DeadlineExceeded, None);
        }
        let outcome = Outcome::of(Kind::Timeout);
        self.attempts[attempt].outcome = Some(outcome);
        self.end_attempt(attempt, Kind::Timeout, true);
        let action = self.on_failure(call, attempt, outcome, word);
        // Section 16: in a full table nothing can stay behind a call that goes on.
        if matches!(action, Action::Wait { .. }) && self.table() > self.settings.max_calls as usize
        {
            self.attempts[attempt].abandoned = false;
        }
        action
    }

    /// E5: the timer of a wait or of a place in the queue.
    pub(crate) fn on_timer(&mut self, call: usize, word: u64) -> Action {
        let now = self.clock.now;
        match self.calls[call].phase {
            Phase::Wait { until, why } if now < until => {
                let until = Some(self.clock.host(until));
                Action::Wait { until, why, planned: Duration::ZERO }
            }
            Phase::Queue { until } => match self.lost_place(call, until) {
                Some(reason) => self.finish_unsent(call, reason, None, word),
                None => self.queue_action(call, until),
            },
            _ => self.try_to_go(call, word),
        }
    }

    pub(crate) fn on_settled(
        &mut self,
        call: usize,
        attempt: usize,
        outcome: Outcome,
        word: u64,
    ) -> Action {
        self.attempts[attempt].outcome = Some(outcome);
        self.end_attempt(attempt, outcome.kind, false);
        if class::is_transient(outcome.kind) {
            return self.on_failure(call, attempt, outcome, word);
        }
        let verdict = class::verdict(&self.settings, &outcome);
        self.report(call, attempt, verdict, asked(&outcome), word);
        self.on_life(attempt, &outcome);
        if outcome.kind == Kind::Success {
            self.budget.add(self.clock.now, self.settings.refill_per_success);
        }
        let reason = match outcome.kind {
            Kind::Success => Reason::Success,
            Kind::Cancelled => Reason::Cancelled,
            _ => Reason::Permanent,
        };
        self.finish(call, reason, None)
    }

    /// G5: a sign of life gives the token of its retry back.
    pub(crate) fn on_life(&mut self, attempt: usize, outcome: &Outcome) {
        if class::shows_life(outcome)
            && let Some(token) = self.attempts[attempt].token.take()
        {
            self.budget.add(self.clock.now, token);
        }
    }

    /// The call is done with an attempt, whose operation may still run if it is abandoned.
    pub(crate) fn end_attempt(&mut self, attempt: usize, kind: Kind, abandoned: bool) {
        self.attempts[attempt].ended = Some((self.clock.now, kind));
        self.attempts[attempt].abandoned = abandoned;
    }

    /// K4: reports an attempt to the breaker, or with scope `call` the call.
    pub(crate) fn report(
        &mut self,
        call: usize,
        attempt: usize,
        verdict: Verdict,
        asked: Option<Time>,
        word: u64,
    ) {
        let admission = if self.settings.scope_call {
            self.calls[call].admission.take()
        } else {
            self.attempts[attempt].admission
        };
        if let Some(admission) = admission {
            let (settings, clock) = (&self.settings, &self.clock);
            self.change = self.breaker.on_report(settings, clock, admission, verdict, asked, word);
        }
    }

    /// Ends a call whose next attempt was not sent: the token comes back (G3); with scope `call`
    /// the refusal is neutral (O4).
    pub(crate) fn finish_unsent(
        &mut self,
        call: usize,
        reason: Reason,
        refusal: Option<Refusal>,
        word: u64,
    ) -> Action {
        if let Some(token) = self.calls[call].token.take() {
            self.budget.add(self.clock.now, token);
        }
        if self.settings.scope_call {
            let last = self.attempts.iter().rposition(|attempt| attempt.call == call);
            if let Some(attempt) = last {
                self.report(call, attempt, Verdict::Neutral, None, word);
            }
        }
        self.finish(call, reason, refusal)
    }

    pub(crate) fn finish(
        &mut self,
        call: usize,
        reason: Reason,
        refusal: Option<Refusal>,
    ) -> Action {
        let heard = |attempt: &&Attempt| attempt.call == call && attempt.outcome.is_some();
        let last = self.attempts.iter().rev().find(heard).and_then(|attempt| attempt.outcome);
        let budget_on = self.settings.budget_on;
        let waited: Time = self.waits_of(call).map(|wait| wait.until - wait.at).sum();
        let decision = Decision {
            reason,
            attempts: self.sent(call),
            last_kind: last.map(|outcome| outcome.kind),
            last_status: last.map_or(0, |outcome| outcome.status),
            at: self.clock.host(self.clock.now),
            retry_at: refusal.and_then(|it| it.promised).map(|at| self.clock.host(at)),
            forced: refusal.is_some_and(|it| it.forced),
            total_wait: saturated(waited),
            tokens: budget_on.then(|| self.budget.tokens(&self.settings, &self.clock)),
        };
        self.queue.retain(|waiter| *waiter != call);
        self.calls[call].phase = Phase::Over;
        self.calls[call].finishes.push((self.clock.now, decision));
        Action::Finish(decision)
    }
}
