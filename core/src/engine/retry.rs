//! Once more, or not? And when?

use core::time::Duration;

use super::call::{Call, Stage, Token};
use super::{Ending, Engine};
use crate::breaker::Refusal;
use crate::jitter::uniform;
use crate::retry_after::Combine;
use crate::step::{Action, CallId, Kind, Outcome, Reason, Step, Why};
use crate::time::{Instant, Limit, MILLISECOND, Nanos, SECOND};

/// What follows an outcome.
#[derive(Clone, Copy, Debug)]
pub(super) enum Next {
    Wait { until: Instant, why: Why },
    Finish(Ending),
}

impl Engine {
    /// What follows the end of an attempt.
    #[inline]
    pub(super) fn after(
        &mut self,
        now: Instant,
        call: &mut Call,
        outcome: &Outcome,
        word: u64,
    ) -> Next {
        match outcome.kind {
            Kind::Success => Next::Finish(Ending::of(Reason::Success)),
            Kind::Cancelled => Next::Finish(Ending::of(Reason::Cancelled)),
            kind if !kind.is_retryable() => Next::Finish(Ending::of(Reason::Permanent)),
            _ => match self.plan_retry(now, call, outcome, word) {
                Ok((until, why)) => Next::Wait { until, why },
                Err(ending) => Next::Finish(ending),
            },
        }
    }

    /// The first of these that holds ends the call; the token is taken last.
    #[cold]
    fn plan_retry(
        &mut self,
        now: Instant,
        call: &mut Call,
        outcome: &Outcome,
        word: u64,
    ) -> Result<(Instant, Why), Ending> {
        if !outcome.is_repeatable(call.safety, self.plan.unsafe_calls) {
            return Err(Ending::of(Reason::UnsafeToRetry));
        }
        if self.is_exhausted(call, outcome) {
            return Err(Ending::of(Reason::AttemptsExhausted));
        }
        let asked = outcome.retry_after_ms.map(|millis| millis.saturating_mul(MILLISECOND));
        if let Some(asked) = asked.filter(|asked| *asked > self.plan.retry_after_max) {
            return Err(Ending::until(Reason::RetryAfterTooLong, now.after(asked)));
        }
        call.growth.on_retry(&self.plan.backoff);
        let own = call.growth.draw(&self.plan.backoff, word);
        let (wait, why) = self.longer(now, call, own, asked, word);
        let wake = now.after(wait);
        if call.is_deadline_by(wake) {
            return Err(Ending::until(Reason::DeadlineTooNear, wake));
        }
        let (wake, why) = self.past_circuit(call, wake, why, own)?;
        self.take_token(now, call, outcome.kind)?;
        call.retried_once |= outcome.is_retried_once();
        self.counters.retry_after_adopted += u64::from(why == Why::RetryAfter);
        Ok((wake, why))
    }

    fn is_exhausted(&self, call: &Call, outcome: &Outcome) -> bool {
        call.attempts >= self.plan.max_attempts
            || (call.retried_once && outcome.is_retried_once())
            || call.pass.is_some_and(|pass| pass.is_probe())
    }

    /// The larger of the own delay and what the dependency asks for, with its spread.
    fn longer(
        &self,
        now: Instant,
        call: &Call,
        own: Nanos,
        asked: Option<Nanos>,
        word: u64,
    ) -> (Nanos, Why) {
        let Some(asked) = asked else {
            return (own, Why::Backoff);
        };
        let server = match self.plan.combine {
            Combine::Max => asked,
            Combine::Spread => asked.saturating_add(spread(now, call.deadline, asked, word)),
        };
        if server > own { (server, Why::RetryAfter) } else { (own, Why::Backoff) }
    }

    /// A circuit that will still refuse at the wake ends the call before the sleep, or moves the
    /// wake to where it may be asked.
    fn past_circuit(
        &self,
        call: &Call,
        wake: Instant,
        why: Why,
        own: Nanos,
    ) -> Result<(Instant, Why), Ending> {
        if self.breaker.is_forced_open() {
            return Err(Refusal { retry_at: None, forced: true }.into());
        }
        let Some(until) = self.breaker.open_until().filter(|until| wake < *until) else {
            return Ok((wake, why));
        };
        let wake = until.after(own);
        if !self.plan.wait_for_circuit || call.is_deadline_by(wake) {
            return Err(Ending::until(Reason::CircuitOpen, until));
        }
        Ok((wake, Why::Circuit))
    }

    fn take_token(&mut self, now: Instant, call: &mut Call, kind: Kind) -> Result<(), Ending> {
        let cost = self.plan.costs.of(kind);
        let Some(budget) = &mut self.budget else {
            return Ok(());
        };
        if !budget.try_spend(now, cost) {
            return Err(Ending::of(Reason::BudgetExhausted));
        }
        call.token = Token::Held(cost);
        Ok(())
    }

    pub(super) fn sleep(
        &mut self,
        now: Instant,
        id: CallId,
        previous: CallId,
        mut call: Call,
        until: Instant,
        why: Why,
    ) -> Step {
        let wait = until.since(now);
        call.total_wait = call.total_wait.saturating_add(wait);
        self.counters.total_wait = self.counters.total_wait.saturating_add(wait);
        self.put(id, call, Stage::Waiting { until, why });
        let until = Some(self.clock.to_host(until));
        self.step(
            now,
            id,
            previous,
            Action::Wait { until, why, planned: Duration::from_nanos(wait) },
        )
    }

    /// The timer of a waiting call.
    pub(super) fn on_wake(
        &mut self,
        now: Instant,
        id: CallId,
        mut call: Call,
        until: Instant,
        why: Why,
        word: u64,
    ) -> Step {
        if call.is_deadline_by(now) {
            self.calls.remove(id);
            return self.refuse(now, id, &mut call, Ending::of(Reason::DeadlineExceeded));
        }
        if now < until {
            let until = Some(self.clock.to_host(until));
            return self.step(now, id, id, Action::Wait { until, why, planned: Duration::ZERO });
        }
        match self.breaker.peek(now) {
            Ok(()) => {
                let renewed = self.calls.renew(id);
                self.enter(now, renewed, id)
            }
            Err(refusal) => self.on_circuit_refusal(now, id, call, refusal, word),
        }
    }

    /// The circuit refuses a call that has waited. A retry may go on waiting for it.
    pub(super) fn on_circuit_refusal(
        &mut self,
        now: Instant,
        id: CallId,
        mut call: Call,
        refusal: Refusal,
        word: u64,
    ) -> Step {
        let waits = self.plan.wait_for_circuit && call.attempts > 0 && !refusal.forced;
        if waits {
            let own = call.growth.draw(&self.plan.backoff, word);
            let wake = match self.breaker.open_until() {
                Some(until) => until.after(own),
                None => now.after(own.max(MILLISECOND)),
            };
            if !call.is_deadline_by(wake) {
                let renewed = self.calls.renew(id);
                return self.sleep(now, renewed, id, call, wake, Why::Circuit);
            }
        }
        self.calls.remove(id);
        self.refuse(now, id, &mut call, refusal.into())
    }
}

/// What is added to a wait that a dependency asked for, so that all who were told the same do not
/// return at once. The interval is cut at the deadline, not the value drawn from it.
fn spread(now: Instant, deadline: Limit, asked: Nanos, word: u64) -> Nanos {
    let widest = (asked / 4).max(asked.min(SECOND));
    let room = match deadline.instant() {
        None => widest,
        Some(deadline) => deadline.since(now).saturating_sub(1).saturating_sub(asked),
    };
    uniform(word, 0, widest.min(room))
}
