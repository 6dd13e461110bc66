//! Uniform draws from one random word.

use crate::time::Nanos;

/// `lo + (word × (hi − lo + 1) >> 64)`: uniform over `lo..=hi`, both ends included.
///
/// The multiply-and-shift map of Lemire, "Fast random integer generation in an interval" (2019),
/// without its rejection step: the bias is below 2^-64 × (hi − lo + 1).
pub const fn uniform(word: u64, lo: Nanos, hi: Nanos) -> Nanos {
    if hi <= lo {
        return lo;
    }
    let width = (hi - lo) as u128 + 1;
    lo + ((word as u128 * width) >> 64) as u64
}

/// The word that a second draw of the same event takes.
pub(crate) const fn swapped(word: u64) -> u64 {
    word.rotate_left(32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_reached_and_none_is_passed() {
        assert_eq!(uniform(0, 5, 9), 5);
        assert_eq!(uniform(u64::MAX, 5, 9), 9);
        assert_eq!(uniform(u64::MAX, 0, u64::MAX), u64::MAX);
        assert_eq!(uniform(7, 3, 3), 3);
        assert_eq!(uniform(1 << 63, 0, 99), 50);
    }
}
