//! Once more, or not? And when (O3, O6)?

use std::time::Duration;

use stormproof::step::{Outcome, Why};
use stormproof::{Action, Reason};

use crate::breaker::{Refusal, Verdict};
use crate::history::{Attempt, Phase, Wait};
use crate::model::Model;
use crate::time::{MILLISECOND, Time};
use crate::{class, delay};

impl Model {
    /// O6: the first that holds ends the call.
    pub(crate) fn on_failure(
        &mut self,
        call: usize,
        attempt: usize,
        outcome: Outcome,
        word: u64,
    ) -> Action {
        let verdict = class::verdict(&self.settings, &outcome);
        self.on_life(attempt, &outcome);
        if !self.settings.scope_call {
            self.report(call, attempt, verdict, asked(&outcome), word);
        }
        match self.plan_retry(call, attempt, &outcome, word) {
            Ok(wait) => self.sleep(wait),
            Err((reason, refusal)) => {
                // O4: a final refusal is neutral.
                let verdict = if reason.is_own_error() { Verdict::Neutral } else { verdict };
                if self.settings.scope_call {
                    self.report(call, attempt, verdict, asked(&outcome), word);
                }
                self.finish(call, reason, refusal)
            }
        }
    }

    pub(crate) fn plan_retry(
        &mut self,
        call: usize,
        attempt: usize,
        outcome: &Outcome,
        word: u64,
    ) -> Result<Wait, (Reason, Option<Refusal>)> {
        let (settings, now) = (&self.settings, self.clock.now);
        let deadline = self.calls[call].deadline;
        if !class::is_repeatable(settings, outcome, self.calls[call].safety) {
            return Err((Reason::UnsafeToRetry, None));
        }
        let is_probing = settings.scope_call
            && self.attempts[attempt].admission.is_some_and(|it| it.probe.is_some());
        if self.sent(call) >= settings.max_attempts || is_probing || self.misdirected(call) > 1 {
            return Err((Reason::AttemptsExhausted, None));
        }
        let asked = asked(outcome);
        if let Some(asked) = asked.filter(|asked| *asked > settings.retry_after_max) {
            return Err((
                Reason::RetryAfterTooLong,
                Some(promise((now + asked).min(self.clock.last()))),
            ));
        }
        let own = delay::own(settings, self.sent(call), self.calls[call].previous, word);
        let theirs = asked.map_or(0, |asked| delay::asked(settings, asked, now, deadline, word));
        let until = now + own.max(theirs);
        let why = if theirs > own { Why::RetryAfter } else { Why::Backoff };
        if deadline.is_some_and(|deadline| deadline <= until) {
            return Err((Reason::DeadlineTooNear, Some(promise(until))));
        }
        let mut wait = Wait { call, at: now, until, why, own, asked, circuit: None };
        if let Some(refusal) = self.breaker.refusal(settings, now)
            && refusal.open
            && refusal.promised.is_none_or(|promised| promised > until)
        {
            // O3.
            wait =
                self.wait_for_circuit(wait, refusal).ok_or((Reason::CircuitOpen, Some(refusal)))?;
        }
        let cost = class::cost(settings, outcome.kind);
        if !self.budget.take(settings, &self.clock, cost) {
            return Err((Reason::BudgetExhausted, None));
        }
        self.calls[call].token = Some(cost);
        Ok(wait)
    }

    /// O3: the same wait, stretched until the circuit may be asked; none if that cannot be.
    pub(crate) fn wait_for_circuit(&self, mut wait: Wait, refusal: Refusal) -> Option<Wait> {
        let promised = refusal.promised.filter(|_| self.settings.wait_for_circuit)?;
        wait.why = Why::Circuit;
        wait.until = if refusal.open {
            wait.circuit = Some(promised);
            promised + wait.own
        } else {
            wait.at + wait.own.max(MILLISECOND)
        };
        let deadline = self.calls[wait.call].deadline;
        deadline.is_none_or(|deadline| wait.until < deadline).then_some(wait)
    }

    /// O3: the circuit refuses one who would go now.
    pub(crate) fn on_refused(&mut self, call: usize, refusal: Refusal, word: u64) -> Action {
        let retries = self.sent(call);
        if retries > 0 {
            let own = delay::own(&self.settings, retries, self.calls[call].previous, word);
            let (at, why) = (self.clock.now, Why::Circuit);
            let wait = Wait { call, at, until: at, why, own, asked: None, circuit: None };
            if let Some(wait) = self.wait_for_circuit(wait, refusal) {
                return self.sleep(wait);
            }
        }
        self.finish_unsent(call, Reason::CircuitOpen, Some(refusal), word)
    }

    pub(crate) fn sleep(&mut self, wait: Wait) -> Action {
        self.waits.push(wait);
        self.calls[wait.call].previous = wait.own;
        self.renew(wait.call, Phase::Wait { until: wait.until, why: wait.why });
        let planned = Duration::from_nanos((wait.until - wait.at) as u64);
        Action::Wait { until: Some(self.clock.host(wait.until)), why: wait.why, planned }
    }

    pub(crate) fn waits_of(&self, call: usize) -> impl Iterator<Item = &Wait> {
        self.waits.iter().filter(move |wait| wait.call == call)
    }

    /// How many attempts of the call were started.
    pub(crate) fn sent(&self, call: usize) -> u32 {
        self.attempts.iter().filter(|attempt| attempt.call == call).count() as u32
    }

    /// C2: how often the call was told 421 or 425.
    pub(crate) fn misdirected(&self, call: usize) -> usize {
        let told = |attempt: &&Attempt| {
            attempt.call == call && attempt.outcome.as_ref().is_some_and(class::is_misdirected)
        };
        self.attempts.iter().filter(told).count()
    }
}

/// Nanoseconds that were asked for; B6: "never" where they do not fit.
pub(crate) fn asked(outcome: &Outcome) -> Option<Time> {
    let asked = |millis| (Time::from(millis) * MILLISECOND).min(Time::from(u64::MAX));
    outcome.retry_after_ms.map(asked)
}

/// When it makes sense to come back, where no circuit is in the way.
fn promise(at: Time) -> Refusal {
    Refusal { promised: Some(at), open: false, forced: false }
}
