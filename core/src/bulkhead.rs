//! The bulkhead: how many attempts run at once, and who is next.

use crate::fifo::Fifo;
use crate::step::stable_enum;
use crate::time::Nanos;

stable_enum! {
    /// When the permit of an attempt that timed out comes back.
    Release {
        /// When the operation really ends.
        Settled = 0 "settled",
        /// When the timeout fires.
        Timeout = 1 "timeout",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    pub max_concurrent: Option<u32>,
    pub max_queue: u32,
    pub queue_timeout: Option<Nanos>,
    pub release: Release,
    pub abandoned_lease: Nanos,
}

/// Waiters are numbered below this: the line remembers a place for each number up to the largest.
pub const WAITERS: u32 = 1 << 20;

/// What became of a request for a permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Run now.
    Permit,
    /// Stand in line.
    Queued,
    /// Neither a permit nor a place in the line is free, or the number is no waiter's.
    Full,
}

/// A limit on concurrent attempts with a bounded, fair line of waiters.
///
/// Waiters are numbers below [`WAITERS`] that the user chooses (the index of a task). A permit that comes back
/// belongs to the first waiter: nobody who comes later overtakes the line.
///
/// ```
/// use stormproof::{Policy, bulkhead::Entry};
///
/// let mut bulkhead = Policy::new().max_concurrent(1).max_queue(1).bulkhead()?;
/// assert_eq!(bulkhead.enter(7), Entry::Permit);
/// assert_eq!(bulkhead.enter(8), Entry::Queued);
/// assert_eq!(bulkhead.enter(9), Entry::Full);
/// bulkhead.on_release();
/// assert_eq!(bulkhead.enter(9), Entry::Full, "the free permit is the waiter's");
/// assert_eq!(bulkhead.poll_next(), Some(8));
/// # Ok::<(), stormproof::PolicyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Bulkhead {
    config: Config,
    running: u32,
    line: Fifo,
}

impl Bulkhead {
    pub(crate) fn new(config: Config) -> Self {
        Self { config, running: 0, line: Fifo::default() }
    }

    /// Asks for a permit for `waiter`, or for a place in the line.
    #[inline]
    pub fn enter(&mut self, waiter: u32) -> Entry {
        if self.line.is_empty() && self.has_free_permit() {
            self.running += 1;
            Entry::Permit
        } else if self.line.len() < self.config.max_queue && self.may_join(waiter) {
            self.line.join(waiter);
            Entry::Queued
        } else {
            Entry::Full
        }
    }

    /// A permit comes back.
    #[inline]
    pub fn on_release(&mut self) {
        self.running = self.running.saturating_sub(1);
    }

    /// The waiter leaves the line (cancelled, timed out). Says whether it stood there.
    pub fn on_leave(&mut self, waiter: u32) -> bool {
        self.line.leave(waiter)
    }

    /// Hands a free permit to the first waiter.
    pub fn poll_next(&mut self) -> Option<u32> {
        let waiter = self.line.first().filter(|_| self.has_free_permit())?;
        self.line.leave(waiter);
        self.running += 1;
        Some(waiter)
    }

    pub(crate) const fn config(&self) -> &Config {
        &self.config
    }

    /// The first waiter.
    #[inline]
    pub fn first(&self) -> Option<u32> {
        self.line.first()
    }

    /// Could another attempt run?
    #[inline]
    pub fn has_free_permit(&self) -> bool {
        self.config.max_concurrent.is_none_or(|max| self.running < max)
    }

    /// How many permits are out.
    pub fn running(&self) -> u32 {
        self.running
    }

    /// How many wait in the line.
    pub fn queued(&self) -> u32 {
        self.line.len()
    }

    #[cfg(feature = "proof")]
    pub(crate) fn line(&self) -> impl Iterator<Item = u32> {
        self.line.iter()
    }

    fn may_join(&self, waiter: u32) -> bool {
        waiter < WAITERS && !self.line.contains(waiter)
    }
}
