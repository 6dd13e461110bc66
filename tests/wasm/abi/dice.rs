//! Draws from a seed or from an input, the odd ones more often than chance would have them.

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub struct Dice(Source);

enum Source {
    Random(Xoshiro256PlusPlus),
    Input(std::vec::IntoIter<u8>),
}

impl Dice {
    pub fn from_seed(seed: u64) -> Self {
        Self(Source::Random(Xoshiro256PlusPlus::seed_from_u64(seed)))
    }

    /// Draws what an input says, and zeros after its end.
    pub fn from_input(input: &[u8]) -> Self {
        Self(Source::Input(Vec::from(input).into_iter()))
    }

    /// Has the input come to its end?
    pub fn is_over(&self) -> bool {
        matches!(&self.0, Source::Input(rest) if rest.len() == 0)
    }

    pub fn bits(&mut self) -> u64 {
        self.word(8)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        // No more of an input than decides it, so that what follows keeps its meaning.
        let bytes = (u64::BITS - (end - 1).leading_zeros()).div_ceil(8);
        self.word(bytes) % end
    }

    fn word(&mut self, bytes: u32) -> u64 {
        match &mut self.0 {
            Source::Random(random) => random.next_u64(),
            Source::Input(rest) => {
                rest.take(bytes as usize).fold(0, |word, byte| word << 8 | u64::from(byte))
            }
        }
    }

    pub fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// Any double there is, the extreme ones above all.
    pub fn odd_double(&mut self) -> f64 {
        let odd = self.pick(&[
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::MAX,
            f64::MIN,
            f64::MIN_POSITIVE,
            5e-324,
            -0.0,
            -1.0,
            -1e-9,
            0.5,
            1e-6,
            9_007_199_254_740_993.0,
            18_446_744_073_709_551_616.0,
            9_223_372_036_854_775_808.0,
            18_446_744_073_709.55,
            9_223_372_036_854.775,
            3_155_760_000_000.0,
        ]);
        if self.percent(70) { odd } else { f64::from_bits(self.bits()) }
    }

    /// A number that an enum may have, or one that none has.
    pub fn code(&mut self) -> f64 {
        if self.percent(80) { self.below(15) as f64 } else { self.odd_word() }
    }

    /// Any number of 32 bits, the extreme ones above all.
    pub fn odd_word(&mut self) -> f64 {
        let odd = self.pick(&[15, 16, 127, 128, 255, 256, 65_535, 65_536, 1 << 31, u32::MAX]);
        f64::from(if self.percent(70) { odd } else { self.bits() as u32 })
    }

    /// A length: nearly always that of the text, or else one that the buffer may not have.
    pub fn length(&mut self, text: usize) -> f64 {
        if self.percent(85) {
            return text as f64;
        }
        let odd = self.pick(&[0, 1, 4_095, 4_096, 4_097, 1 << 31, u32::MAX - 1, u32::MAX]);
        f64::from(if self.percent(70) { odd } else { self.below(5_000) as u32 })
    }

    /// Bytes that are mostly no text.
    pub fn bytes(&mut self) -> Vec<u8> {
        let longest = self.pick(&[1, 8, 300, 4_096]);
        (0..=self.below(longest)).map(|_| self.bits() as u8).take(4_096).collect()
    }
}
