//! Random draws without a division: 64 bits are expensive to divide on a small processor.

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub struct Dice(Xoshiro256PlusPlus);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    pub fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u32) -> u32 {
        (((self.word() >> 32) * u64::from(end)) >> 32) as u32
    }

    pub fn one_in(&mut self, count: u32) -> bool {
        self.below(count) == 0
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u32) as usize]
    }

    /// Nanoseconds below `millis`.
    pub fn span(&mut self, millis: u32) -> u64 {
        u64::from(self.below(millis)) * 1_000_000 + u64::from(self.below(1_000_000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_reach_to_their_end() {
        let mut dice = Dice::new(1);
        let longest = (0..1_000).map(|_| dice.span(40_000)).max();
        assert!(longest.is_some_and(|span| (39_000_000_000..40_000_000_000).contains(&span)));
    }
}
