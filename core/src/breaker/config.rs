//! The figures of a breaker.

use crate::time::Nanos;

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
