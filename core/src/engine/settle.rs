//! How attempts end: by an outcome, by their time limit, by the caller.

use core::time::Duration;

use super::call::{Call, Entry, Stage, Token};
use super::retry::Next;
use super::{Ending, Engine};
use crate::breaker::{Pass, Report, Scope};
use crate::step::{Action, CallId, Kind, Outcome, Reason, Step, Why};
use crate::time::{Instant, Limit};

impl Engine {
    #[inline(always)]
    pub(super) fn on_settled(
        &mut self,
        now: Instant,
        id: CallId,
        mut call: Call,
        outcome: Outcome,
        word: u64,
    ) -> Step {
        self.bulkhead.on_release();
        self.on_outcome(now, &mut call, &outcome, word);
        match self.after(now, &mut call, &outcome, word) {
            Next::Wait { until, why } => {
                let renewed = self.calls.renew(id);
                self.sleep(now, renewed, id, call, until, why)
            }
            Next::Finish(ending) => {
                self.calls.remove(id);
                self.end(now, id, &mut call, ending, &outcome, word)
            }
        }
    }

    /// The timer of a running attempt. Both limits passed: the deadline wins.
    pub(super) fn on_attempt_timer(
        &mut self,
        now: Instant,
        id: CallId,
        call: Call,
        until: Limit,
        word: u64,
    ) -> Step {
        if !until.is_reached(now) {
            let until = self.host_limit(until);
            self.step(
                now,
                id,
                id,
                Action::Wait { until, why: Why::Running, planned: Duration::ZERO },
            )
        } else if call.is_deadline_by(now) {
            self.on_deadline(now, id, call, word)
        } else {
            self.on_timeout(now, id, call, word)
        }
    }

    #[cold]
    pub(super) fn on_cancelled(
        &mut self,
        now: Instant,
        id: CallId,
        mut call: Call,
        stage: Stage,
        word: u64,
    ) -> Step {
        match stage {
            Stage::Running { .. } => {
                let cancelled = Outcome::of(Kind::Cancelled);
                self.counters.failures[Kind::Cancelled as usize] += 1;
                self.report(now, call.pass.take(), &cancelled, word);
                self.abandon(now, id);
            }
            Stage::Queued { .. } => {
                self.bulkhead.on_leave(id.slot());
                self.calls.remove(id);
            }
            Stage::Waiting { .. } => self.calls.remove(id),
        }
        self.refuse(now, id, &mut call, Ending::of(Reason::Cancelled))
    }

    /// A retry that was decided and never sent costs nothing.
    #[cold]
    pub(super) fn give_back_unsent(&mut self, now: Instant, call: &mut Call, cost: u64) {
        self.budget.iter_mut().for_each(|budget| budget.give_back(now, cost));
        call.token = Token::None;
    }

    #[inline(always)]
    pub(super) fn report(
        &mut self,
        now: Instant,
        pass: Option<Pass>,
        outcome: &Outcome,
        word: u64,
    ) {
        let Some(pass) = pass else { return };
        let report = Report {
            verdict: outcome.verdict(self.breaker.counts_throttled()),
            retry_after_ms: outcome.retry_after_ms,
        };
        let change = self.breaker.on_pass_result(now, pass, report, word);
        self.change = change.or(self.change);
    }

    #[cold]
    fn on_timeout(&mut self, now: Instant, id: CallId, mut call: Call, word: u64) -> Step {
        let outcome = Outcome::of(Kind::Timeout);
        self.on_outcome(now, &mut call, &outcome, word);
        match self.after(now, &mut call, &outcome, word) {
            Next::Wait { until, why } => {
                let moved = self.move_on(now, id, call);
                self.sleep(now, moved, id, call, until, why)
            }
            Next::Finish(ending) => {
                self.abandon(now, id);
                self.end(now, id, &mut call, ending, &outcome, word)
            }
        }
    }

    /// The call goes on in a slot of its own and its attempt stays behind. In a full table nothing
    /// can stay behind: the permit comes back now.
    fn move_on(&mut self, now: Instant, id: CallId, call: Call) -> CallId {
        let stage = Stage::Queued { until: Limit::NEVER };
        match self.calls.insert(Entry::Live { call, stage }) {
            Some(moved) => {
                self.abandon(now, id);
                moved
            }
            None => {
                self.bulkhead.on_release();
                self.calls.renew(id)
            }
        }
    }

    #[cold]
    fn on_deadline(&mut self, now: Instant, id: CallId, mut call: Call, word: u64) -> Step {
        let kind = if self.plan.count_deadline { Kind::Timeout } else { Kind::Cancelled };
        self.counters.failures[Kind::Timeout as usize] += 1;
        self.report(now, call.pass.take(), &Outcome::of(kind), word);
        self.abandon(now, id);
        self.refuse(now, id, &mut call, Ending::of(Reason::DeadlineExceeded))
    }

    /// An attempt has ended in `outcome`: breaker, budget and counters hear of it.
    #[inline(always)]
    fn on_outcome(&mut self, now: Instant, call: &mut Call, outcome: &Outcome, word: u64) {
        call.last_kind = Some(outcome.kind);
        call.last_status = outcome.status;
        let success = outcome.kind == Kind::Success;
        if success {
            self.counters.successes += 1;
        } else {
            self.counters.failures[outcome.kind as usize] += 1;
        }
        if self.plan.scope == Scope::Attempt {
            self.report(now, call.pass.take(), outcome, word);
        }
        let token = core::mem::replace(&mut call.token, Token::None);
        let Some(budget) = &mut self.budget else { return };
        if let Token::Spent(cost) = token
            && outcome.gives_token_back()
        {
            budget.give_back(now, cost);
        }
        if success {
            budget.on_success(now);
        }
    }

    /// The call ends after an outcome. Where whole calls count, this is the one that counts.
    #[inline(always)]
    fn end(
        &mut self,
        now: Instant,
        id: CallId,
        call: &mut Call,
        ending: Ending,
        outcome: &Outcome,
        word: u64,
    ) -> Step {
        if ending.reason.is_own_error() {
            return self.refuse(now, id, call, ending);
        }
        self.report(now, call.pass.take(), outcome, word);
        self.finish(now, id, call, ending)
    }
}
