//! How long to wait before a retry, as far as the client decides.

use crate::jitter::uniform;
use crate::step::stable_enum;
use crate::time::{Nanos, grown};

stable_enum! {
    /// How a delay is spread so that clients which failed together do not return together.
    Jitter {
        /// The ceiling itself.
        None = 0 "none",
        /// Anything from `min_delay` up to the ceiling.
        Full = 1 "full",
        /// Half of the ceiling, and anything up to the other half.
        Equal = 2 "equal",
        /// Anything from the base up to three times the last delay, drawn inside the cap.
        Decorrelated = 3 "decorrelated",
    }
}

/// The figures of a [`Backoff`], in nanoseconds and thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    pub base: Nanos,
    pub cap: Nanos,
    pub factor: u64,
    pub min_delay: Nanos,
    pub jitter: Jitter,
}

/// The delays of one call: `min(cap, base × factor^(n−1))` for retry n, spread by a [`Jitter`].
///
/// ```
/// use stormproof::{Jitter, Policy};
///
/// let mut backoff = Policy::new().jitter(Jitter::None).backoff()?;
/// assert_eq!(backoff.on_retry(0).as_millis(), 100);
/// assert_eq!(backoff.on_retry(0).as_millis(), 200);
/// # Ok::<(), stormproof::PolicyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Backoff {
    config: Config,
    growth: Growth,
}

impl Backoff {
    pub(crate) fn new(config: Config) -> Self {
        Self { growth: Growth::new(&config), config }
    }

    /// The delay before the next retry. `word` is a fresh random number.
    pub fn on_retry(&mut self, word: u64) -> core::time::Duration {
        self.growth.on_retry(&self.config);
        core::time::Duration::from_nanos(self.growth.draw(&self.config, word))
    }

    /// The longest delay that the present retry can get, before any retry the base.
    pub fn ceiling(&self) -> core::time::Duration {
        core::time::Duration::from_nanos(self.growth.ceiling)
    }
}

/// What a call remembers of its delays; the figures are shared by all calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Growth {
    ceiling: Nanos,
    previous: Nanos,
    retried: bool,
}

impl Growth {
    pub fn new(config: &Config) -> Self {
        let base = config.base.min(config.cap);
        Self { ceiling: base, previous: base, retried: false }
    }

    #[cfg(feature = "proof")]
    pub fn state(&self) -> (Nanos, Nanos, bool) {
        (self.ceiling, self.previous, self.retried)
    }

    /// Another retry was decided: the ceiling grows, once per retry number.
    pub fn on_retry(&mut self, config: &Config) {
        if self.retried {
            self.ceiling = grown(self.ceiling, config.factor).min(config.cap);
        }
        self.retried = true;
    }

    /// Draws the own delay of the present retry number.
    pub fn draw(&mut self, config: &Config, word: u64) -> Nanos {
        let ceiling = self.ceiling;
        let delay = match config.jitter {
            Jitter::None => ceiling,
            Jitter::Full => uniform(word, config.min_delay.min(ceiling), ceiling),
            Jitter::Equal => ceiling - ceiling / 2 + uniform(word, 0, ceiling / 2),
            Jitter::Decorrelated => {
                let high = self.previous.saturating_mul(3).min(config.cap);
                uniform(word, config.base, high)
            }
        };
        self.previous = delay;
        delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::MILLISECOND;

    fn config(jitter: Jitter) -> Config {
        Config {
            base: 100 * MILLISECOND,
            cap: 20_000 * MILLISECOND,
            factor: 2_000,
            min_delay: 0,
            jitter,
        }
    }

    #[test]
    fn ceilings_double_up_to_the_cap() {
        let mut backoff = Backoff::new(config(Jitter::None));
        let delays: [u128; 9] = core::array::from_fn(|_| backoff.on_retry(0).as_millis());
        assert_eq!(delays, [100, 200, 400, 800, 1600, 3200, 6400, 12_800, 20_000]);
    }

    #[test]
    fn no_delay_passes_the_cap() {
        for jitter in Jitter::ALL {
            let mut backoff = Backoff::new(config(*jitter));
            for _ in 0..100 {
                assert!(backoff.on_retry(u64::MAX).as_millis() <= 20_000);
            }
        }
    }
}
