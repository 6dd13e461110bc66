//! The engine: the only place that knows the order of the policies.
//!
//! deadline > retry loop { breaker gate > bulkhead > attempt with timeout = min(attempt timeout,
//! time left) }

mod call;
mod gate;
mod queue;
mod retry;
mod settle;
#[cfg(feature = "proof")]
mod state;

use alloc::string::String;

use self::call::{Call, Entry, Stage, Token};
use crate::backoff::Growth;
use crate::breaker::CircuitBreaker;
use crate::budget::RetryBudget;
use crate::bulkhead::Bulkhead;
use crate::error::PolicyError;
use crate::fifo::Fifo;
use crate::policy::{Plan, Policy};
use crate::slots::Slots;
use crate::snapshot::{Counters, Snapshot};
use crate::step::{
    Action, CallId, Change, Control, Decision, Event, Outcome, Reason, Request, Safety, Step,
};
use crate::time::{Clock, Instant, Limit, Nanos};

/// Decides for all calls to one dependency. The [crate's front page](crate) shows the run loop.
///
/// The same policy and the same inputs give the same steps, bit for bit, on every target. No input
/// makes it panic: an id that names nothing gets [`Action::Stale`], a clock that steps back takes
/// no time, a garbage instant is survived.
#[derive(Clone, Debug)]
pub struct Engine {
    plan: Plan,
    clock: Clock,
    breaker: CircuitBreaker,
    budget: Option<RetryBudget>,
    bulkhead: Bulkhead,
    calls: Slots<Entry>,
    /// Attempts left behind, in the order in which their leases end.
    abandoned: Fifo,
    counters: Counters,
    change: Option<Change>,
}

/// Why a call ends.
#[derive(Clone, Copy, Debug)]
struct Ending {
    reason: Reason,
    retry_at: Option<Instant>,
    forced: bool,
}

impl Ending {
    const fn of(reason: Reason) -> Self {
        Self { reason, retry_at: None, forced: false }
    }

    const fn until(reason: Reason, retry_at: Instant) -> Self {
        Self { reason, retry_at: Some(retry_at), forced: false }
    }
}

impl Engine {
    /// An engine for one dependency.
    ///
    /// # Errors
    ///
    /// The first figure of the policy that cannot be.
    pub fn new(policy: &Policy) -> Result<Self, PolicyError> {
        let plan = policy.plan()?;
        Ok(Self {
            clock: Clock::default(),
            breaker: CircuitBreaker::new(plan.breaker),
            budget: plan.budget.map(RetryBudget::new),
            bulkhead: Bulkhead::new(plan.bulkhead),
            calls: Slots::new(plan.max_calls),
            abandoned: Fifo::default(),
            counters: Counters::default(),
            change: None,
            plan,
        })
    }

    /// A new call. Cancelled, past its deadline, refused by the circuit, by the bulkhead: in this
    /// order; else its first attempt starts or it stands in the queue.
    pub fn start(&mut self, now: Instant, request: Request) -> Step {
        let now = self.on_time(now);
        self.counters.calls += 1;
        let mut deadline = Limit::after(now, self.plan.overall_timeout);
        if let Some(callers) = request.deadline {
            deadline = deadline.min(Limit::at(self.clock.from_host(callers)));
        }
        let mut call = Call {
            safety: request.safety,
            deadline,
            attempts: 0,
            growth: Growth::new(&self.plan.backoff),
            last_kind: None,
            last_status: 0,
            total_wait: 0,
            token: Token::None,
            retried_once: false,
            pass: None,
        };
        if request.cancelled {
            return self.finish(now, CallId::NONE, &mut call, Ending::of(Reason::Cancelled));
        }
        if let Some(budget) = &mut self.budget {
            budget.on_call(now);
        }
        if call.is_deadline_by(now) {
            return self.refuse(now, CallId::NONE, &mut call, Ending::of(Reason::DeadlineExceeded));
        }
        match self.breaker.peek(now) {
            Ok(()) => self.enter_new(now, call),
            Err(refusal) => self.refuse(now, CallId::NONE, &mut call, refusal.into()),
        }
    }

    /// Something happened to the call that `id` names. `word` is a fresh random number.
    pub fn on_event(&mut self, now: Instant, id: CallId, event: Event, word: u64) -> Step {
        let now = self.on_time(now);
        let Some(entry) = self.calls.get(id) else { return self.stale(now, id, false) };
        let (call, stage) = match *entry {
            Entry::Live { call, stage } => (call, stage),
            Entry::Abandoned { holds_permit, .. } => {
                return match event {
                    Event::Settled(_) => self.on_late_result(now, id, holds_permit),
                    Event::Elapsed | Event::Cancelled => self.stale(now, id, false),
                };
            }
        };
        match (event, stage) {
            (Event::Settled(outcome), Stage::Running { .. }) => {
                self.on_settled(now, id, call, outcome, word)
            }
            (Event::Settled(_), _) => self.stale(now, id, false),
            (Event::Elapsed, Stage::Running { until }) => {
                self.on_attempt_timer(now, id, call, until, word)
            }
            (Event::Elapsed, Stage::Queued { until }) => self.on_queue_timer(now, id, call, until),
            (Event::Elapsed, Stage::Waiting { until, why }) => {
                self.on_wake(now, id, call, until, why, word)
            }
            (Event::Cancelled, stage) => self.on_cancelled(now, id, call, stage, word),
        }
    }

