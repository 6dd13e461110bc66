//! The figures of a small world. Spans are in ticks.

use std::time::Duration;

use stormproof::breaker::Scope;
use stormproof::bulkhead::Release;
use stormproof::policy::Section;
use stormproof::{Jitter, Policy};

/// Nanoseconds of a tick.
pub const TICK: u64 = 100_000_000;

/// What opens the circuit.
#[derive(Clone, Copy, Debug)]
pub enum Opens {
    /// This many failures within the window.
    Threshold(u32),
    /// This many failures in a row.
    Consecutive(u32),
    /// This many failures without a success.
    NoSuccess(u32),
    /// This part of the outcomes, in thousandths, from this many outcomes on.
    Rate(u32, u32),
}

/// The circuit breaker's figures.
#[derive(Clone, Copy, Debug)]
pub struct Breaker {
    pub opens: Opens,
    pub window: u64,
    pub open: u64,
    pub open_jitter: bool,
    /// In thousandths.
    pub open_growth: u64,
    pub open_cap: u64,
    pub probes: u32,
    pub success_threshold: u32,
    pub lease: u64,
    pub scope: Scope,
    /// From this on an outcome is slow, and half of them are too many.
    pub slow: Option<u64>,
}

/// The retry budget's figures, in thousandths of a token.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    pub capacity: u64,
    pub initial: u64,
    pub per_success: u64,
    pub per_second: u64,
}

/// The bulkhead's figures.
#[derive(Clone, Copy, Debug)]
pub struct Bulkhead {
    pub max_concurrent: Option<u32>,
    pub max_queue: u32,
    pub queue_timeout: Option<u64>,
    pub release: Release,
    pub abandoned_lease: u64,
}

/// All figures of a world.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub max_attempts: u32,
    pub base: u64,
    pub cap: u64,
    pub jitter: Jitter,
    pub wait_for_circuit: bool,
    pub retry_after_max: u64,
    pub breaker: Option<Breaker>,
    pub budget: Option<Budget>,
    pub bulkhead: Bulkhead,
    pub attempt_timeout: Option<u64>,
    pub overall_timeout: Option<u64>,
}

/// The span of so many ticks.
pub const fn ticks(n: u64) -> Duration {
    Duration::from_nanos(n * TICK)
}

impl Rules {
    /// The same as a policy.
    pub fn policy(&self) -> Policy {
        let mut policy = Policy::new()
            .max_attempts(self.max_attempts)
            .base(ticks(self.base))
            .cap(ticks(self.cap))
            .jitter(self.jitter)
            .wait_for_circuit(self.wait_for_circuit)
            .retry_after_max(ticks(self.retry_after_max))
            .attempt_timeout(self.attempt_timeout.map(ticks))
            .overall_timeout(self.overall_timeout.map(ticks));
        policy = match &self.breaker {
            Some(breaker) => breaker.add_to(policy),
            None => policy.without(Section::Breaker),
        };
        policy = match self.budget {
            Some(budget) => policy
                .capacity(thousandths(budget.capacity))
                .initial(thousandths(budget.initial))
                .refill_per_success(thousandths(budget.per_success))
                .refill_per_second(thousandths(budget.per_second)),
            None => policy.without(Section::Budget),
        };
        policy
            .max_concurrent(self.bulkhead.max_concurrent)
            .max_queue(self.bulkhead.max_queue)
            .queue_timeout(self.bulkhead.queue_timeout.map(ticks))
            .release(self.bulkhead.release)
            .abandoned_lease(ticks(self.bulkhead.abandoned_lease))
    }
}

impl Breaker {
    fn add_to(&self, policy: Policy) -> Policy {
        let mut policy = policy
            .rolling_window(ticks(self.window))
            .open_duration(ticks(self.open))
            .open_jitter(self.open_jitter)
            .open_growth(thousandths(self.open_growth))
            .open_cap(ticks(self.open_cap))
            .probes(self.probes)
            .success_threshold(self.success_threshold)
            .probe_lease(ticks(self.lease))
            .scope(self.scope);
        policy = match self.opens {
            Opens::Threshold(failures) => policy.failure_threshold(failures),
            Opens::Consecutive(failures) => policy.consecutive_failures(failures),
            Opens::NoSuccess(failures) => policy.no_success_failures(failures),
            Opens::Rate(rate, minimum) => {
                policy.failure_rate(thousandths(rate.into())).minimum_calls(minimum)
            }
        };
        match self.slow {
            Some(slow) => policy.slow_call_rate(0.5).slow_call_duration(ticks(slow)),
            None => policy,
        }
    }
}

fn thousandths(n: u64) -> f64 {
    n as f64 / 1_000.0
}
