//! Bytes that go out as they are, however little HTTP there is in them.

use crate::invalid::refuse;
use bytes::Bytes;
use serde::de::{Deserialize, Deserializer};
use std::time::Duration;

/// 1 GiB; parts are sent piece by piece, so this bounds time rather than memory.
const MOST_BYTES: u64 = 1 << 30;
const LONGEST_TEXT: usize = 64 << 10;
const LONGEST_PAUSE_MS: u64 = 600_000;
/// About as much is handed to the socket at once.
const PIECE: usize = 64 << 10;

/// `bytes`, so many `times`, with a pause after each where there is one.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    bytes: Bytes,
    times: u64,
    every: Duration,
}

impl Part {
    /// All of it, at once.
    pub(crate) fn once(bytes: impl Into<Bytes>) -> Self {
        Self { bytes: bytes.into(), times: 1, every: Duration::ZERO }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty() || self.times == 0
    }

    /// What is handed to the socket at once, and the pause after each.
    pub(crate) fn pieces(&self) -> (impl Iterator<Item = Bytes>, Duration) {
        let fit = (PIECE / self.bytes.len().max(1)).max(1) as u64;
        let batch = if self.every.is_zero() { fit.min(self.times.max(1)) } else { 1 };
        let many = match batch {
            1 => self.bytes.clone(),
            _ => self.bytes.repeat(batch as usize).into(),
        };
        let rest = (self.times % batch) as usize * self.bytes.len();
        let tail = (rest > 0).then(|| many.slice(..rest));
        let whole = std::iter::repeat_n(many, (self.times / batch) as usize);
        (whole.chain(tail), self.every)
    }
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let Fields { text, times, every_ms } = Fields::deserialize(from)?;
        if !(1..=LONGEST_TEXT).contains(&text.len()) {
            let allowed = format_args!("1 to {LONGEST_TEXT}");
            return Err(refuse("length of text", text.len(), allowed));
        }
        let most = MOST_BYTES / text.len() as u64;
        if !(1..=most).contains(&times) {
            return Err(refuse("times", times, format_args!("1 to {most}")));
        }
        if every_ms > LONGEST_PAUSE_MS {
            return Err(refuse("every_ms", every_ms, format_args!("0 to {LONGEST_PAUSE_MS}")));
        }
        Ok(Self { bytes: text.into(), times, every: Duration::from_millis(every_ms) })
    }
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    text: String,
    #[serde(default = "one")]
    times: u64,
    #[serde(default)]
    every_ms: u64,
}

fn one() -> u64 {
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_add_up() {
        for (times, every) in [(1, 0), (7, 0), (7, 3), (50_000, 0), (65_536, 0)] {
            let every = Duration::from_millis(every);
            let part = Part { bytes: Bytes::from_static(b"abc"), times, every };
            let sent: usize = part.pieces().0.map(|piece| piece.len()).sum();
            assert_eq!(sent as u64, 3 * times, "{times} {every:?}");
        }
    }
}
