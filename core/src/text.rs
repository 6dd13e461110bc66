//! Sentences without the weight of `core::fmt`, which would double the WebAssembly module.

use alloc::string::String;

use crate::time::{MILLISECOND, Nanos};

/// Neither moves a terminal's cursor nor ends a line: controls of C0 and C1, and Unicode's own line
/// separators.
pub(crate) fn is_printable(character: char) -> bool {
    !character.is_control() && !matches!(character, '\u{2028}' | '\u{2029}')
}

/// Writes numbers as a person reads them.
pub(crate) trait Text {
    fn number(&mut self, number: u64) -> &mut Self;
    /// `number / 10^digits`, without trailing zeros.
    fn decimal(&mut self, number: u64, digits: u32) -> &mut Self;
    fn text(&mut self, text: &str) -> &mut Self;

    /// Thousandths: `400` is `0.4`.
    fn thousandths(&mut self, number: u64) -> &mut Self {
        self.decimal(number, 3)
    }

    /// Seconds to the millisecond, rounded up, so that nobody comes back too early.
    fn span(&mut self, span: Nanos) -> &mut Self {
        self.decimal(span.div_ceil(MILLISECOND), 3)
    }

    fn millis(&mut self, span: Nanos) -> &mut Self {
        self.decimal(span, 6)
    }

    fn seconds(&mut self, span: Nanos) -> &mut Self {
        self.decimal(span, 9)
    }
}

impl Text for String {
    fn number(&mut self, number: u64) -> &mut Self {
        if number >= 10 {
            self.number(number / 10);
        }
        self.push((b'0' + (number % 10) as u8) as char);
        self
    }

    fn decimal(&mut self, number: u64, digits: u32) -> &mut Self {
        let one = 10u64.pow(digits);
        self.number(number / one);
        let mut rest = number % one;
        let mut weight = one / 10;
        if rest > 0 {
            self.push('.');
        }
        while rest > 0 {
            self.push((b'0' + (rest / weight) as u8) as char);
            rest %= weight;
            weight /= 10;
        }
        self
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.push_str(text);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        let mut text = String::new();
        text.number(0).text(" ").thousandths(400).text(" ").seconds(12_300_000_000);
        text.text(" ").millis(1).text(" ").thousandths(1_005).text(" ").number(u64::MAX);
        assert_eq!(text, "0 0.4 12.3 0.000001 1.005 18446744073709551615");
    }
}
