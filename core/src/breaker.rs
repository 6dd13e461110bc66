//! The circuit breaker.

mod closed;
mod config;
mod half_open;
mod open;
#[cfg(feature = "proof")]
mod state;

use alloc::vec::Vec;

use crate::classify::Verdict;
use crate::step::{Change, ChangeCause, Circuit, Control, stable_enum};
use crate::time::{Instant, Nanos};
use crate::window::{FailureTimes, Window};

pub(crate) use config::{Config, MAX_FAILURE_THRESHOLD};

stable_enum! {
    /// What the breaker admits and counts.
    Scope {
        /// Every attempt.
        Attempt = 0 "attempt",
        /// Whole calls.
        Call = 1 "call",
    }
}

/// Proof that the breaker let an attempt go; to be given back with its outcome, once.
#[derive(Debug, PartialEq, Eq)]
pub struct Admission(Pass);

impl Admission {
    /// Was the circuit half-open, so that this attempt is a probe?
    pub const fn is_probe(&self) -> bool {
        self.0.is_probe()
    }
}

/// What an [`Admission`] says, for those who keep their own books.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pass {
    generation: u64,
    admitted: Instant,
    lease: Option<Instant>,
}

impl Pass {
    pub(crate) fn rebase(&mut self, by: Nanos) {
        self.admitted.rebase(by);
        if let Some(lease) = &mut self.lease {
            lease.rebase(by);
        }
    }

    /// Was the circuit half-open, so that this attempt is a probe?
    pub const fn is_probe(&self) -> bool {
        self.lease.is_some()
    }
}

/// The circuit refuses. Says when to come back, where that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// When the circuit may be asked again; `None` where somebody forced it open.
    pub retry_at: Option<Instant>,
    /// Somebody forced it open.
    pub forced: bool,
}

/// What the outcome of an admitted attempt means to the breaker.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// What the outcome says about the dependency.
    pub verdict: Verdict,
    /// The wait that the dependency asked for with it, in milliseconds.
    pub retry_after_ms: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Closed,
    Open { until: Instant },
    HalfOpen,
    ForcedOpen,
    ForcedClosed,
}

/// A circuit breaker that late results, racing probes and idle gaps cannot fool.
///
/// Every admission carries the generation in which it was given; a report from an earlier one
/// changes nothing. Time is an argument and must not run backwards ([`Clock`](crate::time::Clock)).
///
/// ```
/// use stormproof::{Policy, breaker::Report, classify::Verdict, step::Circuit, time::Instant};
///
/// let at = Instant::from_millis;
/// let mut breaker = Policy::new().failure_threshold(1).open_jitter(false).breaker()?;
/// let admission = breaker.admit(at(0)).expect("a closed circuit admits").0;
/// let failure = Report { verdict: Verdict::Failure, retry_after_ms: None };
/// breaker.on_result(at(10), admission, failure, 0);
/// let refusal = breaker.admit(at(11)).expect_err("an open circuit refuses");
/// assert_eq!(refusal.retry_at, Some(at(5_010)));
/// assert_eq!(breaker.circuit(at(5_010)), Circuit::HalfOpen);
/// # Ok::<(), stormproof::PolicyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct CircuitBreaker {
    config: Config,
    state: State,
    generation: u64,
    refuses_nobody: bool,
    openings: u32,
    window: Window,
    failure_times: Option<FailureTimes>,
    /// Failures in a row while closed, and when the last of them came.
    run: u64,
    last_failure: Instant,
    /// While half-open: when the leases of the probes under way end, and how many succeeded.
    leases: Vec<Instant>,
    successes: u64,
}

