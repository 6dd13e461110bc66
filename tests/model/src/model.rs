//! The order of things inside a call (section 4) and the contract of the engine (section 2).

use std::time::Duration;

use stormproof::step::{Change, Control, Kind, Outcome, Why};
use stormproof::time::Instant;
use stormproof::{Action, Decision, Event, Reason, Request};

use crate::breaker::{Breaker, Refusal, Verdict};
use crate::budget::Budget;
use crate::history::{Attempt, Call, Phase, Wait};
use crate::settings::Settings;
use crate::time::{Clock, MILLISECOND, Time};
use crate::{class, delay};

/// What the host says.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Input {
    Start(Request),
    /// Under an id of the model.
    Event(u64, Event),
    Poll,
    Control(Control),
}

/// The step of the core, with the ids of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Answer {
    pub call: u64,
    pub previous: u64,
    pub action: Action,
    pub poll_at: Option<Instant>,
    pub circuit: Option<Change>,
}

/// The whole engine: its settings and all that happened.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Model {
    pub settings: Settings,
    pub clock: Clock,
    pub calls: Vec<Call>,
    pub attempts: Vec<Attempt>,
    pub waits: Vec<Wait>,
    /// H2: the places of the waiting calls, first in, first out.
    pub queue: Vec<usize>,
    pub breaker: Breaker,
    pub budget: Budget,
    /// The ids given out so far are 1 to this.
    pub ids: u64,
    change: Option<Change>,
}

