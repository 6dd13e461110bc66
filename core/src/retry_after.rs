//! `Retry-After` and its relatives (RFC 9110 §10.2.3, §5.6.7).

use crate::http_date::{self, UnixMillis};
use crate::step::stable_enum;

stable_enum! {
    /// How the wait that a dependency asks for meets the policy's own delay.
    Combine {
        /// What was asked plus a spread, so that all who were told the same do not return at once.
        Spread = 0 "spread",
        /// The longer of the two, without spread.
        Max = 1 "max",
    }
}

/// A field value longer than this is as if absent: no legal one comes near.
pub const MAX_LEN: usize = 256;

/// The fields of a response that say when to come back; `None` where the response has none.
///
/// A field that was sent more than once is given as its lines joined by a comma, as `fetch` does.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fields<'a> {
    /// `retry-after-ms`: milliseconds. Outranks the others.
    pub retry_after_ms: Option<&'a [u8]>,
    /// `x-ms-retry-after-ms`: milliseconds. Outranks `retry-after`.
    pub x_ms_retry_after_ms: Option<&'a [u8]>,
    /// `retry-after`: seconds or a date.
    pub retry_after: Option<&'a [u8]>,
    /// `date`: what a date in `retry-after` is compared with, if valid.
    pub date: Option<&'a [u8]>,
}

impl Fields<'_> {
    /// The wait asked for in milliseconds; `None` where no field has a value that means something.
    ///
    /// `wall_ms` is the host's wall clock, milliseconds since 1970, used where `date` is no help.
    pub fn delay_ms(&self, wall_ms: UnixMillis) -> Option<u64> {
        self.retry_after_ms
            .and_then(|value| parse_numbers(value, 1))
            .or_else(|| self.x_ms_retry_after_ms.and_then(|value| parse_numbers(value, 1)))
            .or_else(|| {
                let value = self.retry_after?;
                parse_numbers(value, 1_000).or_else(|| parse_date(value, self.date, wall_ms))
            })
    }
}

/// The wait that a `Retry-After` value asks for, in whole milliseconds, saturating.
///
/// Seconds, or one of the three date formats of RFC 9110 compared with the response's `date`
/// where that is valid and with `wall_ms` otherwise. A fraction is rounded up to 1 ms, a past
/// date is 0, a list of numbers is its largest. Anything else is `None`, as if absent.
///
/// ```
/// use stormproof::retry_after::parse;
///
/// assert_eq!(parse(b"120", None, 0), Some(120_000));
/// assert_eq!(parse(b"0x10", None, 0), None);
/// let date = b"Thu, 15 Jan 2026 12:02:00 GMT";
/// assert_eq!(parse(date, Some(b"Thu, 15 Jan 2026 12:00:00 GMT"), 0), Some(120_000));
/// ```
pub fn parse(value: &[u8], date: Option<&[u8]>, wall_ms: UnixMillis) -> Option<u64> {
    Fields { retry_after: Some(value), date, ..Fields::default() }.delay_ms(wall_ms)
}

fn parse_date(value: &[u8], date: Option<&[u8]>, wall_ms: UnixMillis) -> Option<u64> {
    let value = trimmed(value)?;
    let reference =
        date.and_then(trimmed).and_then(|date| http_date::parse(date, wall_ms)).unwrap_or(wall_ms);
    Some(http_date::parse(value, reference)?.saturating_sub(reference))
}

/// `DIGIT+ [ "." DIGIT+ ]`, or several of them with commas between: the largest, times `unit`.
fn parse_numbers(value: &[u8], unit: u64) -> Option<u64> {
    trimmed(value)?
        .split(|byte| *byte == b',')
        .map(|member| parse_number(trim(member), unit))
        .try_fold(0, |largest, number| Some(number?.max(largest)))
}

fn parse_number(member: &[u8], unit: u64) -> Option<u64> {
    let mut halves = member.splitn(2, |byte| *byte == b'.');
    let whole = digits(halves.next()?)?;
    let fraction = match halves.next() {
        None => 0,
        Some(fraction) => parse_fraction(fraction, unit)?,
    };
    Some(whole.saturating_mul(unit).saturating_add(fraction))
}

/// The digits after the point in `unit`ths, rounded up.
fn parse_fraction(fraction: &[u8], unit: u64) -> Option<u64> {
    digits(fraction)?;
    let mut weight = unit;
    let mut sum = 0;
    let mut rest = false;
    for digit in fraction.iter().map(|byte| u64::from(byte - b'0')) {
        if weight > 1 {
            weight /= 10;
            sum += digit * weight;
        } else {
            rest |= digit != 0;
        }
    }
    Some(sum + u64::from(rest))
}

fn digits(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0u64, |number, byte| {
        byte.is_ascii_digit()
            .then(|| number.saturating_mul(10).saturating_add(u64::from(byte - b'0')))
    })
}

fn trimmed(value: &[u8]) -> Option<&[u8]> {
    (value.len() <= MAX_LEN).then(|| trim(value))
}

/// Without optional whitespace around it (RFC 9110 §5.6.3).
fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = value {
        value = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_round_up() {
        for (text, millis) in [
            ("1.5", 1_500),
            ("0.493", 493),
            ("0.0001", 1),
            ("0.4931", 494),
            ("0.000", 0),
            ("2.9999", 3_000),
        ] {
            assert_eq!(parse(text.as_bytes(), None, 0), Some(millis), "{text}");
        }
    }

    #[test]
    fn millisecond_fields_outrank_and_fall_through() {
        let fields = Fields {
            retry_after_ms: Some(b"abc"),
            x_ms_retry_after_ms: Some(b"0.2"),
            retry_after: Some(b"9"),
            date: None,
        };
        assert_eq!(fields.delay_ms(0), Some(1));
    }

    #[test]
    fn a_date_is_compared_with_that_of_the_response() {
        let (later, date) = (b"Thu, 15 Jan 2026 12:02:00 GMT", b"Thu, 15 Jan 2026 12:00:00 GMT");
        assert_eq!(parse(later, Some(date), 0), Some(120_000));
        assert_eq!(parse(later, Some(b"today"), 1_768_478_460_000), Some(60_000));
    }

    #[test]
    fn hostile_values_are_absent() {
        for value in ["", " ", ",", "1,", "1.", ".5", "+1", "1 2", "\u{0661}"] {
            assert_eq!(parse(value.as_bytes(), None, 0), None, "{value:?}");
        }
        assert_eq!(parse(&[b'1'; 257], None, 0), None);
        assert_eq!(parse(&[b'9'; 256], None, 0), Some(u64::MAX));
    }
}
