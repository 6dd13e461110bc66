//! How the dependency does: what attempts end in, and how long they take.

use stormproof::Outcome;
use stormproof::step::{Kind, Phase};

use crate::dice::Dice;

/// How many of 256 attempts do what. All others fail in passing.
#[derive(Clone, Copy)]
pub struct Weather {
    healthy: u32,
    throttled: u32,
    /// Permanent and neutral outcomes.
    odd: u32,
    /// They end late, if at all.
    hanging: u32,
    /// They take seconds.
    slow: u32,
}

const FAIR: Weather = Weather { healthy: 244, throttled: 3, odd: 4, hanging: 1, slow: 2 };

const KINDS_OF_WEATHER: &[Weather] = &[
    FAIR,
    FAIR,
    Weather { healthy: 130, ..FAIR },
    Weather { healthy: 40, ..FAIR },
    Weather { healthy: 0, throttled: 0, odd: 0, ..FAIR },
    Weather { hanging: 200, ..FAIR },
    Weather { hanging: 60, slow: 100, healthy: 20, ..FAIR },
    Weather { slow: 220, ..FAIR },
    Weather { throttled: 200, healthy: 30, ..FAIR },
    Weather { odd: 150, healthy: 60, ..FAIR },
];

const TRANSIENT: &[Kind] = &[Kind::Network, Kind::Timeout, Kind::Server];
const ODD: &[Kind] = &[
    Kind::Client,
    Kind::Business,
    Kind::Contract,
    Kind::Unclassified,
    Kind::Cancelled,
    Kind::CircuitOpen,
    Kind::BulkheadFull,
    Kind::QueueTimeout,
    Kind::DeadlineExceeded,
];

/// Milliseconds that a dependency asks to wait.
const ASKED: &[u64] =
    &[0, 1, 250, 1_000, 2_500, 5_000, 30_000, 59_999, 60_001, 120_000, 400_000, 1_000_000_000];

/// What an attempt ends in.
pub enum End {
    Named(Outcome),
    Answer { status: u16, retry_after_ms: Option<u64> },
}

impl Weather {
    pub fn draw(dice: &mut Dice) -> Self {
        dice.pick(KINDS_OF_WEATHER)
    }

    /// How long the attempt that starts now takes; `None`: for ever.
    pub fn takes(&self, dice: &mut Dice) -> Option<u64> {
        let draw = dice.below(256);
        if draw < self.hanging {
            return (dice.below(4) > 0).then(|| dice.span(300_000));
        }
        Some(if draw < self.hanging + self.slow { dice.span(20_000) } else { dice.span(200) })
    }

    pub fn end(&self, dice: &mut Dice) -> End {
        let draw = dice.below(256);
        let (kinds, statuses): (&[Kind], &[u16]) = if draw < self.healthy {
            (&[Kind::Success], &[200, 204, 304, 404])
        } else if draw < self.healthy + self.throttled {
            (&[Kind::Throttled], &[429, 503, 413, 409])
        } else if draw < self.healthy + self.throttled + self.odd {
            (ODD, &[400, 404, 409, 421, 425, 501])
        } else {
            (TRANSIENT, &[408, 500, 502, 503, 504, 529])
        };
        let is_asked = if kinds == [Kind::Throttled] { dice.below(4) > 0 } else { dice.one_in(8) };
        let retry_after_ms = is_asked.then(|| asked(dice));
        let status = dice.pick(statuses);
        if dice.one_in(2) {
            return End::Answer { status, retry_after_ms };
        }
        End::Named(Outcome {
            kind: dice.pick(kinds),
            status: if dice.one_in(2) { status } else { 0 },
            phase: if dice.below(3) > 0 { Phase::Unknown } else { Phase::NotSent },
            retry_after_ms,
        })
    }
}

fn asked(dice: &mut Dice) -> u64 {
    if dice.one_in(2) { dice.pick(ASKED) } else { u64::from(dice.below(70_000)) }
}
