//! The circuit breaker.

use alloc::vec::Vec;

use crate::classify::Verdict;
use crate::jitter::{swapped, uniform};
use crate::step::{Change, ChangeCause, Circuit, Control, stable_enum};
use crate::time::{Instant, MILLISECOND, Nanos, grown};
use crate::window::{Counts, FailureTimes, Window};

stable_enum! {
    /// What the breaker admits and counts.
    Scope {
        /// Every attempt.
        Attempt = 0 "attempt",
        /// Whole calls.
        Call = 1 "call",
    }
}

/// The largest number of failures whose times are kept.
pub(crate) const MAX_FAILURE_THRESHOLD: u64 = 1_024;

/// Figures in nanoseconds and thousandths; a rule that is off is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    pub rolling_window: Nanos,
    pub failure_rate: Option<u64>,
    pub minimum_calls: u64,
    pub no_success_failures: Option<u64>,
    pub failure_threshold: Option<u64>,
    pub consecutive_failures: Option<u64>,
    pub slow_call_rate: Option<u64>,
    pub slow_call_duration: Option<Nanos>,
    pub open_duration: Nanos,
    pub open_jitter: bool,
    pub open_growth: u64,
    pub open_cap: Nanos,
    pub honor_retry_after: bool,
    pub retry_after_max: Nanos,
    pub probes: usize,
    pub success_threshold: u64,
    pub probe_lease: Nanos,
    pub count_throttled: bool,
}

impl Config {
    /// A circuit that only a person opens.
    pub fn without_rules(self) -> Self {
        Self {
            failure_rate: None,
            no_success_failures: None,
            failure_threshold: None,
            consecutive_failures: None,
            slow_call_rate: None,
            ..self
        }
    }
}

/// Proof that the breaker let an attempt go; to be given back with its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission {
    generation: u64,
    admitted: Instant,
    lease: Option<Instant>,
}

