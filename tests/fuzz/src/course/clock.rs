//! A host's clock, sound or not, and what time it is for the engine.

use arbitrary::{Result, Unstructured};
use stormproof::time::{Clock, Instant};

const MILLISECOND: u64 = 1_000_000;

/// Past this point the engine moves all its instants back, which nobody sees from outside.
const HORIZON: u64 = 1 << 63;

#[derive(Debug, Default)]
pub struct HostClock {
    reading: Instant,
    latest: Instant,
    clock: Clock,
    now: Instant,
    went_forward: bool,
    is_lost: bool,
}

impl HostClock {
    /// Time passes, or the clock does something else. `limit`: when something is due.
    pub fn pass(&mut self, source: &mut Unstructured<'_>, limit: Option<Instant>) -> Result<()> {
        let now = self.reading.as_nanos();
        let few = |source: &mut Unstructured<'_>| source.arbitrary::<u8>().map(u64::from);
        let next = match source.int_in_range(0..=31u8)? {
            0..=9 => now,
            10..=15 => now.saturating_add(few(source)? * MILLISECOND),
            16..=18 => now.saturating_add(few(source)? * 100 * MILLISECOND),
            19..=24 => limit.map_or(now, Instant::as_nanos),
            25 => limit.map_or(now, |limit| limit.as_nanos().saturating_sub(1)),
            26 => now.saturating_add(few(source)? << 40),
            27 => now.saturating_sub(few(source)? * 3 * MILLISECOND),
            28 => now.saturating_sub(few(source)? << 36),
            29 if source.ratio(1, 8)? => *source.choose(&[u64::MAX, 0, HORIZON, 1])?,
            _ => now.saturating_add(1),
        };
        self.read(Instant::from_nanos(next));
        Ok(())
    }

    fn read(&mut self, reading: Instant) {
        self.reading = reading;
        self.went_forward = reading >= self.latest && !self.is_lost;
        self.now = self.clock.read(reading);
        self.latest = self.clock.to_host(self.now);
        self.is_lost |= self.now.as_nanos() > HORIZON;
    }

    /// What the host hands to the engine.
    pub fn reading(&self) -> Instant {
        self.reading
    }

    /// What the engine makes of it; `None` once it has moved its instants.
    pub fn now(&self) -> Option<Instant> {
        (!self.is_lost).then_some(self.now)
    }

    /// The engine's time when the host's clock will stand there.
    pub fn engine_time(&self, host: Instant) -> Instant {
        self.clock.from_host(host)
    }

    /// Neither a race nor a step: what the engine said in the host's time still stands.
    pub fn went_forward(&self) -> bool {
        self.went_forward
    }
}
