//! The retry budget: how much a dependency that is down may be asked again.

use crate::time::{Instant, Nanos, SECOND};

/// Thousandths of a token.
pub(crate) type Millitokens = u64;

/// The part of the recent calls that an `auto` budget lets be retried, in thousandths.
const AUTO_SHARE: u64 = 200;
const AUTO_SECONDS: usize = 10;
const AUTO_MIN: Millitokens = 5_000;
const AUTO_MAX: Millitokens = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Capacity {
    Fixed(Millitokens),
    Auto,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    pub capacity: Capacity,
    pub initial: Millitokens,
    pub refill_per_success: Millitokens,
    pub refill_per_second: Millitokens,
}

/// A token bucket of retries, shared by all calls of one dependency.
///
/// First attempts are free. A retry costs tokens; successes and time bring them back. With the
/// capacity `auto` it holds a fifth of the calls of the last 10 s, at least 5 and at most 1,000.
///
/// ```
/// use stormproof::{Policy, time::Instant};
///
/// let now = Instant::from_millis(1);
/// let mut budget = Policy::new().capacity(2.0).refill_per_second(0.0).budget()?;
/// assert!(budget.try_spend(now, 1_000) && budget.try_spend(now, 1_000));
/// assert!(!budget.try_spend(now, 1_000));
/// # Ok::<(), stormproof::PolicyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RetryBudget {
    config: Config,
    tokens: Millitokens,
    refilled: Option<Instant>,
    /// Thousandths of a token times nanoseconds that are not worth a thousandth yet.
    remainder: u64,
    calls: CallsPerSecond,
}

impl RetryBudget {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            config,
            tokens: config.initial,
            refilled: None,
            remainder: 0,
            calls: CallsPerSecond::default(),
        }
    }

    /// A call was started, whatever becomes of it.
    pub fn on_call(&mut self, now: Instant) {
        self.refill(now);
        if self.config.capacity == Capacity::Auto {
            self.calls.on_call(now);
        }
    }

    /// An attempt succeeded.
    pub fn on_success(&mut self, now: Instant) {
        self.add(now, self.config.refill_per_success);
    }

    /// Takes `cost` thousandths of a token for a retry, if the bucket holds that much.
    pub fn try_spend(&mut self, now: Instant, cost: u64) -> bool {
        let enough = self.level(now) >= cost;
        if enough && cost > 0 {
            self.refill(now);
            self.tokens -= cost;
        }
        enough
    }

    /// A retry was not sent after all, or its answer showed life: its `cost` comes back.
    pub fn give_back(&mut self, now: Instant, cost: u64) {
        self.add(now, cost);
    }

    /// What the bucket holds, in thousandths of a token.
    pub fn level(&self, now: Instant) -> u64 {
        self.refilled_by(now).0
    }

    /// What the bucket can hold at `now`, in thousandths of a token.
    pub fn capacity(&self, now: Instant) -> u64 {
        match self.config.capacity {
            Capacity::Fixed(capacity) => capacity,
            Capacity::Auto => self.calls.auto_capacity(now),
        }
    }

    pub(crate) fn rebase(&mut self, by: Nanos) {
        if let Some(refilled) = &mut self.refilled {
            refilled.rebase(by);
        }
        self.calls = CallsPerSecond::default();
    }

    fn add(&mut self, now: Instant, tokens: Millitokens) {
        if tokens == 0 {
            return;
        }
        self.refill(now);
        self.tokens = self.tokens.saturating_add(tokens);
        let capacity = self.capacity(now);
        if self.tokens >= capacity {
            self.tokens = capacity;
            self.remainder = 0;
        }
    }

    fn refill(&mut self, now: Instant) {
        (self.tokens, self.remainder) = self.refilled_by(now);
        self.refilled = Some(now);
    }

    /// Tokens and remainder with the refill of time up to `now`.
    fn refilled_by(&self, now: Instant) -> (Millitokens, u64) {
        let elapsed = self.refilled.map_or(0, |refilled| now.since(refilled));
        // An elapsed time too long to multiply fills any bucket.
        let grown =
            elapsed.saturating_mul(self.config.refill_per_second).saturating_add(self.remainder);
        let tokens = self.tokens.saturating_add(grown / SECOND);
        let capacity = self.capacity(now);
        if tokens >= capacity { (capacity, 0) } else { (tokens, grown % SECOND) }
    }
}

/// How many calls started in each of the last ten seconds of the clock.
#[derive(Clone, Debug, Default)]
struct CallsPerSecond {
    counts: [u32; AUTO_SECONDS],
    second: u64,
    total: u64,
}

impl CallsPerSecond {
    fn on_call(&mut self, now: Instant) {
        self.roll(now);
        let count = &mut self.counts[(self.second % AUTO_SECONDS as u64) as usize];
        *count = count.saturating_add(1);
        self.total = self.counts.iter().map(|count| u64::from(*count)).sum();
    }

    fn roll(&mut self, now: Instant) {
        let second = now.as_nanos() / SECOND;
        let passed = second.saturating_sub(self.second);
        if passed == 0 {
            return;
        }
        for step in 1..=passed.min(AUTO_SECONDS as u64) {
            self.counts[((self.second + step) % AUTO_SECONDS as u64) as usize] = 0;
        }
        self.second = second;
        self.total = self.counts.iter().map(|count| u64::from(*count)).sum();
    }

    fn auto_capacity(&self, now: Instant) -> Millitokens {
        let second = now.as_nanos() / SECOND;
        let total = if second == self.second { self.total } else { self.total_at(second) };
        total.saturating_mul(AUTO_SHARE).clamp(AUTO_MIN, AUTO_MAX)
    }

    fn total_at(&self, second: u64) -> u64 {
        let mut copy = self.clone();
        copy.roll(Instant::from_nanos(second.saturating_mul(SECOND)));
        copy.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(capacity: Capacity, initial: u64, success: u64, second: u64) -> RetryBudget {
        RetryBudget::new(Config {
            capacity,
            initial,
            refill_per_success: success,
            refill_per_second: second,
        })
    }

    #[test]
    fn tenths_add_up_exactly_and_stop_at_the_capacity() {
        let mut budget = budget(Capacity::Fixed(10_000), 0, 100, 0);
        let now = Instant::ORIGIN;
        for _ in 0..9 {
            budget.on_success(now);
        }
        assert!(!budget.try_spend(now, 1_000));
        budget.on_success(now);
        assert!(budget.try_spend(now, 1_000));
        for _ in 0..1_000 {
            budget.on_success(now);
        }
        assert_eq!(budget.level(now), 10_000);
    }

    #[test]
    fn time_refills_without_losing_the_remainder() {
        let mut budget = budget(Capacity::Fixed(10_000), 0, 0, 10);
        for millis in (0..=100_000).step_by(7) {
            budget.on_call(Instant::from_millis(millis));
        }
        assert_eq!(budget.level(Instant::from_millis(100_000)), 1_000);
    }

    #[test]
    fn auto_follows_the_calls_of_ten_seconds() {
        let mut budget = budget(Capacity::Auto, 5_000, 100, 0);
        for call in 0..1_000 {
            budget.on_call(Instant::from_millis(call * 10));
        }
        assert_eq!(budget.capacity(Instant::from_millis(9_999)), 200_000);
        assert_eq!(budget.capacity(Instant::from_millis(10_000)), 180_000);
        assert_eq!(budget.capacity(Instant::from_millis(60_000)), 5_000);
        assert_eq!(budget.level(Instant::from_millis(9_999)), 5_000);
    }
}