impl CircuitBreaker {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            state: State::Closed,
            generation: 1,
            refuses_nobody: false,
            openings: 0,
            window: Window::new(config.rolling_window),
            failure_times: config.failure_threshold.map(|n| FailureTimes::new(n as usize)),
            run: 0,
            last_failure: Instant::ORIGIN,
            leases: Vec::with_capacity(config.probes),
            successes: 0,
            config,
        }
    }

    /// Would an attempt be let go at `now`? Changes nothing.
    #[inline]
    pub fn peek(&self, now: Instant) -> Result<(), Refusal> {
        if self.refuses_nobody {
            return Ok(());
        }
        match self.state {
            State::Closed | State::ForcedClosed => Ok(()),
            State::ForcedOpen => Err(Refusal { retry_at: None, forced: true }),
            State::Open { until } if now < until => Err(Refusal::until(until)),
            State::Open { .. } => Ok(()),
            State::HalfOpen => match self.earliest_full_lease(now) {
                Some(lease) => Err(Refusal::until(lease)),
                None => Ok(()),
            },
        }
    }

    /// Lets an attempt go, or says when to come back. A circuit whose open time has passed turns
    /// half-open by it.
    pub fn admit(&mut self, now: Instant) -> Result<(Admission, Option<Change>), Refusal> {
        self.peek(now)?;
        let (pass, change) = self.admit_after_peek(now);
        Ok((Admission(pass), change))
    }

    /// [`admit`](Self::admit) for somebody who has just [peeked](Self::peek).
    #[inline]
    pub(crate) fn admit_after_peek(&mut self, now: Instant) -> (Pass, Option<Change>) {
        let (mut change, mut lease) = (None, None);
        if !matches!(self.state, State::Closed) {
            change = self.end_open_time(now);
            lease = self.take_probe_slot(now);
        }
        (Pass { generation: self.generation, admitted: now, lease }, change)
    }

    /// An admitted attempt ended. `word` is a fresh random number; it spreads the open time.
    #[inline]
    pub fn on_result(
        &mut self,
        now: Instant,
        admission: Admission,
        report: Report,
        word: u64,
    ) -> Option<Change> {
        self.on_pass_result(now, admission.0, report, word)
    }

    #[inline(always)]
    pub(crate) fn on_pass_result(
        &mut self,
        now: Instant,
        pass: Pass,
        report: Report,
        word: u64,
    ) -> Option<Change> {
        if !self.is_current(&pass) {
            return None;
        }
        let slow = self.is_slow(now.since(pass.admitted));
        match (self.state, report.verdict) {
            (State::Closed, Verdict::Healthy) => self.on_healthy(now, slow, word),
            (State::Closed, Verdict::Failure) => self.on_failure(now, slow, report, word),
            (State::HalfOpen, _) => self.on_probe_result(now, pass, slow, report, word),
            _ => None,
        }
    }

    /// An order from outside. Starts a new generation with clean counters.
    pub fn on_control(&mut self, now: Instant, control: Control) -> Option<Change> {
        let from = self.circuit(now);
        self.refuses_nobody = control == Control::MetricsOnly;
        self.openings = 0;
        self.enter(match control {
            Control::ForceOpen => State::ForcedOpen,
            Control::ForceClosed => State::ForcedClosed,
            Control::MetricsOnly | Control::Reset => State::Closed,
        });
        self.clear();
        let to = self.circuit(now);
        (from != to).then_some(Change { from, to, cause: ChangeCause::Manual })
    }

    /// The state as seen from outside: open until the open time has passed, then half-open.
    pub fn circuit(&self, now: Instant) -> Circuit {
        match self.state {
            State::Closed => Circuit::Closed,
            State::Open { until } if now < until => Circuit::Open,
            State::Open { .. } | State::HalfOpen => Circuit::HalfOpen,
            State::ForcedOpen => Circuit::ForcedOpen,
            State::ForcedClosed => Circuit::ForcedClosed,
        }
    }

    /// Was this pass given in the present generation?
    #[inline]
    pub(crate) fn is_current(&self, pass: &Pass) -> bool {
        pass.generation == self.generation
    }

    /// The instant before which an open circuit refuses everybody.
    pub(crate) fn open_until(&self) -> Option<Instant> {
        match self.state {
            State::Open { until } if !self.refuses_nobody => Some(until),
            _ => None,
        }
    }

    pub(crate) fn is_forced_open(&self) -> bool {
        matches!(self.state, State::ForcedOpen)
    }

    pub(crate) const fn counts_throttled(&self) -> bool {
        self.config.count_throttled
    }

    pub(crate) fn rebase(&mut self, by: Nanos) {
        if let State::Open { until } = &mut self.state {
            until.rebase(by);
        }
        self.last_failure.rebase(by);
        self.leases.iter_mut().for_each(|lease| lease.rebase(by));
        self.window.rebase();
        if let Some(times) = &mut self.failure_times {
            times.rebase(by);
        }
    }

    fn enter(&mut self, state: State) {
        self.generation += 1;
        self.state = state;
        self.leases.clear();
        self.successes = 0;
    }

    fn clear(&mut self) {
        self.run = 0;
        self.window.clear();
        if let Some(times) = &mut self.failure_times {
            times.clear();
        }
    }
}

impl Refusal {
    const fn until(instant: Instant) -> Self {
        Self { retry_at: Some(instant), forced: false }
    }
}
