//! Section 7: a list of generations, each with all that was counted in it.

use stormproof::step::{Change, ChangeCause, Circuit, Control};

use crate::delay::{grown, swapped, uniform};
use crate::settings::Settings;
use crate::time::{CENTURY, Clock, Time};

/// The state of one generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum State {
    Closed,
    Open { until: Time },
    HalfOpen,
    ForcedOpen,
    ForcedClosed,
}

/// K5: what an outcome is to the breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Verdict {
    Healthy,
    Failed,
    Neutral,
}

/// An outcome that counts.
#[derive(Clone, Copy, Debug)]
struct Seen {
    at: Time,
    failed: bool,
    slow: bool,
}

/// K3: a probe, with the end of its lease.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// When it was let go.
    pub at: Time,
    /// When its slot is free whatever happens.
    pub lease_end: Time,
    /// When it was reported.
    pub reported: Option<Time>,
    succeeded: bool,
}

/// K4: one generation.
#[derive(Clone, Debug)]
pub struct Era {
    /// The state in which it is.
    pub state: State,
    /// When it began.
    pub since: Time,
    /// The probes that were let go in it.
    pub probes: Vec<Probe>,
    seen: Vec<Seen>,
}

impl Era {
    /// K2: until when it refuses.
    pub fn until(&self) -> Option<Time> {
        match self.state {
            State::Open { until } => Some(until),
            _ => None,
        }
    }
}

/// K4: what a report has to show.
#[derive(Clone, Copy, Debug)]
pub struct Admission {
    /// The generation.
    pub era: usize,
    /// Which of its probes.
    pub probe: Option<usize>,
    /// When.
    pub at: Time,
}

/// Why one may not go now.
#[derive(Clone, Copy, Debug)]
pub struct Refusal {
    /// L12: when one may.
    pub promised: Option<Time>,
    /// The circuit itself is open, until then.
    pub open: bool,
    /// K6: by hand.
    pub forced: bool,
}

/// What was asked of the circuit so far.
#[derive(Clone, Debug)]
pub struct Breaker {
    /// All generations, the newest last.
    pub eras: Vec<Era>,
    metrics_only: bool,
}

impl Default for Breaker {
    fn default() -> Self {
        let mut breaker = Self { eras: Vec::new(), metrics_only: false };
        breaker.begin(State::Closed, 0);
        breaker
    }
}

impl Breaker {
    fn begin(&mut self, state: State, since: Time) {
        self.eras.push(Era { state, since, probes: Vec::new(), seen: Vec::new() });
    }

    fn era(&self) -> &Era {
        self.eras.last().expect("there is always a generation")
    }

    /// What is counted: the generation, its outcomes, its failures, its successful probes.
    pub fn counted(&self) -> Vec<usize> {
        let era = self.era();
        let failures = era.seen.iter().filter(|seen| seen.failed).count();
        let successes = era.probes.iter().filter(|probe| probe.succeeded).count();
        vec![self.generation(), era.seen.len(), failures, successes]
    }

    /// The number of the newest generation.
    pub fn generation(&self) -> usize {
        self.eras.len() - 1
    }

    /// K7: an open circuit whose time has passed reads half-open.
    pub fn state(&self, now: Time) -> State {
        match self.era().state {
            State::Open { until } if until <= now => State::HalfOpen,
            state => state,
        }
    }

    /// The same for the outside.
    pub fn circuit(&self, now: Time) -> Circuit {
        match self.state(now) {
            State::Closed => Circuit::Closed,
            State::Open { .. } => Circuit::Open,
            State::HalfOpen => Circuit::HalfOpen,
            State::ForcedOpen => Circuit::ForcedOpen,
            State::ForcedClosed => Circuit::ForcedClosed,
        }
    }

    /// K3, L1: the probes in flight whose leases run.
    pub fn in_flight(&self, now: Time) -> impl Iterator<Item = &Probe> {
        let holds = move |probe: &&Probe| probe.reported.is_none() && now < probe.lease_end;
        self.era().probes.iter().filter(holds)
    }

    /// O1: would one be refused now?
    pub fn refusal(&self, settings: &Settings, now: Time) -> Option<Refusal> {
        if self.metrics_only {
            return None;
        }
        match self.state(now) {
            State::Closed | State::ForcedClosed => None,
            State::ForcedOpen => Some(Refusal { promised: None, open: true, forced: true }),
            State::Open { until } => {
                Some(Refusal { promised: Some(until), open: true, forced: false })
            }
            State::HalfOpen => {
                let full = self.in_flight(now).count() >= settings.probes as usize;
                let promised = self.in_flight(now).map(|probe| probe.lease_end).min();
                full.then_some(Refusal { promised, open: false, forced: false })
            }
        }
    }

    /// K7: the open time is over when the next one comes.
    pub fn on_arrival(&mut self, now: Time) -> Option<Change> {
        let passed = matches!(self.era().state, State::Open { until } if until <= now);
        passed.then(|| {
            self.begin(State::HalfOpen, now);
            change(Circuit::Open, Circuit::HalfOpen, ChangeCause::OpenTimeOver)
        })
    }

    /// K3: lets one go, as a probe if the circuit is half-open and has a slot.
    pub fn admit(&mut self, settings: &Settings, now: Time) -> Admission {
        let mut probe = None;
        if self.era().state == State::HalfOpen
            && self.in_flight(now).count() < settings.probes as usize
        {
            let lease_end = now + settings.lease();
            let era = self.eras.last_mut().expect("there is always a generation");
            era.probes.push(Probe { at: now, lease_end, reported: None, succeeded: false });
            probe = Some(era.probes.len() - 1);
        }
        Admission { era: self.generation(), probe, at: now }
    }

