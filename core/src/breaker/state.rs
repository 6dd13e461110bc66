//! What a breaker remembers, for proofs.

use alloc::vec::Vec;

use super::{CircuitBreaker, Pass, State};
use crate::proof::{CircuitPhase, CircuitState, PassState};
use crate::step::Circuit;
use crate::time::Instant;

impl CircuitBreaker {
    pub(crate) fn state(&self, now: Instant) -> CircuitState {
        let phase = match self.state {
            State::Closed => self.closed(now, self.run, self.last_failure),
            State::Open { until } => CircuitPhase::Open { left: until.since(now) },
            State::HalfOpen => CircuitPhase::HalfOpen {
                leases: self.leases.iter().filter(|l| now < **l).map(|l| l.since(now)).collect(),
                successes: self.successes,
            },
            State::ForcedOpen => CircuitPhase::Forced(Circuit::ForcedOpen),
            State::ForcedClosed => CircuitPhase::Forced(Circuit::ForcedClosed),
        };
        let (next_open, refuses_nobody) = (self.grown_open_duration(), self.refuses_nobody);
        CircuitState { phase, next_open, refuses_nobody }
    }

    pub(crate) fn pass_state(&self, now: Instant, pass: &Pass) -> Option<PassState> {
        let slow_after = match self.config.slow_call_rate {
            Some(_) => self.config.slow_call_duration.unwrap_or(0),
            None => 0,
        };
        // Not asked of the breaker, whose answer is what is checked.
        let is_current = pass.generation == self.generation;
        let is_probe = pass.is_probe();
        if !is_current {
            return is_probe.then_some(PassState { is_current, age: 0, is_probe, lease: 0 });
        }
        let age = now.since(pass.admitted).min(slow_after);
        let lease = pass.lease.map_or(0, |lease| lease.since(now));
        Some(PassState { is_current, age, is_probe, lease })
    }

    fn closed(&self, now: Instant, run: u64, last_failure: Instant) -> CircuitPhase {
        let config = &self.config;
        let window = config.rolling_window;
        let age = now.since(last_failure);
        let is_run = config.consecutive_failures.is_some() && run > 0 && age < window;
        let run = if is_run { (run, age) } else { (0, 0) };
        let is_counted =
            config.failure_rate.or(config.no_success_failures).or(config.slow_call_rate);
        let (slices, into_slice) = match is_counted {
            Some(_) => self.window.state(now),
            None => (Vec::new(), 0),
        };
        let failures = match &self.failure_times {
            Some(times) => times.ages(now).filter(|age| *age < window).collect(),
            None => Vec::new(),
        };
        CircuitPhase::Closed { run, slices, into_slice, failures }
    }
}