    /// When [`poll_ready`](Self::poll_ready) may yield something without a further event; never
    /// without an instant. Every step says so; after a poll that yields nothing it is asked here.
    pub fn poll_at(&self, now: Instant) -> Option<Instant> {
        self.next_poll(self.clock.peek(now))
    }

    /// An order to the circuit. The step names no call.
    pub fn control(&mut self, now: Instant, control: Control) -> Step {
        let now = self.on_time(now);
        self.change = self.breaker.on_control(now, control);
        self.stale(now, CallId::NONE, false)
    }

    /// How the client stands at `now`. Changes nothing.
    pub fn snapshot(&self, now: Instant) -> Snapshot {
        let now = self.clock.peek(now);
        let ended = self.ended_leases(now);
        Snapshot {
            counters: self.counters.clone(),
            circuit: self.breaker.circuit(now),
            open_until: self
                .breaker
                .open_until()
                .filter(|until| now < *until)
                .map(|until| self.clock.to_host(until)),
            tokens: self.budget.as_ref().map(|budget| budget.level(now)),
            capacity: self.budget.as_ref().map(|budget| budget.capacity(now)),
            running: self.bulkhead.running() - ended.1,
            queued: self.bulkhead.queued(),
            abandoned: self.abandoned.len() - ended.0,
        }
    }

    /// What an answer with this HTTP status is, by the policy's table.
    pub fn classify(&self, status: u16, retry_after_ms: Option<u64>, safety: Safety) -> Outcome {
        self.plan.statuses.classify(status, retry_after_ms, safety)
    }

    /// The safety of an operation that nothing else is known of.
    pub fn default_safety(&self) -> Safety {
        self.plan.safety
    }

    /// One plain sentence that says why a call ended as it did, the same in all hosts.
    pub fn explain(&self, decision: &Decision, name: &str) -> String {
        crate::explain::explain(&self.plan, decision, name)
    }

    /// Reads the clock and lets end by time what ends by time.
    #[inline(always)]
    fn on_time(&mut self, reading: Instant) -> Instant {
        let mut now = self.clock.read(reading);
        if let Some(by) = self.clock.wind_back() {
            now = self.rebase(by, reading);
        }
        if !self.abandoned.is_empty() {
            self.end_leases(now);
        }
        now
    }

    #[cold]
    fn rebase(&mut self, by: Nanos, reading: Instant) -> Instant {
        self.breaker.rebase(by);
        self.budget.iter_mut().for_each(|budget| budget.rebase(by));
        self.calls.iter_mut().for_each(|entry| entry.rebase(by));
        self.clock.peek(reading)
    }

    /// The call is over, and its slot has been given up.
    #[inline(always)]
    fn finish(&mut self, now: Instant, id: CallId, call: &mut Call, ending: Ending) -> Step {
        if let Token::Held(cost) = call.token {
            self.give_back_unsent(now, call, cost);
        }
        let decision = Decision {
            reason: ending.reason,
            attempts: call.attempts,
            last_kind: call.last_kind,
            last_status: call.last_status,
            at: self.clock.to_host(now),
            retry_at: ending.retry_at.map(|instant| self.clock.to_host(instant)),
            forced: ending.forced,
            total_wait: call.total_wait,
            tokens: self.budget.as_ref().map(|budget| budget.level(now)),
        };
        self.step(now, id, id, Action::Finish(decision))
    }

    #[inline]
    fn host_limit(&self, limit: Limit) -> Option<Instant> {
        limit.instant().map(|instant| self.clock.to_host(instant))
    }

    #[inline(always)]
    fn next_poll(&self, now: Instant) -> Option<Instant> {
        self.bulkhead.first()?;
        self.ready_at(now).map(|instant| self.clock.to_host(instant))
    }

    fn stale(&mut self, now: Instant, id: CallId, late: bool) -> Step {
        self.step(now, id, id, Action::Stale { late })
    }

    #[inline(always)]
    fn step(&mut self, now: Instant, call: CallId, previous: CallId, action: Action) -> Step {
        let poll_at = self.next_poll(now);
        Step { call, previous, action, poll_at, circuit: self.change.take() }
    }
}
