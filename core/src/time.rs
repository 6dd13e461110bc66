//! Instants and the clock that keeps them honest.

use core::time::Duration;

/// Nanoseconds of a span. No knob is longer than [`CENTURY`].
pub(crate) type Nanos = u64;

pub(crate) const MILLISECOND: Nanos = 1_000_000;
pub(crate) const SECOND: Nanos = 1_000_000_000;
/// 36,525 days: the longest duration that a policy may name.
pub(crate) const CENTURY: Nanos = 36_525 * 86_400 * SECOND;

/// How far a reading may lie behind the latest one and still be a race between threads.
const RACE: Nanos = SECOND;
/// Past this point stored instants are moved back, long before a sum could saturate.
const HORIZON: u64 = 1 << 63;
const HOME: u64 = 1 << 62;

/// A point in monotonic time: whole nanoseconds since an origin that the host chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The host's origin.
    pub const ORIGIN: Self = Self(0);

    /// The instant that lies `nanos` after the origin.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// The instant that lies `millis` after the origin; beyond the range it is the last instant.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(MILLISECOND))
    }

    /// The instant nearest to `millis`, read as a host's floating-point clock gives it.
    ///
    /// Exact for whole nanoseconds below 2^51. NaN and negative numbers are the origin, numbers
    /// out of range the last instant.
    pub fn from_millis_f64(millis: f64) -> Self {
        let whole = millis as u64;
        let part = (millis - whole as f64) * 1e6 + 0.5;
        Self(whole.saturating_mul(MILLISECOND).saturating_add(part as u64))
    }

    /// Milliseconds since the origin, rounded to the nearest double.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Nanoseconds since the origin.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The instant `span` later, at most the last one.
    pub fn saturating_add(self, span: Duration) -> Self {
        self.after(nanos(span))
    }

    /// The time from `earlier` to `self`, zero if `earlier` is later.
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.since(earlier))
    }

    pub(crate) const fn after(self, span: Nanos) -> Self {
        Self(self.0.saturating_add(span))
    }

    pub(crate) const fn before(self, span: Nanos) -> Self {
        Self(self.0.saturating_sub(span))
    }

    pub(crate) const fn since(self, earlier: Self) -> Nanos {
        self.0.saturating_sub(earlier.0)
    }

    /// Keeps the distance to a `now` that was moved back by `by`.
    pub(crate) fn rebase(&mut self, by: Nanos) {
        *self = self.before(by);
    }
}

