//! The policy of a run: drawn from its seed, read by all hosts and by the laws.

use fastrand::Rng;
use serde::{Deserialize, Serialize};

/// A policy document, as far as a run names it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Policy {
    name: String,
    /// See [`Retry`].
    pub retry: Retry,
    retry_after: RetryAfter,
    /// See [`Breaker`].
    pub breaker: Breaker,
    /// See [`Budget`].
    pub budget: Budget,
    /// See [`Bulkhead`].
    pub bulkhead: Bulkhead,
    /// How long an attempt may take.
    pub attempt_timeout_ms: f64,
    /// How long a call may take.
    pub overall_timeout_ms: f64,
    propagate: Propagate,
}

/// How often, and how far apart.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Retry {
    /// The first one included.
    pub max_attempts: u32,
    base_ms: u32,
    cap_ms: u32,
    jitter: String,
    wait_for_circuit: bool,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct RetryAfter {
    max_ms: u32,
    combine: String,
}

/// The circuit.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Breaker {
    rolling_window_ms: u32,
    failure_rate: f64,
    minimum_calls: u32,
    /// Also how long a probe holds its slot.
    pub open_duration_ms: f64,
    /// How many a half-open circuit lets go at once.
    pub probes: usize,
    success_threshold: u32,
}

/// The tokens that retries cost: one each.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    /// What it holds, and starts with.
    pub capacity: f64,
    /// What a success brings.
    pub refill_per_success: f64,
    /// What a second brings.
    pub refill_per_second: f64,
}

/// How many at once.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Bulkhead {
    /// How many attempts run.
    pub max_concurrent: u32,
    /// How many calls wait.
    pub max_queue: u32,
    /// When the permit of an abandoned attempt comes back.
    pub release: String,
    abandoned_lease_ms: u32,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Propagate {
    attempt_header: String,
    time_left_header: String,
}

impl Policy {
    /// The policy of this seed.
    pub fn draw(seed: u64) -> Self {
        let mut dice = Rng::with_seed(seed ^ 0x706f_6c69_6379);
        let jitter = dice.choice(["none", "full", "equal", "decorrelated"]).unwrap_or_default();
        let combine = dice.choice(["spread", "spread", "max"]).unwrap_or_default();
        let release = dice.choice(["settled", "settled", "settled", "timeout"]).unwrap_or_default();
        Self {
            name: "chaos".into(),
            retry: Retry {
                max_attempts: dice.u32(3..=5),
                base_ms: dice.u32(20..=120),
                cap_ms: 2_000,
                jitter: jitter.into(),
                wait_for_circuit: dice.u32(0..4) > 0,
            },
            // Three seconds are too long for some runs.
            retry_after: RetryAfter { max_ms: dice.u32(2_500..=5_000), combine: combine.into() },
            breaker: Breaker {
                rolling_window_ms: 1_000,
                failure_rate: f64::from(dice.u32(7..=9)) / 10.0,
                minimum_calls: 20,
                open_duration_ms: f64::from(dice.u32(500..=1_000)),
                probes: dice.usize(1..=3),
                success_threshold: dice.u32(1..=3),
            },
            budget: Budget {
                capacity: f64::from(dice.u32(20..=60)),
                refill_per_success: 0.05,
                refill_per_second: 1.0,
            },
            bulkhead: Bulkhead {
                max_concurrent: dice.u32(40..=64),
                max_queue: 5_000,
                release: release.into(),
                // A permit that is lost stays lost for the whole run.
                abandoned_lease_ms: 3_600_000,
            },
            attempt_timeout_ms: f64::from(dice.u32(1_500..=2_500)),
            overall_timeout_ms: 20_000.0,
            propagate: Propagate {
                attempt_header: "x-attempt".into(),
                time_left_header: "x-time-left".into(),
            },
        }
    }
}
