//! The contract of the engine (section 2): one input, one answer.

use stormproof::step::{Change, Kind};
use stormproof::time::Instant;
use stormproof::{Action, Control, Event, Reason, Request};

use crate::breaker::{Breaker, Verdict};
use crate::budget::Budget;
use crate::history::{Attempt, Call, Phase, Wait};
use crate::settings::Settings;
use crate::time::{Clock, Time};

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
    pub(crate) change: Option<Change>,
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

    /// E4: a new phase, a new id.
    pub(crate) fn renew(&mut self, call: usize, phase: Phase) {
        if !matches!(phase, Phase::Queue { .. }) {
            self.queue.retain(|waiter| *waiter != call);
        }
        self.ids += 1;
        self.calls[call].id = self.ids;
        self.calls[call].phase = phase;
    }
}

/// The earlier of two limits, where there are any.
pub(crate) fn earlier(a: Option<Time>, b: Option<Time>) -> Option<Time> {
    a.into_iter().chain(b).min()
}

/// A sum of nanoseconds as the core shows it.
pub fn saturated(nanos: Time) -> u64 {
    u64::try_from(nanos).unwrap_or(u64::MAX)
}
