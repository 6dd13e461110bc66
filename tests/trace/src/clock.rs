//! The clock of a host, and what it shows instead of the time.

use stormproof::time::Instant;

use crate::dice::Dice;

/// In place of an instant that never comes.
pub const NEVER: u64 = u64::MAX;
pub const SECOND: u64 = 1_000_000_000;

/// How far behind the clock a thread may come that looked at it earlier, and just not any more.
const BARELY: &[u64] = &[SECOND - 500_000, SECOND - 1, SECOND];

/// A clock in nanoseconds.
pub struct Clock {
    /// The true time.
    pub now: u64,
    /// By how much it has been set back.
    behind: u64,
    /// It moves on by this much at once.
    grain: u64,
}

impl Clock {
    pub fn new(origin: u64, dice: &mut Dice) -> Self {
        let grain = dice.pick(&[1, 1, 1, 1_000_000, 50_000_000]);
        Self { now: origin, behind: 0, grain }
    }

    /// A clock in order would show this.
    pub fn shown(&self) -> u64 {
        (self.now - self.behind) / self.grain * self.grain
    }

    /// What the clock shows to whoever looks now.
    pub fn reading(&self, dice: &mut Dice) -> Instant {
        let shown = self.shown();
        Instant::from_nanos(match dice.below(20_000) {
            0 => u64::MAX,
            // Another thread looked earlier and comes later.
            1..300 => shown.saturating_sub(dice.span(999)),
            300..320 => shown.saturating_sub(dice.pick(BARELY)),
            _ => shown,
        })
    }

    /// When it is really what the clock will show then.
    pub fn true_time(&self, shown: Option<Instant>) -> u64 {
        // An instant near the end of time was promised under a garbage reading.
        let nanos = shown.map(Instant::as_nanos).filter(|nanos| nanos >> 62 == 0);
        nanos.map_or(NEVER, |nanos| nanos + (self.now - self.shown()))
    }

    /// Now and then the machine sleeps, or somebody sets the clock back.
    pub fn on_mishap(&mut self, dice: &mut Dice) {
        if dice.one_in(1_000) {
            self.now += dice.span(150_000);
        }
        if dice.one_in(1_500) {
            let back = SECOND + dice.span(40_000);
            if self.shown() > 2 * back {
                self.behind += back;
            }
        }
    }
}
