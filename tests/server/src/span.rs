//! A length of time in milliseconds: fixed, or drawn evenly from a range.

use crate::invalid::refuse;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use std::fmt;
use std::time::Duration;

/// Ten minutes: no test waits longer, and a slip of three zeros is caught.
const LONGEST_MS: u64 = 600_000;

/// `200`, or `[10, 30]` (both ends included).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Span {
    low_ms: u64,
    high_ms: u64,
}

impl Span {
    /// The point of the range that `unit`, at least 0 and below 1, stands for.
    pub(crate) fn at(self, unit: f64) -> Duration {
        let width = (self.high_ms - self.low_ms) as f64;
        Duration::from_secs_f64((self.low_ms as f64 + width * unit) / 1000.0)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Span;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "milliseconds, 0 to {LONGEST_MS}, or a range of them [low, high]")
    }

    fn visit_u64<E: Error>(self, ms: u64) -> Result<Span, E> {
        range(ms, ms)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Span, A::Error> {
        let low = items.next_element()?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
        let high = items.next_element()?.ok_or_else(|| A::Error::invalid_length(1, &self))?;
        match items.next_element::<u64>()? {
            None => range(low, high),
            Some(_) => Err(A::Error::invalid_length(3, &self)),
        }
    }
}

fn range<E: Error>(low_ms: u64, high_ms: u64) -> Result<Span, E> {
    if low_ms <= high_ms && high_ms <= LONGEST_MS {
        return Ok(Span { low_ms, high_ms });
    }
    let allowed = format_args!("0 <= low <= high <= {LONGEST_MS}").to_string();
    Err(refuse("range", format_args!("[{low_ms}, {high_ms}]"), allowed))
}
