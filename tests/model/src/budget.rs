//! Section 6: the level of the bucket is a replay of all that happened to it.

use crate::settings::Settings;
use crate::time::{Clock, SECOND, Time};

/// Section 16: 10^-12 of a token. A thousandth a second is one of them a nanosecond.
const PER_THOUSANDTH: Time = 1_000_000_000;

/// What happened to the bucket.
#[derive(Clone, Copy, Debug)]
pub enum Entry {
    /// A call that counts for `auto`.
    Start,
    /// Thousandths of a token that went or, above 0, came.
    Change(Time),
}

impl Entry {
    /// What came, or went below 0.
    pub fn picotokens(self) -> Time {
        match self {
            Self::Start => 0,
            Self::Change(thousandths) => thousandths * PER_THOUSANDTH,
        }
    }
}

/// Everything that happened, in its order.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    /// What happened when.
    pub entries: Vec<(Time, Entry)>,
}

impl Budget {
    /// G1: every start that is not cancelled counts.
    pub fn on_start(&mut self, now: Time) {
        self.entries.push((now, Entry::Start));
    }

    /// G3, G4: takes the price of a retry if it is there.
    pub fn take(&mut self, settings: &Settings, clock: &Clock, cost: u64) -> bool {
        let enough =
            !settings.budget_on || self.level(settings, clock) >= Time::from(cost) * PER_THOUSANDTH;
        if enough {
            self.change(clock.now, -Time::from(cost));
        }
        enough
    }

    /// G3, G5: tokens come back, or a success brings some.
    pub fn add(&mut self, now: Time, thousandths: u64) {
        self.change(now, Time::from(thousandths));
    }

    fn change(&mut self, now: Time, thousandths: Time) {
        if thousandths != 0 {
            self.entries.push((now, Entry::Change(thousandths)));
        }
    }

    /// G1: what the bucket can hold at the instant `at`, after the first `seen` entries, in 10^-12 of
    /// a token.
    pub fn capacity_after(
        &self,
        settings: &Settings,
        clock: &Clock,
        at: Time,
        seen: usize,
    ) -> Time {
        let Some(capacity) = settings.capacity else {
            let second = clock.slice(at, SECOND);
            let recent = |(time, entry): &&(Time, Entry)| {
                matches!(entry, Entry::Start)
                    && (*time >= clock.anew || at < clock.anew)
                    && clock.slice(*time, SECOND) > second - 10
            };
            let starts = self.entries[..seen].iter().filter(recent).count() as Time;
            return (200 * starts).clamp(5_000, 1_000_000) * PER_THOUSANDTH;
        };
        Time::from(capacity) * PER_THOUSANDTH
    }

    /// Thousandths that it can hold now.
    pub fn capacity(&self, settings: &Settings, clock: &Clock) -> u64 {
        (self.capacity_after(settings, clock, clock.now, self.entries.len()) / PER_THOUSANDTH)
            as u64
    }

    fn level(&self, settings: &Settings, clock: &Clock) -> Time {
        let initial = settings.initial.unwrap_or(settings.capacity.unwrap_or(5_000));
        let mut level = Time::from(initial) * PER_THOUSANDTH;
        // Reading: time brings nothing before the first call.
        let mut last = self.entries.first().map_or(clock.now, |(at, _)| *at);
        let rate = Time::from(settings.refill_per_second);
        for (seen, (at, entry)) in self.entries.iter().enumerate() {
            let most = self.capacity_after(settings, clock, *at, seen);
            level = (level + rate * (at - last)).min(most);
            level = (level + entry.picotokens()).min(most);
            last = *at;
        }
        let most = self.capacity_after(settings, clock, clock.now, self.entries.len());
        (level + rate * (clock.now - last)).min(most)
    }

    /// Thousandths that it holds now.
    pub fn tokens(&self, settings: &Settings, clock: &Clock) -> u64 {
        (self.level(settings, clock) / PER_THOUSANDTH) as u64
    }
}