impl Admission {
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

#[derive(Clone, Debug)]
enum State {
    Closed { run: u64, last_failure: Instant },
    Open { until: Instant },
    HalfOpen { leases: Vec<Instant>, successes: u64 },
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
    spare: Vec<Instant>,
}

const CLOSED: State = State::Closed { run: 0, last_failure: Instant::ORIGIN };

impl CircuitBreaker {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            state: CLOSED,
            generation: 1,
            refuses_nobody: false,
            openings: 0,
            window: Window::new(config.rolling_window),
            failure_times: config.failure_threshold.map(|n| FailureTimes::new(n as usize)),
            spare: Vec::with_capacity(config.probes),
            config,
        }
    }

    /// Would an attempt be let go at `now`? Changes nothing.
    #[inline]
    pub fn peek(&self, now: Instant) -> Result<(), Refusal> {
        if self.refuses_nobody {
            return Ok(());
        }
        match &self.state {
            State::Closed { .. } | State::ForcedClosed => Ok(()),
            State::ForcedOpen => Err(Refusal { retry_at: None, forced: true }),
            State::Open { until } if now < *until => Err(Refusal::until(*until)),
            State::Open { .. } => Ok(()),
            State::HalfOpen { leases, .. } => match self.earliest_full_lease(leases, now) {
                Some(lease) => Err(Refusal::until(lease)),
                None => Ok(()),
            },
        }
    }

    /// Lets an attempt go, or says when to come back. A circuit whose open time has passed turns
    /// half-open by it.
    pub fn admit(&mut self, now: Instant) -> Result<(Admission, Option<Change>), Refusal> {
        self.peek(now)?;
        Ok(self.admit_after_peek(now))
    }

    /// [`admit`](Self::admit) for somebody who has just [peeked](Self::peek).
    #[inline]
    pub(crate) fn admit_after_peek(&mut self, now: Instant) -> (Admission, Option<Change>) {
        let (mut change, mut lease) = (None, None);
        if !matches!(self.state, State::Closed { .. }) {
            change = self.end_open_time(now);
            lease = self.take_probe_slot(now);
        }
        (Admission { generation: self.generation, admitted: now, lease }, change)
    }

    /// An admitted attempt ended. `word` is a fresh random number; it spreads the open time.
    #[inline(always)]
    pub fn on_result(
        &mut self,
        now: Instant,
        admission: Admission,
        report: Report,
        word: u64,
    ) -> Option<Change> {
        if !self.is_current(&admission) {
            return None;
        }
        let slow = self.is_slow(now.since(admission.admitted));
        match (&self.state, report.verdict) {
            (State::Closed { .. }, Verdict::Healthy) => self.on_healthy(now, slow, word),
            (State::Closed { .. }, Verdict::Failure) => self.on_failure(now, slow, report, word),
            (State::HalfOpen { .. }, _) => self.on_probe_result(now, admission, slow, report, word),
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
            Control::MetricsOnly | Control::Reset => CLOSED,
        });
        self.clear();
        let to = self.circuit(now);
        (from != to).then_some(Change { from, to, cause: ChangeCause::Manual })
    }

    /// The state as seen from outside: open until the open time has passed, then half-open.
    pub fn circuit(&self, now: Instant) -> Circuit {
        match &self.state {
            State::Closed { .. } => Circuit::Closed,
            State::Open { until } if now < *until => Circuit::Open,
            State::Open { .. } | State::HalfOpen { .. } => Circuit::HalfOpen,
            State::ForcedOpen => Circuit::ForcedOpen,
            State::ForcedClosed => Circuit::ForcedClosed,
        }
    }

    /// Does the admission still belong to the present generation?
    #[inline]
    pub fn is_current(&self, admission: &Admission) -> bool {
        admission.generation == self.generation
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
        match &mut self.state {
            State::Closed { last_failure, .. } => last_failure.rebase(by),
            State::Open { until } => until.rebase(by),
            State::HalfOpen { leases, .. } => leases.iter_mut().for_each(|lease| lease.rebase(by)),
            State::ForcedOpen | State::ForcedClosed => {}
        }
        self.window.rebase();
        if let Some(times) = &mut self.failure_times {
            times.rebase(by);
        }
    }

    #[inline(always)]
    fn on_healthy(&mut self, now: Instant, slow: bool, word: u64) -> Option<Change> {
        let counts = self.window.record(now, false, slow);
        if let State::Closed { run, .. } = &mut self.state {
            *run = 0;
        }
        let cause = self.rate_met(counts)?;
        Some(self.open(now, cause, None, word))
    }

    #[cold]
    fn on_failure(
        &mut self,
        now: Instant,
        slow: bool,
        report: Report,
        word: u64,
    ) -> Option<Change> {
        let counts = self.window.record(now, true, slow);
        let run = self.extend_run(now);
        let window = self.config.rolling_window;
        let crowded =
            self.failure_times.as_mut().is_some_and(|times| times.on_failure(now, window));
        let reached = |rule: Option<u64>, count: u64| rule.is_some_and(|limit| count >= limit);
        let cause = if crowded {
            ChangeCause::FailureThreshold
        } else if reached(self.config.consecutive_failures, run) {
            ChangeCause::ConsecutiveFailures
        } else if counts.failures == counts.total
            && reached(self.config.no_success_failures, counts.failures)
        {
            ChangeCause::NoSuccess
        } else {
            self.rate_met(counts)?
        };
        Some(self.open(now, cause, report.retry_after_ms, word))
    }

    fn extend_run(&mut self, now: Instant) -> u64 {
        let window = self.config.rolling_window;
        let State::Closed { run, last_failure } = &mut self.state else {
            return 0;
        };
        let goes_on = now.since(*last_failure) < window;
        *run = if goes_on { run.saturating_add(1) } else { 1 };
        *last_failure = now;
        *run
    }

    /// The rate, if any, that has reached its limit with enough calls behind it.
    fn rate_met(&self, counts: Counts) -> Option<ChangeCause> {
        let total = counts.total;
        if counts.failures + counts.slow == 0 || total < self.config.minimum_calls {
            return None;
        }
        let met = |rate: Option<u64>, part: u64| {
            rate.is_some_and(|rate| part > 0 && part * 1_000 >= rate * total)
        };
        if met(self.config.failure_rate, counts.failures) {
            Some(ChangeCause::FailureRate)
        } else if met(self.config.slow_call_rate, counts.slow) {
            Some(ChangeCause::SlowCallRate)
        } else {
            None
        }
    }

    fn is_slow(&self, took: Nanos) -> bool {
        self.config.slow_call_rate.is_some()
            && self.config.slow_call_duration.is_some_and(|limit| took >= limit)
    }

    #[cold]
    fn on_probe_result(
        &mut self,
        now: Instant,
        admission: Admission,
        slow: bool,
        report: Report,
        word: u64,
    ) -> Option<Change> {
        let lease = admission.lease?;
        let on_lease = now < lease;
        if on_lease {
            self.give_slot_back(lease);
        }
        match report.verdict {
            Verdict::Neutral => None,
            Verdict::Healthy if !slow => self.on_probe_success(),
            _ if on_lease => {
                Some(self.open(now, ChangeCause::ProbeFailed, report.retry_after_ms, word))
            }
            _ => None,
        }
    }

    fn on_probe_success(&mut self) -> Option<Change> {
        let State::HalfOpen { successes, .. } = &mut self.state else {
            return None;
        };
        *successes += 1;
        if *successes < self.config.success_threshold {
            return None;
        }
        self.openings = 0;
        self.enter(CLOSED);
        self.clear();
        Some(Change {
            from: Circuit::HalfOpen,
            to: Circuit::Closed,
            cause: ChangeCause::ProbesSucceeded,
        })
    }

    #[cold]
    fn open(
        &mut self,
        now: Instant,
        cause: ChangeCause,
        retry_after_ms: Option<u64>,
        word: u64,
    ) -> Change {
        let from = self.circuit(now);
        let span = self.open_span(retry_after_ms, word);
        self.openings = self.openings.saturating_add(1);
        self.enter(State::Open { until: now.after(span) });
        Change { from, to: Circuit::Open, cause }
    }

    fn open_span(&self, retry_after_ms: Option<u64>, word: u64) -> Nanos {
        let span = self.grown_open_duration();
        let asked = match retry_after_ms {
            Some(millis) if self.config.honor_retry_after => {
                millis.saturating_mul(MILLISECOND).min(self.config.retry_after_max)
            }
            _ => 0,
        };
        let spread = match self.config.open_jitter {
            true => uniform(swapped(word), 0, span / 2),
            false => 0,
        };
        span.max(asked).saturating_add(spread)
    }

    fn grown_open_duration(&self) -> Nanos {
        let mut span = self.config.open_duration;
        if self.config.open_growth == 1_000 {
            return span;
        }
        for _ in 0..self.openings {
            let longer = grown(span, self.config.open_growth).min(self.config.open_cap);
            if longer == span {
                break;
            }
            span = longer;
        }
        span
    }

    #[cold]
    fn end_open_time(&mut self, now: Instant) -> Option<Change> {
        let State::Open { until } = self.state else {
            return None;
        };
        if now < until {
            return None;
        }
        let leases = core::mem::take(&mut self.spare);
        self.enter(State::HalfOpen { leases, successes: 0 });
        let (from, to) = (Circuit::Open, Circuit::HalfOpen);
        Some(Change { from, to, cause: ChangeCause::OpenTimeOver })
    }

    fn enter(&mut self, state: State) {
        self.generation += 1;
        let left = core::mem::replace(&mut self.state, state);
        if let State::HalfOpen { mut leases, .. } = left {
            leases.clear();
            self.spare = leases;
        }
    }

    fn clear(&mut self) {
        self.window.clear();
        if let Some(times) = &mut self.failure_times {
            times.clear();
        }
    }

    /// The end of the earliest lease if every probe slot is taken at `now`.
    fn earliest_full_lease(&self, leases: &[Instant], now: Instant) -> Option<Instant> {
        // Leases are equally long, so they end in the order in which they were given.
        let ended = leases.partition_point(|lease| *lease <= now);
        (leases.len() - ended >= self.config.probes).then(|| leases[ended])
    }

    #[cold]
    fn take_probe_slot(&mut self, now: Instant) -> Option<Instant> {
        let State::HalfOpen { leases, .. } = &mut self.state else {
            return None;
        };
        leases.retain(|lease| now < *lease);
        // Only a breaker that refuses nobody comes here with all slots taken.
        if leases.len() >= self.config.probes {
            return None;
        }
        let lease = now.after(self.config.probe_lease);
        leases.push(lease);
        Some(lease)
    }

    fn give_slot_back(&mut self, lease: Instant) {
        if let State::HalfOpen { leases, .. } = &mut self.state
            && let Some(place) = leases.iter().position(|held| *held == lease)
        {
            leases.remove(place);
        }
    }
}

impl Refusal {
    const fn until(instant: Instant) -> Self {
        Self { retry_at: Some(instant), forced: false }
    }
}
