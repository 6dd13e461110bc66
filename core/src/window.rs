//! Counts of recent outcomes.

use alloc::boxed::Box;
use alloc::vec;

use crate::time::{Instant, Nanos};

const SLICES: usize = 10;

/// What was counted within the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub healthy: u32,
    pub failures: u32,
    pub slow: u32,
}

impl Counts {
    pub const fn total(&self) -> u64 {
        self.healthy as u64 + self.failures as u64
    }

    fn add(&mut self, other: Self) {
        self.healthy = self.healthy.saturating_add(other.healthy);
        self.failures = self.failures.saturating_add(other.failures);
        self.slow = self.slow.saturating_add(other.slow);
    }

    fn remove(&mut self, other: Self) {
        self.healthy = self.healthy.saturating_sub(other.healthy);
        self.failures = self.failures.saturating_sub(other.failures);
        self.slow = self.slow.saturating_sub(other.slow);
    }
}

/// A rolling window of ten slices, aligned to the clock's origin. Every operation is O(1).
#[derive(Clone, Debug)]
pub(crate) struct Window {
    slice: Nanos,
    slices: [Counts; SLICES],
    sum: Counts,
    /// The number of the newest slice since the origin, and when it ends.
    newest: u64,
    end: Instant,
}

impl Window {
    pub fn new(window: Nanos) -> Self {
        Self {
            slice: (window / SLICES as u64).max(1),
            slices: [Counts::default(); SLICES],
            sum: Counts::default(),
            newest: 0,
            end: Instant::ORIGIN,
        }
    }

    pub fn clear(&mut self) {
        self.slices = [Counts::default(); SLICES];
        self.sum = Counts::default();
    }

    /// One more outcome; answers what the window holds with it.
    pub fn record(&mut self, now: Instant, outcome: Counts) -> Counts {
        self.roll(now);
        self.slices[(self.newest % SLICES as u64) as usize].add(outcome);
        self.sum.add(outcome);
        self.sum
    }

    pub fn rebase(&mut self) {
        self.clear();
        self.newest = 0;
        self.end = Instant::ORIGIN;
    }

    fn roll(&mut self, now: Instant) {
        if now < self.end {
            return;
        }
        let newest = now.as_nanos() / self.slice;
        for step in 1..=(newest - self.newest).min(SLICES as u64) {
            let expired = &mut self.slices[((self.newest + step) % SLICES as u64) as usize];
            self.sum.remove(core::mem::take(expired));
        }
        self.newest = newest;
        self.end = Instant::from_nanos(newest * self.slice).after(self.slice);
    }
}

/// The instants of the last N failures: exact where slices would round.
#[derive(Clone, Debug)]
pub(crate) struct FailureTimes {
    ring: Box<[Instant]>,
    next: usize,
    len: usize,
}

impl FailureTimes {
    pub fn new(threshold: usize) -> Self {
        Self { ring: vec![Instant::ORIGIN; threshold].into_boxed_slice(), next: 0, len: 0 }
    }

    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// One more failure. Are the last N all younger than `window`?
    pub fn on_failure(&mut self, now: Instant, window: Nanos) -> bool {
        self.ring[self.next] = now;
        self.next = (self.next + 1) % self.ring.len();
        self.len = (self.len + 1).min(self.ring.len());
        let oldest = self.ring[self.next];
        self.len == self.ring.len() && now.since(oldest) < window
    }

    pub fn rebase(&mut self, by: Nanos) {
        self.ring.iter_mut().for_each(|time| time.rebase(by));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::MILLISECOND;

    const FAILURE: Counts = Counts { healthy: 0, failures: 1, slow: 0 };

    #[test]
    fn slices_leave_one_by_one_and_idle_clears() {
        let mut window = Window::new(10_000 * MILLISECOND);
        let at = Instant::from_millis;
        assert_eq!(window.record(at(999), FAILURE).failures, 1);
        assert_eq!(window.record(at(1_000), FAILURE).failures, 2);
        assert_eq!(window.record(at(9_999), FAILURE).failures, 3);
        assert_eq!(window.record(at(10_000), FAILURE).failures, 3);
        assert_eq!(window.record(at(1_000_000), FAILURE).failures, 1);
    }

    #[test]
    fn the_last_failures_are_exact() {
        let mut times = FailureTimes::new(3);
        let at = Instant::from_millis;
        let window = 10_000 * MILLISECOND;
        assert!(!times.on_failure(at(0), window));
        assert!(!times.on_failure(at(1), window));
        assert!(!times.on_failure(at(10_000), window));
        assert!(times.on_failure(at(10_000), window));
    }
}
