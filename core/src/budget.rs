//! The retry budget: how much a dependency that is down may be asked again.

use crate::time::{Instant, Nanos, SECOND};

/// Thousandths of a token.
pub(crate) type Millitokens = u64;

/// 10^-12 of a token: what a rate of one thousandth a second brings in a nanosecond, so that time
/// refills without a remainder. The largest budget has 10^18 of them.
type Picotokens = u64;

/// The part of the recent calls that an `auto` budget lets be retried, in thousandths.
const AUTO_SHARE: u64 = 200;
const AUTO_SECONDS: usize = 10;
const AUTO_MIN: Millitokens = 5_000;
const AUTO_MAX: Millitokens = 1_000_000;

/// Before the first call; later than any now, so that no time has passed since.
const NOT_YET: Instant = Instant::from_nanos(u64::MAX);

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
    level: Picotokens,
    capacity: Picotokens,
    /// When time refilled it last.
    refilled: Instant,
    calls: CallsPerSecond,
}

impl RetryBudget {
    pub(crate) fn new(config: Config) -> Self {
        let capacity = match config.capacity {
            Capacity::Fixed(capacity) => capacity,
            Capacity::Auto => AUTO_MIN,
        };
        Self {
            config,
            level: pico(config.initial),
            capacity: pico(capacity),
            refilled: NOT_YET,
            calls: CallsPerSecond::default(),
        }
    }

    /// A call was started, whatever becomes of it.
    #[inline]
    pub fn on_call(&mut self, now: Instant) {
        self.refill(now);
        if self.config.capacity == Capacity::Auto {
            self.calls.on_call();
            self.capacity = pico(self.calls.auto_capacity());
        }
    }

    /// An attempt succeeded.
    #[inline]
    pub fn on_success(&mut self, now: Instant) {
        self.add(now, self.config.refill_per_success);
    }

    /// Takes `cost` thousandths of a token for a retry, if the bucket holds that much.
    #[inline]
    pub fn try_spend(&mut self, now: Instant, cost: u64) -> bool {
        let cost = pico(cost);
        self.roll(now);
        let level = self.refilled_level(now).min(self.capacity);
        if level < cost {
            return false;
        }
        if cost > 0 {
            self.level = level - cost;
            self.refilled = now;
        }
        true
    }

    /// A retry was not sent after all, or its answer showed life: its `cost` comes back.
    #[inline]
    pub fn give_back(&mut self, now: Instant, cost: u64) {
        self.add(now, cost);
    }

    /// What the bucket holds, in thousandths of a token.
    #[inline]
    pub fn level(&self, now: Instant) -> u64 {
        self.refilled_level(now).min(self.capacity_at(now)) / SECOND
    }

    /// What the bucket can hold at `now`, in thousandths of a token.
    pub fn capacity(&self, now: Instant) -> u64 {
        self.capacity_at(now) / SECOND
    }

    #[cfg(feature = "proof")]
    pub(crate) fn state(&self, now: Instant) -> Picotokens {
        self.refilled_level(now).min(self.capacity_at(now))
    }

    pub(crate) fn rebase(&mut self, by: Nanos) {
        if self.refilled != NOT_YET {
            self.refilled.rebase(by);
        }
        self.calls = CallsPerSecond::default();
    }

    #[inline]
    fn add(&mut self, now: Instant, tokens: Millitokens) {
        if tokens > 0 {
            self.refill(now);
            self.level = self.level.saturating_add(pico(tokens)).min(self.capacity);
        }
    }

    /// Adds what time brings; what the capacity of this instant cannot hold is lost.
    #[inline]
    fn refill(&mut self, now: Instant) {
        self.roll(now);
        self.level = self.refilled_level(now).min(self.capacity);
        self.refilled = now;
    }

    /// What is remembered of the calls of each second follows the clock, and the capacity them.
    #[inline]
    fn roll(&mut self, now: Instant) {
        if self.calls.is_over(now) && self.config.capacity == Capacity::Auto {
            self.calls.roll(now);
            self.capacity = pico(self.calls.auto_capacity());
        }
    }

    #[inline]
    fn refilled_level(&self, now: Instant) -> Picotokens {
        let elapsed = now.since(self.refilled);
        // An elapsed time too long to multiply fills any bucket.
        self.level.saturating_add(elapsed.saturating_mul(self.config.refill_per_second))
    }

    #[inline]
    fn capacity_at(&self, now: Instant) -> Picotokens {
        if self.calls.is_over(now) && self.config.capacity == Capacity::Auto {
            let mut later = self.calls;
            later.roll(now);
            return pico(later.auto_capacity());
        }
        self.capacity
    }
}

#[inline]
const fn pico(tokens: Millitokens) -> Picotokens {
    tokens.saturating_mul(SECOND)
}

/// How many calls started in each of the last ten seconds of the clock.
#[derive(Clone, Copy, Debug, Default)]
struct CallsPerSecond {
    counts: [u32; AUTO_SECONDS],
    second: u64,
    place: usize,
    end: Instant,
    total: u64,
}

impl CallsPerSecond {
    #[inline]
    fn is_over(&self, now: Instant) -> bool {
        now >= self.end
    }

    #[inline]
    fn on_call(&mut self) {
        let count = &mut self.counts[self.place];
        *count = count.saturating_add(1);
        self.total += 1;
    }

    #[cold]
    fn roll(&mut self, now: Instant) {
        let second = now.as_nanos() / SECOND;
        for _ in 0..second.saturating_sub(self.second).min(AUTO_SECONDS as u64) {
            self.place = (self.place + 1) % AUTO_SECONDS;
            self.counts[self.place] = 0;
        }
        self.second = second;
        self.end = Instant::from_nanos(second * SECOND).after(SECOND);
        self.total = self.counts.iter().map(|count| u64::from(*count)).sum();
    }

    #[inline]
    fn auto_capacity(&self) -> Millitokens {
        self.total.saturating_mul(AUTO_SHARE).clamp(AUTO_MIN, AUTO_MAX)
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

    #[test]
    fn the_table_of_seconds_rolls_once_a_second() {
        let mut budget = budget(Capacity::Auto, 5_000, 100, 0);
        budget.on_call(Instant::from_millis(9_100));
        assert!(!budget.calls.is_over(Instant::from_millis(9_999)));
        assert!(budget.calls.is_over(Instant::from_millis(10_000)));
    }
}
