//! Policies that lead to queues, probes, refusals and late results.

use std::time::Duration;

use arbitrary::{Result, Unstructured};
use stormproof::backoff::Jitter;
use stormproof::breaker::Scope;
use stormproof::bulkhead::Release;
use stormproof::classify::UnsafeCalls;
use stormproof::policy::Section;
use stormproof::retry_after::Combine;
use stormproof::step::Safety;
use stormproof::{Policy, Preset};

/// What a host knows of the policy; `None`: nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    pub max_attempts: Option<u32>,
    pub max_concurrent: Option<u32>,
    pub cap: Option<Duration>,
    pub attempt_timeout: Option<Duration>,
    pub overall_timeout: Option<Duration>,
}

pub fn draw(source: &mut Unstructured<'_>) -> Result<(Policy, Limits)> {
    let base = millis(source)?;
    let limits = Limits {
        max_attempts: Some(source.int_in_range(1..=6)?),
        max_concurrent: source.ratio(5, 6)?.then_some(source.int_in_range(1..=3)?),
        cap: Some(base * source.int_in_range(1..=20)?),
        attempt_timeout: source.choose(&[None, Some(150), Some(1)])?.map(Duration::from_millis),
        overall_timeout: source.choose(&[None, Some(2_500), Some(100)])?.map(Duration::from_millis),
    };
    let policy = Policy::new()
        .preset(*source.choose(Preset::ALL)?)
        .max_attempts(limits.max_attempts.unwrap_or(1))
        .max_concurrent(limits.max_concurrent)
        .cap(limits.cap)
        .attempt_timeout(limits.attempt_timeout)
        .overall_timeout(limits.overall_timeout);
    let policy = retries(source, policy.base(base))?;
    let policy = circuit(source, policy)?;
    let mut policy = queue(source, policy)?;
    for section in [Section::Retry, Section::Breaker, Section::Budget] {
        if source.ratio(1, 8)? {
            policy = policy.without(section);
        }
    }
    Ok((policy, limits))
}

fn retries(source: &mut Unstructured<'_>, policy: Policy) -> Result<Policy> {
    let policy = policy
        .jitter(*source.choose(Jitter::ALL)?)
        .wait_for_circuit(source.ratio(1, 2)?)
        .unsafe_calls(*source.choose(UnsafeCalls::ALL)?)
        .combine(*source.choose(Combine::ALL)?)
        .safety(*source.choose(Safety::ALL)?);
    Ok(match source.int_in_range(0..=3u8)? {
        0 => policy,
        1 => policy.capacity(0.0).initial(0.0),
        few => policy.capacity(f64::from(few) * 3.0).refill_per_success(0.5).cost_timeout(0.25),
    })
}

fn circuit(source: &mut Unstructured<'_>, policy: Policy) -> Result<Policy> {
    let policy = policy
        .open_duration(millis(source)? * 10)
        .open_growth(*source.choose(&[1.0, 1.5, 1_000.0])?)
        .open_jitter(source.ratio(1, 2)?)
        .probes(source.int_in_range(1..=3)?)
        .success_threshold(source.int_in_range(1..=3)?)
        .scope(*source.choose(Scope::ALL)?)
        .count_429(source.ratio(1, 2)?)
        .count_deadline(source.ratio(1, 2)?)
        .honor_retry_after(source.ratio(1, 2)?);
    Ok(match source.int_in_range(0..=5u8)? {
        0 => policy,
        1 => policy.consecutive_failures(source.int_in_range(1..=4)?),
        2 => policy
            .slow_call_rate(0.5)
            .slow_call_duration(Duration::from_millis(20))
            .minimum_calls(2),
        3 => policy.failure_rate(0.5).minimum_calls(2).probe_lease(millis(source)?),
        _ => policy.failure_threshold(source.int_in_range(1..=4)?),
    })
}

fn queue(source: &mut Unstructured<'_>, policy: Policy) -> Result<Policy> {
    Ok(policy
        .max_queue(source.int_in_range(0..=4)?)
        .max_calls(*source.choose(&[None, None, Some(1), Some(4)])?)
        .queue_timeout(*source.choose(&[None, Some(Duration::from_millis(300))])?)
        .release(*source.choose(Release::ALL)?)
        .abandoned_lease(millis(source)? * 10))
}

fn millis(source: &mut Unstructured<'_>) -> Result<Duration> {
    Ok(Duration::from_millis(1 + u64::from(source.arbitrary::<u8>()?)))
}
