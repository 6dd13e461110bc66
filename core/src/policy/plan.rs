//! The checked figures of a policy, in the form in which the machines take them.

use super::Policy;
use super::check::Values;
use super::knob::{Knob, Section};
use super::setting::Value;
use crate::backoff::{self, Backoff, Jitter};
use crate::breaker::{self, CircuitBreaker, Scope};
use crate::budget::{self, Capacity, RetryBudget};
use crate::bulkhead::{self, Bulkhead, Release};
use crate::classify::{Statuses, UnsafeCalls};
use crate::error::PolicyError;
use crate::retry_after::Combine;
use crate::step::{Kind, Safety};
use crate::time::{CENTURY, Nanos};

/// What an `auto` budget holds at first, in thousandths of a token.
const AUTO_INITIAL: u64 = 5_000;
/// The cap of a growing open time that names none, as a multiple of the open time.
const OPEN_CAP: u64 = 10;
const RULES: [Knob; 5] = [
    Knob::FailureRate,
    Knob::NoSuccessFailures,
    Knob::FailureThreshold,
    Knob::ConsecutiveFailures,
    Knob::SlowCallRate,
];

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub max_attempts: u32,
    pub backoff: backoff::Config,
    pub wait_for_circuit: bool,
    pub unsafe_calls: UnsafeCalls,
    pub retry_after_max: Nanos,
    pub combine: Combine,
    pub breaker: breaker::Config,
    pub scope: Scope,
    pub count_deadline: bool,
    pub budget: Option<budget::Config>,
    pub costs: Costs,
    pub bulkhead: bulkhead::Config,
    pub attempt_timeout: Option<Nanos>,
    pub overall_timeout: Option<Nanos>,
    pub statuses: Statuses,
    pub safety: Safety,
    pub max_calls: u32,
}

/// What a retry costs after a failure of each kind, in thousandths of a token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Costs {
    network: u64,
    timeout: u64,
    server: u64,
    throttled: u64,
}

impl Costs {
    pub fn of(&self, kind: Kind) -> u64 {
        match kind {
            Kind::Timeout => self.timeout,
            Kind::Server => self.server,
            Kind::Throttled => self.throttled,
            _ => self.network,
        }
    }
}

impl Plan {
    pub(super) fn new(values: &Values<'_>) -> Result<Self, PolicyError> {
        let retry_off = values.is_off(Section::Retry);
        Ok(Self {
            max_attempts: if retry_off { 1 } else { values.of(Knob::MaxAttempts) as u32 },
            backoff: backoff(values)?,
            wait_for_circuit: values.is_on(Knob::WaitForCircuit),
            unsafe_calls: choice(values, Knob::Unsafe, UnsafeCalls::from_code),
            retry_after_max: values.of(Knob::RetryAfterMax),
            combine: choice(values, Knob::RetryAfterCombine, Combine::from_code),
            breaker: breaker(values)?,
            scope: choice(values, Knob::BreakerScope, Scope::from_code),
            count_deadline: values.is_on(Knob::CountDeadline),
            budget: budget(values)?,
            costs: costs(values),
            bulkhead: bulkhead(values),
            attempt_timeout: values.some(Knob::AttemptTimeout),
            overall_timeout: values.some(Knob::OverallTimeout),
            statuses: values.policy.statuses,
            safety: choice(values, Knob::DefaultSafety, Safety::from_code),
            max_calls: values.some(Knob::MaxCalls).unwrap_or(1 << 20) as u32,
        })
    }
}

impl Policy {
    /// The delays alone, for one call.
    pub fn backoff(&self) -> Result<Backoff, PolicyError> {
        Ok(Backoff::new(self.plan()?.backoff))
    }

    /// The circuit breaker alone.
    pub fn breaker(&self) -> Result<CircuitBreaker, PolicyError> {
        Ok(CircuitBreaker::new(self.plan()?.breaker))
    }

    /// The retry budget alone; one that is switched off holds 18 million tokens and is full again
    /// a nanosecond after any of them was taken.
    pub fn budget(&self) -> Result<RetryBudget, PolicyError> {
        let bottomless = budget::Config {
            capacity: Capacity::Fixed(u64::MAX),
            initial: u64::MAX,
            refill_per_success: 0,
            refill_per_second: u64::MAX,
        };
        Ok(RetryBudget::new(self.plan()?.budget.unwrap_or(bottomless)))
    }

    /// The bulkhead alone.
    pub fn bulkhead(&self) -> Result<Bulkhead, PolicyError> {
        Ok(Bulkhead::new(self.plan()?.bulkhead))
    }
}

/// The variant whose number stands at the knob; the check has seen that there is one.
fn choice<T>(values: &Values<'_>, knob: Knob, from_code: fn(u8) -> Option<T>) -> T {
    from_code(values.of(knob) as u8).expect("a checked choice is one of the knob's names")
}

