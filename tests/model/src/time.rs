//! E6: the host's clock with its backward steps taken out.

use stormproof::time::Instant;

/// Nanoseconds of engine time, wide enough never to be moved back.
pub type Time = i128;

/// 1 ms.
pub const MILLISECOND: Time = 1_000_000;
/// 1 s.
pub const SECOND: Time = 1_000_000_000;
/// 36,525 days (section 15).
pub const CENTURY: Time = 36_525 * 86_400 * SECOND;

/// What the readings so far say.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    latest: u64,
    /// Engine time of the newest reading.
    pub now: Time,
    /// Where slices and seconds are counted from.
    pub origin: Time,
    /// When they were last counted anew.
    pub anew: Time,
}

impl Clock {
    /// E6: behind by less than 1 s is a race, by 1 s or more a step; neither takes time.
    pub fn read(&mut self, reading: Instant) {
        let reading = reading.as_nanos();
        if reading >= self.latest {
            self.now += Time::from(reading - self.latest);
            self.latest = reading;
        } else if self.latest - reading >= SECOND as u64 {
            self.latest = reading;
        }
    }

    /// Section 16: after 292 years the window and the seconds of the budget start anew.
    pub fn wind_back(&mut self) {
        if self.now - self.origin > 1 << 63 {
            self.origin = self.now - (1 << 62);
            self.anew = self.now;
        }
    }

    /// The number of the slice of this length that `at` lies in.
    pub fn slice(&self, at: Time, length: Time) -> Time {
        (at - self.origin) / length
    }

    /// Reading: the last instant of engine time. What would be later is at it, and a deadline at
    /// it never comes.
    pub fn last(&self) -> Time {
        self.origin + Time::from(u64::MAX)
    }

    /// E6: a stored instant keeps its distance from now.
    pub fn host(&self, at: Time) -> Instant {
        let nanos = (Time::from(self.latest) + at - self.now).clamp(0, Time::from(u64::MAX));
        Instant::from_nanos(nanos as u64)
    }

    /// The engine time at which the host's clock stands at `at`; none if it never gets there.
    pub fn engine(&self, at: Instant) -> Option<Time> {
        let time = self.now + Time::from(at.as_nanos()) - Time::from(self.latest);
        (time < self.last()).then_some(time)
    }
}
