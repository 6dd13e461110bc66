//! Counts of recent outcomes.

use alloc::boxed::Box;
use alloc::vec;

use crate::time::{Instant, Nanos};

const SLICES: usize = 10;

/// What was counted within the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub total: u64,
    pub failures: u64,
    pub slow: u64,
}

impl Counts {
    #[inline]
    fn add(&mut self, failed: bool, slow: bool) {
        self.total += 1;
        self.failures += u64::from(failed);
        self.slow += u64::from(slow);
    }

    fn remove(&mut self, other: Self) {
        self.total -= other.total;
        self.failures -= other.failures;
        self.slow -= other.slow;
    }
}

/// A rolling window of ten slices, aligned to the clock's origin. Every operation is O(1).
#[derive(Clone, Debug)]
pub(crate) struct Window {
    slice: Nanos,
    slices: [Counts; SLICES],
    sum: Counts,
    /// The number of the newest slice since the origin, its place, and when it ends.
    newest: u64,
    place: usize,
    end: Instant,
}

impl Window {
    pub fn new(window: Nanos) -> Self {
        Self {
            slice: (window / SLICES as u64).max(1),
            slices: [Counts::default(); SLICES],
            sum: Counts::default(),
            newest: 0,
            place: 0,
            end: Instant::ORIGIN,
        }
    }

    pub fn clear(&mut self) {
        self.slices = [Counts::default(); SLICES];
        self.sum = Counts::default();
    }

    /// One more outcome; answers what the window holds with it.
    #[inline]
    pub fn record(&mut self, now: Instant, failed: bool, slow: bool) -> Counts {
        if now >= self.end {
            self.roll(now);
        }
        self.slices[self.place].add(failed, slow);
        self.sum.add(failed, slow);
        self.sum
    }

    pub fn rebase(&mut self) {
        self.clear();
        self.newest = 0;
        self.end = Instant::ORIGIN;
    }

    /// The slices within the window, newest first, and how much of the newest has passed.
    #[cfg(feature = "proof")]
    pub fn state(&self, now: Instant) -> (alloc::vec::Vec<[u64; 3]>, Nanos) {
        let mut later = self.clone();
        if now >= later.end {
            later.roll(now);
        }
        let counts = |back: usize| {
            let counts = later.slices[(later.place + SLICES - back) % SLICES];
            [counts.total, counts.failures, counts.slow]
        };
        let mut slices: alloc::vec::Vec<_> = (0..SLICES).map(counts).collect();
        while slices.last().is_some_and(|counts| *counts == [0; 3]) {
            slices.pop();
        }
        (slices, now.as_nanos() % self.slice)
    }

    #[cold]
    fn roll(&mut self, now: Instant) {
        let newest = now.as_nanos() / self.slice;
        for _ in 0..newest.saturating_sub(self.newest).min(SLICES as u64) {
            self.place = (self.place + 1) % SLICES;
            self.sum.remove(core::mem::take(&mut self.slices[self.place]));
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

    /// The ages of the last failures, oldest first.
    #[cfg(feature = "proof")]
    pub fn ages(&self, now: Instant) -> impl Iterator<Item = Nanos> {
        let first = self.next + self.ring.len() - self.len;
        (first..first + self.len).map(move |n| now.since(self.ring[n % self.ring.len()]))
    }

    pub fn rebase(&mut self, by: Nanos) {
        self.ring.iter_mut().for_each(|time| time.rebase(by));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::MILLISECOND;

    #[test]
    fn slices_leave_one_by_one_and_idle_clears() {
        let mut window = Window::new(10_000 * MILLISECOND);
        let at = Instant::from_millis;
        assert_eq!(window.record(at(999), true, false).failures, 1);
        assert_eq!(window.record(at(1_000), true, false).failures, 2);
        assert_eq!(window.record(at(9_999), true, false).failures, 3);
        assert_eq!(window.record(at(10_000), true, false).failures, 3);
        assert_eq!(window.record(at(1_000_000), true, false).failures, 1);
    }

    #[test]
    fn every_count_leaves_with_its_slice() {
        let mut window = Window::new(10_000 * MILLISECOND);
        window.record(Instant::from_millis(0), true, true);
        window.record(Instant::from_millis(1_000), false, true);
        let counts = window.record(Instant::from_millis(10_000), false, false);
        assert_eq!((counts.total, counts.failures, counts.slow), (2, 0, 1));
    }

    #[test]
    fn slices_roll_once_each() {
        let mut window = Window::new(10_000 * MILLISECOND);
        window.record(Instant::from_millis(4_321), true, false);
        assert_eq!(window.end, Instant::from_millis(5_000));
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