impl Model {
    /// Nothing has happened.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            clock: Clock::default(),
            calls: Vec::new(),
            attempts: Vec::new(),
            waits: Vec::new(),
            queue: Vec::new(),
            breaker: Breaker::default(),
            budget: Budget::default(),
            ids: 0,
            change: None,
        }
    }

    /// E2: one input, one answer; only a poll may have none.
    pub fn step(&mut self, reading: Instant, input: Input, word: u64) -> Option<Answer> {
        self.clock.read(reading);
        self.clock.wind_back();
        self.change = None;
        let (call, previous, action) = match input {
            Input::Start(request) => self.on_start(request),
            Input::Event(id, event) => self.on_event(id, event, word),
            Input::Poll => self.poll(word)?,
            Input::Control(control) => {
                self.change = self.breaker.on_control(control, self.clock.now);
                (0, 0, Action::Stale { late: false })
            }
        };
        Some(Answer { call, previous, action, poll_at: self.poll_at(), circuit: self.change })
    }

    fn on_start(&mut self, request: Request) -> (u64, u64, Action) {
        let own = self.settings.overall_timeout.map(|span| self.clock.now + span);
        let callers = request.deadline.and_then(|deadline| self.clock.engine(deadline));
        self.calls.push(Call {
            id: 0,
            safety: request.safety,
            deadline: earlier(own, callers),
            phase: Phase::Over,
            admission: None,
            token: None,
            previous: self.settings.base,
            finishes: Vec::new(),
        });
        let call = self.calls.len() - 1;
        let action = if request.cancelled {
            // E9, T2.
            self.finish(call, Reason::Cancelled, None)
        } else {
            self.budget.on_start(self.clock.now);
            self.try_to_go(call, 0)
        };
        (self.calls[call].id, 0, action)
    }

    fn on_event(&mut self, id: u64, event: Event, word: u64) -> (u64, u64, Action) {
        let live = |call: &Call| call.id == id && call.phase != Phase::Over;
        let Some(call) = self.calls.iter().position(live) else {
            return (id, id, self.on_stale(id, event));
        };
        let action = match (self.calls[call].phase, event) {
            (Phase::Attempt(attempt), Event::Settled(outcome)) => {
                self.on_settled(call, attempt, outcome, word)
            }
            (_, Event::Settled(_)) => Action::Stale { late: false },
            (Phase::Attempt(attempt), Event::Elapsed) => self.on_attempt_timer(call, attempt, word),
            (Phase::Attempt(attempt), Event::Cancelled) => {
                self.end_attempt(attempt, Kind::Cancelled, true);
                self.report(call, attempt, Verdict::Neutral, None, word);
                self.finish(call, Reason::Cancelled, None)
            }
            (_, Event::Cancelled) => self.finish_unsent(call, Reason::Cancelled, None, word),
            (_, Event::Elapsed) => self.on_timer(call, word),
        };
        (self.calls[call].id, id, action)
    }

    /// E4: the result of an abandoned attempt, or nothing at all.
    fn on_stale(&mut self, id: u64, event: Event) -> Action {
        let (settings, now) = (&self.settings, self.clock.now);
        let is_it =
            |attempt: &&mut Attempt| attempt.id == id && attempt.is_left_behind(settings, now);
        match (event, self.attempts.iter_mut().find(is_it)) {
            (Event::Settled(_), Some(attempt)) => {
                attempt.late = Some(now);
                Action::Stale { late: true }
            }
            _ => Action::Stale { late: false },
        }
    }

    /// O1: deadline, circuit, bulkhead. Cancelled is an event of its own.
    fn try_to_go(&mut self, call: usize, word: u64) -> Action {
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

    fn queue_action(&self, call: usize, until: Option<Time>) -> Action {
        let until = earlier(until, self.calls[call].deadline);
        Action::Queue { until: until.map(|until| self.clock.host(until)) }
    }

    fn start_attempt(&mut self, call: usize) -> Action {
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

    /// E5: the timer of a running attempt.
    fn on_attempt_timer(&mut self, call: usize, attempt: usize, word: u64) -> Action {
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
    fn on_timer(&mut self, call: usize, word: u64) -> Action {
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

    /// H2: why a place in the queue is lost by now; the deadline wins.
    fn lost_place(&self, call: usize, until: Option<Time>) -> Option<Reason> {
        let passed = |limit: Option<Time>| limit.is_some_and(|limit| limit <= self.clock.now);
        if passed(self.calls[call].deadline) {
            return Some(Reason::DeadlineExceeded);
        }
        passed(until).then_some(Reason::QueueTimeout)
    }

    fn on_settled(&mut self, call: usize, attempt: usize, outcome: Outcome, word: u64) -> Action {
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
    fn on_life(&mut self, attempt: usize, outcome: &Outcome) {
        if class::shows_life(outcome)
            && let Some(token) = self.attempts[attempt].token.take()
        {
            self.budget.add(self.clock.now, token);
        }
    }

    /// O6: the first that holds ends the call.
    fn on_failure(&mut self, call: usize, attempt: usize, outcome: Outcome, word: u64) -> Action {
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

    fn plan_retry(
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
    fn wait_for_circuit(&self, mut wait: Wait, refusal: Refusal) -> Option<Wait> {
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
    fn on_refused(&mut self, call: usize, refusal: Refusal, word: u64) -> Action {
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

    fn sleep(&mut self, wait: Wait) -> Action {
        self.waits.push(wait);
        self.calls[wait.call].previous = wait.own;
        self.renew(wait.call, Phase::Wait { until: wait.until, why: wait.why });
        let planned = Duration::from_nanos((wait.until - wait.at) as u64);
        Action::Wait { until: Some(self.clock.host(wait.until)), why: wait.why, planned }
    }

    /// E2, H2, O7: the first waiter's turn, if it has come.
    fn poll(&mut self, word: u64) -> Option<(u64, u64, Action)> {
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
    fn poll_at(&self) -> Option<Instant> {
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

    /// E4: a new phase, a new id.
    fn renew(&mut self, call: usize, phase: Phase) {
        if !matches!(phase, Phase::Queue { .. }) {
            self.queue.retain(|waiter| *waiter != call);
        }
        self.ids += 1;
        self.calls[call].id = self.ids;
        self.calls[call].phase = phase;
    }

    /// The call is done with an attempt, whose operation may still run if it is abandoned.
    fn end_attempt(&mut self, attempt: usize, kind: Kind, abandoned: bool) {
        self.attempts[attempt].ended = Some((self.clock.now, kind));
        self.attempts[attempt].abandoned = abandoned;
    }

    /// K4: reports an attempt to the breaker, or with scope `call` the call.
    fn report(
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
    fn finish_unsent(
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

    fn finish(&mut self, call: usize, reason: Reason, refusal: Option<Refusal>) -> Action {
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

    fn waits_of(&self, call: usize) -> impl Iterator<Item = &Wait> {
        self.waits.iter().filter(move |wait| wait.call == call)
    }

    /// How many attempts of the call were started.
    fn sent(&self, call: usize) -> u32 {
        self.attempts.iter().filter(|attempt| attempt.call == call).count() as u32
    }

    /// C2: how often the call was told 421 or 425.
    fn misdirected(&self, call: usize) -> usize {
        let told = |attempt: &&Attempt| {
            attempt.call == call && attempt.outcome.as_ref().is_some_and(class::is_misdirected)
        };
        self.attempts.iter().filter(told).count()
    }

    /// H1: the permits that are out.
    pub fn permits(&self, now: Time) -> usize {
        self.attempts.iter().filter(|attempt| attempt.has_permit(&self.settings, now)).count()
    }

    fn is_permit_free(&self) -> bool {
        let most = self.settings.max_concurrent;
        most.is_none_or(|most| self.permits(self.clock.now) < most as usize)
    }

    /// H4: the attempts whose operation may still run although their call is past them.
    pub fn abandoned(&self, now: Time) -> usize {
        let left = |attempt: &&Attempt| attempt.is_left_behind(&self.settings, now);
        self.attempts.iter().filter(left).count()
    }

    /// `maxCalls`: the calls under way, abandoned attempts included.
    fn table(&self) -> usize {
        let live =
            self.calls.iter().filter(|call| call.phase != Phase::Over && call.id != 0).count();
        live + self.abandoned(self.clock.now)
    }
}

/// Nanoseconds that were asked for; B6: "never" where they do not fit.
fn asked(outcome: &Outcome) -> Option<Time> {
    let asked = |millis| (Time::from(millis) * MILLISECOND).min(Time::from(u64::MAX));
    outcome.retry_after_ms.map(asked)
}

fn promise(at: Time) -> Refusal {
    Refusal { promised: Some(at), open: false, forced: false }
}

fn earlier(a: Option<Time>, b: Option<Time>) -> Option<Time> {
    a.into_iter().chain(b).min()
}

/// A sum of nanoseconds as the core shows it.
pub fn saturated(nanos: Time) -> u64 {
    u64::try_from(nanos).unwrap_or(u64::MAX)
}
