//! Closed: outcomes are counted until a rule is met.

use super::{CircuitBreaker, Report};
use crate::step::{Change, ChangeCause};
use crate::time::{Instant, Nanos};
use crate::window::Counts;

impl CircuitBreaker {
    #[inline(always)]
    pub(super) fn on_healthy(&mut self, now: Instant, slow: bool, word: u64) -> Option<Change> {
        let counts = self.window.record(now, false, slow);
        self.run = 0;
        let cause = self.rate_met(counts)?;
        Some(self.open(now, cause, None, word))
    }

    #[cold]
    pub(super) fn on_failure(
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
        let goes_on = now.since(self.last_failure) < self.config.rolling_window;
        self.run = if goes_on { self.run.saturating_add(1) } else { 1 };
        self.last_failure = now;
        self.run
    }

    /// The rate, if any, that has reached its limit with enough calls behind it.
    fn rate_met(&self, counts: Counts) -> Option<ChangeCause> {
        let total = counts.total;
        if counts.failures + counts.slow == 0 || total < self.config.minimum_calls {
            return None;
        }
        let met =
            |rate: Option<u64>, part: u64| rate.is_some_and(|rate| part * 1_000 >= rate * total);
        if met(self.config.failure_rate, counts.failures) {
            Some(ChangeCause::FailureRate)
        } else if met(self.config.slow_call_rate, counts.slow) {
            Some(ChangeCause::SlowCallRate)
        } else {
            None
        }
    }

    pub(super) fn is_slow(&self, took: Nanos) -> bool {
        self.config.slow_call_rate.is_some()
            && self.config.slow_call_duration.is_some_and(|limit| took >= limit)
    }
}
