//! Section 5: how long to wait.

use crate::settings::{Jitter, Settings};
use crate::time::{SECOND, Time};

/// E1: `uniform[lo, hi]`, both ends included.
pub fn uniform(lo: Time, hi: Time, word: u64) -> Time {
    lo + ((u128::from(word) * (hi - lo + 1) as u128) >> 64) as Time
}

/// E1: the open jitter takes the word with its halves swapped.
pub fn swapped(word: u64) -> u64 {
    word.rotate_left(32)
}

/// B1, K2: `min(cap, first × factor^(n-1))`, iterated.
pub fn grown(first: Time, factor: u64, cap: Time, n: u32) -> Time {
    let mut ceiling = first.min(cap);
    for _ in 1..n {
        let next = (ceiling * Time::from(factor) / 1000).min(cap);
        if next == ceiling {
            break;
        }
        ceiling = next;
    }
    ceiling
}

/// B2: the own delay of retry `n`.
pub fn own(settings: &Settings, n: u32, previous: Time, word: u64) -> Time {
    let ceiling = grown(settings.base, settings.factor, settings.cap, n);
    match settings.jitter {
        Jitter::None => ceiling,
        Jitter::Full => uniform(settings.min_delay.min(ceiling), ceiling, word),
        Jitter::Equal => (ceiling - ceiling / 2) + uniform(0, ceiling / 2, word),
        Jitter::Decorrelated => uniform(settings.base, settings.cap.min(3 * previous), word),
    }
}

/// B4: what was asked, with its spread.
pub fn asked(
    settings: &Settings,
    asked: Time,
    now: Time,
    deadline: Option<Time>,
    word: u64,
) -> Time {
    if settings.combine_max || asked == 0 {
        return asked;
    }
    let mut most = (asked / 4).max(asked.min(SECOND));
    if let Some(deadline) = deadline {
        most = most.min(deadline - 1 - now - asked);
    }
    if most < 0 { asked } else { asked + uniform(0, most, word) }
}