/// The span in nanoseconds, at most `u64::MAX`.
pub(crate) fn nanos(span: Duration) -> Nanos {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// `span × factor / 1000`, rounded down, at most `u64::MAX`.
pub(crate) const fn grown(span: Nanos, factor: u64) -> Nanos {
    // In two parts, so that no product of a span with a factor has to be divided in 128 bits.
    (span / 1_000).saturating_mul(factor).saturating_add(span % 1_000 * factor / 1_000)
}

/// A limit that may never come: one word, so that limits fold by a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Limit(Instant);

impl Limit {
    /// Engine time stays below half of the range, so that the last instant is never reached.
    pub const NEVER: Self = Self(Instant(u64::MAX));

    #[inline]
    pub const fn at(instant: Instant) -> Self {
        Self(instant)
    }

    /// `span` after `now`; without a span never.
    #[inline]
    pub fn after(now: Instant, span: Option<Nanos>) -> Self {
        span.map_or(Self::NEVER, |span| Self(now.after(span)))
    }

    #[inline]
    pub fn is_reached(self, now: Instant) -> bool {
        now >= self.0
    }

    #[inline]
    pub fn instant(self) -> Option<Instant> {
        (self != Self::NEVER).then_some(self.0)
    }

    pub fn rebase(&mut self, by: Nanos) {
        if *self != Self::NEVER {
            self.0.rebase(by);
        }
    }
}

/// The earlier of two optional instants; `None` never comes.
#[cfg(feature = "std")]
pub(crate) fn soonest(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Turns a host's readings into time that never runs backwards.
///
/// A reading less than 1 s behind the latest one is read as the latest (threads race for a lock).
/// A reading 1 s or more behind is a clock step: no time passed, and every instant handed out
/// before keeps its distance from now. The engine owns one; a machine used alone needs one only
/// where the host's clock can step.
///
/// ```
/// use stormproof::time::{Clock, Instant};
///
/// let mut clock = Clock::default();
/// let before = clock.read(Instant::from_millis(5_000_000));
/// assert_eq!(clock.read(Instant::from_millis(1_400_000)), before);
/// let later = clock.read(Instant::from_millis(1_401_000));
/// assert_eq!(later.saturating_since(before).as_millis(), 1_000);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Clock {
    latest: Instant,
    now: Instant,
}

impl Clock {
    /// Takes the host's `reading` and answers the engine's time.
    #[inline]
    pub fn read(&mut self, reading: Instant) -> Instant {
        if reading >= self.latest {
            self.now = self.now.after(reading.since(self.latest));
            self.latest = reading;
        } else if self.latest.since(reading) >= RACE {
            self.latest = reading;
        }
        self.now
    }

    /// What [`read`](Self::read) would answer; changes nothing.
    #[inline]
    pub fn peek(&self, reading: Instant) -> Instant {
        self.now.after(reading.since(self.latest))
    }

    /// Where the host's clock will stand at the engine's `instant`.
    #[inline]
    pub fn to_host(&self, instant: Instant) -> Instant {
        if self.now == self.latest {
            return instant;
        }
        shift(instant, self.now, self.latest)
    }

    /// The engine's time at which the host's clock will stand at `reading`.
    #[inline]
    pub fn from_host(&self, reading: Instant) -> Instant {
        shift(reading, self.latest, self.now)
    }

    /// When time nears its end (a garbage reading, 292 years): by how much every stored instant
    /// has to be moved back so that the next ones fit.
    #[inline]
    pub(crate) fn wind_back(&mut self) -> Option<Nanos> {
        if self.now.0 <= HORIZON {
            return None;
        }
        let by = self.now.0 - HOME;
        self.now.0 = HOME;
        Some(by)
    }
}

/// The instant that lies as far from `to` as `instant` lies from `from`.
#[inline]
fn shift(instant: Instant, from: Instant, to: Instant) -> Instant {
    if instant >= from { to.after(instant.since(from)) } else { to.before(from.since(instant)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_come_back_exact() {
        for nanos in [0, 1, 999_999, 1_000_001, 123_456_789_012_345, (1 << 51) - 1] {
            let instant = Instant::from_nanos(nanos);
            assert_eq!(Instant::from_millis_f64(instant.as_millis_f64()), instant);
        }
    }

    #[test]
    fn odd_numbers_are_instants_all_the_same() {
        assert_eq!(Instant::from_millis_f64(f64::NAN), Instant::ORIGIN);
        assert_eq!(Instant::from_millis_f64(-5.0), Instant::ORIGIN);
        assert_eq!(Instant::from_millis_f64(f64::INFINITY).as_nanos(), u64::MAX);
    }

    #[test]
    fn an_instant_and_a_span_are_an_instant() {
        let at = Instant::from_millis;
        assert_eq!(at(1).saturating_add(Duration::from_millis(2)), at(3));
        assert_eq!(at(1).saturating_add(Duration::MAX).as_nanos(), u64::MAX);
        assert_eq!(at(3).saturating_since(at(1)), Duration::from_millis(2));
        assert_eq!(at(1).saturating_since(at(3)), Duration::ZERO);
    }

    #[test]
    #[cfg(feature = "std")]
    fn what_never_comes_is_never_sooner() {
        let (early, late) = (Some(Instant::from_millis(1)), Some(Instant::from_millis(2)));
        assert_eq!((soonest(early, late), soonest(late, early)), (early, early));
        assert_eq!((soonest(None, late), soonest(late, None)), (late, late));
        assert_eq!(soonest(None, None), None);
    }

    #[test]
    fn a_race_is_no_step_and_a_step_takes_no_time() {
        let mut clock = Clock::default();
        let first = clock.read(Instant::from_millis(10_000));
        assert_eq!(clock.read(Instant::from_millis(9_001)), first);
        assert_eq!(clock.read(Instant::from_millis(10_001)), first.after(MILLISECOND));
        let stepped = clock.read(Instant::from_millis(9_001));
        assert_eq!(stepped, first.after(MILLISECOND));
        assert_eq!(clock.to_host(stepped.after(5)), Instant::from_millis(9_001).after(5));
    }

    #[test]
    fn garbage_does_not_end_time() {
        let mut clock = Clock::default();
        for _ in 0..1000 {
            clock.read(Instant::from_nanos(u64::MAX));
            clock.wind_back();
            let base = clock.read(Instant::from_millis(5));
            clock.wind_back();
            assert!(clock.read(Instant::from_millis(6)) >= base);
        }
        let now = clock.read(Instant::from_millis(7));
        assert_eq!(clock.read(Instant::from_millis(8)).since(now), MILLISECOND);
    }
}