fn backoff(values: &Values<'_>) -> Result<backoff::Config, PolicyError> {
    let config = backoff::Config {
        base: values.of(Knob::Base),
        cap: values.some(Knob::Cap).unwrap_or(CENTURY),
        factor: values.of(Knob::Factor),
        min_delay: values.of(Knob::MinDelay),
        jitter: choice(values, Knob::Jitter, Jitter::from_code),
    };
    if config.cap < config.base {
        return Err(values.contradiction(Knob::Cap, "at least", Some(Knob::Base)));
    }
    if config.min_delay > 0 && config.jitter != Jitter::Full {
        let allowed = "0 unless retry.jitter is \"full\"";
        return Err(values.contradiction(Knob::MinDelay, allowed, None));
    }
    if config.min_delay > config.cap {
        return Err(values.contradiction(Knob::MinDelay, "at most", Some(Knob::Cap)));
    }
    Ok(config)
}

fn breaker(values: &Values<'_>) -> Result<breaker::Config, PolicyError> {
    let rule = |knob| rule(values, knob);
    let open_duration = values.of(Knob::OpenDuration);
    // Like a knob's, not beyond 100 years: its end must be an instant.
    let longest_open = open_duration.saturating_mul(OPEN_CAP).min(CENTURY);
    let open_growth = values.of(Knob::OpenGrowth);
    let attempt_timeout = values.some(Knob::AttemptTimeout).unwrap_or(0);
    let lease = if open_growth > 1_000 { attempt_timeout } else { 0 };
    let config = breaker::Config {
        rolling_window: values.of(Knob::RollingWindow),
        failure_rate: rule(Knob::FailureRate),
        minimum_calls: values.of(Knob::MinimumCalls),
        no_success_failures: rule(Knob::NoSuccessFailures),
        failure_threshold: rule(Knob::FailureThreshold),
        consecutive_failures: rule(Knob::ConsecutiveFailures),
        slow_call_rate: rule(Knob::SlowCallRate),
        slow_call_duration: values.some(Knob::SlowCallDuration),
        open_duration,
        open_jitter: values.is_on(Knob::OpenJitter),
        open_growth,
        open_cap: values.some(Knob::OpenCap).unwrap_or(longest_open),
        honor_retry_after: values.is_on(Knob::HonorRetryAfter),
        retry_after_max: values.of(Knob::RetryAfterMax),
        probes: values.of(Knob::Probes) as usize,
        success_threshold: values.of(Knob::SuccessThreshold),
        probe_lease: values.some(Knob::ProbeLease).unwrap_or(open_duration.max(lease)),
        count_throttled: values.is_on(Knob::Count429),
    };
    if values.is_off(Section::Breaker) {
        return Ok(config.without_rules());
    }
    if config.slow_call_rate.is_some() && config.slow_call_duration.is_none() {
        let allowed = "a duration, since breaker.slowCallRate is named";
        return Err(values.contradiction(Knob::SlowCallDuration, allowed, None));
    }
    if config.open_cap < open_duration {
        return Err(values.contradiction(Knob::OpenCap, "at least", Some(Knob::OpenDuration)));
    }
    Ok(config)
}

/// A rule that somebody names switches off those that nobody named.
fn rule(values: &Values<'_>, knob: Knob) -> Option<u64> {
    let policy = values.policy;
    let named = |knob: &Knob| policy.is_named(*knob) && values.some(*knob).is_some();
    let somebody_named = RULES.iter().any(named);
    let by_preset = || RULES.iter().any(|rule| policy.preset.value(*rule).is_some());
    let holds = if somebody_named {
        policy.is_named(knob)
    } else {
        policy.is_named(knob) || policy.preset.value(knob).is_some() || !by_preset()
    };
    values.some(knob).filter(|_| holds)
}

fn budget(values: &Values<'_>) -> Result<Option<budget::Config>, PolicyError> {
    let (capacity, full) = match values.get(Knob::Capacity) {
        Value::Of(tokens) => (Capacity::Fixed(tokens), tokens),
        Value::Auto | Value::None => (Capacity::Auto, AUTO_INITIAL),
    };
    let config = budget::Config {
        capacity,
        initial: values.some(Knob::Initial).unwrap_or(full),
        refill_per_success: values.of(Knob::RefillPerSuccess),
        refill_per_second: values.of(Knob::RefillPerSecond),
    };
    if values.is_off(Section::Budget) {
        return Ok(None);
    }
    if let Capacity::Fixed(tokens) = capacity
        && config.initial > tokens
    {
        return Err(values.contradiction(Knob::Initial, "at most", Some(Knob::Capacity)));
    }
    Ok(Some(config))
}

fn costs(values: &Values<'_>) -> Costs {
    let cost = values.of(Knob::Cost);
    let of = |knob| values.some(knob).unwrap_or(cost);
    Costs {
        network: of(Knob::CostNetwork),
        timeout: of(Knob::CostTimeout),
        server: of(Knob::CostServer),
        throttled: of(Knob::CostThrottled),
    }
}

fn bulkhead(values: &Values<'_>) -> bulkhead::Config {
    let endless = values.is_off(Section::Bulkhead);
    bulkhead::Config {
        max_concurrent: values.some(Knob::MaxConcurrent).filter(|_| !endless).map(|max| max as u32),
        max_queue: values.of(Knob::MaxQueue) as u32,
        queue_timeout: values.some(Knob::QueueTimeout),
        release: choice(values, Knob::Release, Release::from_code),
        abandoned_lease: values.of(Knob::AbandonedLease),
    }
}
