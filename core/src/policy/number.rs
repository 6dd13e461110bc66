//! From the double that a host has to the integer that the core keeps.

use super::setting::TimeUnit;
use crate::error::ErrorCode;

/// Doubles hold every whole number up to here.
const EXACT: u64 = 1 << 53;

impl TimeUnit {
    pub(super) const fn nanos(self) -> u64 {
        match self {
            Self::Milliseconds => 1_000_000,
            Self::Seconds => 1_000_000_000,
        }
    }
}

/// `number × scale` as a whole number between `min` and `max`.
///
/// The number must be the double nearest to a whole multiple of `1/scale`: 0.1 is a tenth although
/// no double is, 0.0001 is too fine for thousandths.
pub(super) fn to_units(number: f64, scale: u64, min: u64, max: u64) -> Result<u64, ErrorCode> {
    // Exact enough: no knob's largest value has more digits than a double.
    let bound = max as f64 / scale as f64;
    if number.is_nan() || number < 0.0 || number > bound {
        return Err(ErrorCode::OutOfRange);
    }
    let whole = number as u64;
    let part = (number - whole as f64) * scale as f64 + 0.5;
    let units = whole.saturating_mul(scale).saturating_add(part as u64);
    if units < EXACT && units as f64 / scale as f64 != number {
        return Err(ErrorCode::TooFine);
    }
    if units < min {
        return Err(ErrorCode::OutOfRange);
    }
    Ok(units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_what_they_look_like() {
        for (number, units) in [(0.1, 100), (1.001, 1_001), (0.007, 7), (2.0, 2_000), (-0.0, 0)] {
            assert_eq!(to_units(number, 1_000, 0, 1_000_000), Ok(units), "{number}");
        }
        for thousandth in (0..100_000).step_by(if cfg!(miri) { 997 } else { 1 }) {
            let number = thousandth as f64 / 1_000.0;
            assert_eq!(to_units(number, 1_000, 0, 1_000_000), Ok(thousandth));
        }
    }

    #[test]
    fn faults_are_told_apart() {
        assert_eq!(to_units(0.0001, 1_000, 0, 10_000), Err(ErrorCode::TooFine));
        assert_eq!(to_units(1.5, 1, 1, 10), Err(ErrorCode::TooFine));
        for number in [f64::NAN, f64::INFINITY, -1.0, -1e-9, 11.0, 0.0] {
            assert_eq!(to_units(number, 1, 1, 10), Err(ErrorCode::OutOfRange), "{number}");
        }
        let century = crate::time::CENTURY;
        assert_eq!(to_units(3_155_760_000_000.0, 1_000_000, 0, century), Ok(century));
        assert!(to_units(3_155_760_000_001.0, 1_000_000, 0, century).is_err());
    }
}