    /// K1 to K5: an admission is reported.
    pub fn on_report(
        &mut self,
        settings: &Settings,
        clock: &Clock,
        admission: Admission,
        mut verdict: Verdict,
        asked: Option<Time>,
        word: u64,
    ) -> Option<Change> {
        if admission.era != self.generation() {
            return None;
        }
        let now = clock.now;
        // Reading: who is well and slow asks for no wait.
        let asked = asked.filter(|_| verdict == Verdict::Failed);
        let long = settings.slow_call_duration.is_some_and(|limit| now - admission.at >= limit);
        let slow = settings.slow_call_rate.is_some() && long;
        let era = self.eras.last_mut().expect("there is always a generation");
        match (era.state, admission.probe) {
            (State::Closed, _) if verdict != Verdict::Neutral => {
                era.seen.push(Seen { at: now, failed: verdict == Verdict::Failed, slow });
                let cause = self.met_rule(settings, clock)?;
                self.open(settings, now, asked, word);
                Some(change(Circuit::Closed, Circuit::Open, cause))
            }
            (State::HalfOpen, Some(place)) => {
                let late = now >= era.probes[place].lease_end;
                era.probes[place].reported = Some(now);
                if slow && verdict == Verdict::Healthy {
                    verdict = Verdict::Failed;
                }
                era.probes[place].succeeded = verdict == Verdict::Healthy;
                let successes = era.probes.iter().filter(|probe| probe.succeeded).count();
                if verdict == Verdict::Failed && !late {
                    self.open(settings, now, asked, word);
                    return Some(change(
                        Circuit::HalfOpen,
                        Circuit::Open,
                        ChangeCause::ProbeFailed,
                    ));
                }
                (successes >= settings.success_threshold as usize).then(|| {
                    self.begin(State::Closed, now);
                    change(Circuit::HalfOpen, Circuit::Closed, ChangeCause::ProbesSucceeded)
                })
            }
            _ => None,
        }
    }

    /// K1: the first rule that is met.
    fn met_rule(&self, settings: &Settings, clock: &Clock) -> Option<ChangeCause> {
        let (now, seen) = (clock.now, &self.era().seen);
        let length = settings.window / 10;
        let counts = |seen: &&Seen| {
            seen.at >= clock.anew && clock.slice(seen.at, length) > clock.slice(now, length) - 10
        };
        let recent: Vec<&Seen> = seen.iter().filter(counts).collect();
        let failures = recent.iter().filter(|seen| seen.failed).count();
        let slow = recent.iter().filter(|seen| seen.slow).count();
        let enough = recent.len() >= settings.minimum_calls as usize;
        let is_rate =
            |part: usize, rate: u64| enough && part as u64 * 1000 >= rate * recent.len() as u64;

        let young = |seen: &&Seen| seen.failed && now - seen.at < settings.window;
        let exact = seen.iter().filter(young).count();
        let none_healthy = failures == recent.len();
        let reached = |rule: Option<u32>, count: usize| rule.is_some_and(|n| count >= n as usize);
        // Reading: of several that are met the first of these is named.
        let rules = [
            (ChangeCause::FailureThreshold, reached(settings.failure_threshold, exact)),
            (
                ChangeCause::ConsecutiveFailures,
                reached(settings.consecutive_failures, self.run(settings)),
            ),
            (
                ChangeCause::NoSuccess,
                none_healthy && reached(settings.no_success_failures, failures),
            ),
            (
                ChangeCause::FailureRate,
                settings.failure_rate.is_some_and(|rate| is_rate(failures, rate)),
            ),
            (
                ChangeCause::SlowCallRate,
                settings.slow_call_rate.is_some_and(|rate| is_rate(slow, rate)),
            ),
        ];
        rules.iter().find(|(_, met)| *met).map(|(cause, _)| *cause)
    }

    /// K1: how many failures the run at the end has, without a gap as long as the window.
    fn run(&self, settings: &Settings) -> usize {
        let mut length = 0;
        let mut next: Option<Time> = None;
        for seen in self.era().seen.iter().rev() {
            if !seen.failed || next.is_some_and(|next| next - seen.at >= settings.window) {
                break;
            }
            length += 1;
            next = Some(seen.at);
        }
        length
    }

    /// K2.
    fn open(&mut self, settings: &Settings, now: Time, asked: Option<Time>, word: u64) {
        let automatic = |era: &&Era| matches!(era.state, State::Open { .. } | State::HalfOpen);
        let row = self.eras.iter().rev().take_while(automatic);
        let before = row.filter(|era| matches!(era.state, State::Open { .. })).count() as u32;
        // Reading: no open time grows beyond 100 years.
        let cap = settings.open_cap.unwrap_or((10 * settings.open_duration).min(CENTURY));
        let d = grown(settings.open_duration, settings.open_growth, cap, before + 1);
        let mut span = d;
        if let (true, Some(asked)) = (settings.honor_retry_after, asked) {
            span = span.max(asked.min(settings.retry_after_max));
        }
        if settings.open_jitter {
            span += uniform(0, d / 2, swapped(word));
        }
        self.begin(State::Open { until: now + span }, now);
    }

    /// K6.
    pub fn on_control(&mut self, control: Control, now: Time) -> Option<Change> {
        let from = self.circuit(now);
        self.metrics_only = control == Control::MetricsOnly;
        self.begin(
            match control {
                Control::ForceOpen => State::ForcedOpen,
                Control::ForceClosed => State::ForcedClosed,
                Control::MetricsOnly | Control::Reset => State::Closed,
            },
            now,
        );
        let to = self.circuit(now);
        (from != to).then(|| change(from, to, ChangeCause::Manual))
    }
}

fn change(from: Circuit, to: Circuit, cause: ChangeCause) -> Change {
    Change { from, to, cause }
}
