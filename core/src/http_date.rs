//! The three date formats of HTTP (RFC 9110 §5.6.7).

/// Milliseconds since 1970-01-01T00:00:00Z.
pub type UnixMillis = u64;

const MONTHS: [&[u8; 3]; 12] = [
    b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec",
];
const DAYS: [&[u8]; 7] =
    [b"monday", b"tuesday", b"wednesday", b"thursday", b"friday", b"saturday", b"sunday"];

/// The instant that `text` names: IMF-fixdate, RFC 850 or asctime, letter case ignored, the zone
/// `GMT` or `±hhmm` (asctime: always UTC). A wrong weekday is tolerated, second 60 is the next
/// second. The century of an RFC 850 year is the latest that lies no more than 50 years ahead of
/// `reference`. An instant before 1970 is 0.
pub(crate) fn parse(text: &[u8], reference: UnixMillis) -> Option<UnixMillis> {
    let mut cursor = Cursor(text);
    let day_name = cursor.letters();
    let date = if cursor.take(b',') {
        cursor.expect(b' ')?;
        if DAYS.iter().any(|day| day_name.eq_ignore_ascii_case(&day[..3])) {
            fixdate(&mut cursor)?
        } else if DAYS.iter().any(|day| day_name.eq_ignore_ascii_case(day)) {
            rfc850(&mut cursor, reference)?
        } else {
            return None;
        }
    } else {
        DAYS.iter().find(|day| day_name.eq_ignore_ascii_case(&day[..3]))?;
        cursor.expect(b' ')?;
        asctime(&mut cursor)?
    };
    cursor.0.is_empty().then_some(())?;
    date.unix_millis()
}

struct Date {
    year: i64,
    month: i64,
    day: i64,
    second_of_day: i64,
    zone_seconds: i64,
}

impl Date {
    fn unix_millis(&self) -> Option<UnixMillis> {
        if self.day < 1 || self.day > days_in_month(self.year, self.month) {
            return None;
        }
        let days = days_from_civil(self.year, self.month, self.day);
        let seconds = days * 86_400 + self.second_of_day - self.zone_seconds;
        Some(u64::try_from(seconds * 1_000).unwrap_or(0))
    }
}

/// `15 Jan 2026 12:02:00 GMT`
fn fixdate(cursor: &mut Cursor<'_>) -> Option<Date> {
    let day = cursor.number(2)?;
    cursor.expect(b' ')?;
    let month = cursor.month()?;
    cursor.expect(b' ')?;
    let year = cursor.number(4)?;
    cursor.expect(b' ')?;
    let second_of_day = cursor.time()?;
    cursor.expect(b' ')?;
    Some(Date { year, month, day, second_of_day, zone_seconds: cursor.zone()? })
}

/// `15-Jan-26 12:02:00 GMT`
fn rfc850(cursor: &mut Cursor<'_>, reference: UnixMillis) -> Option<Date> {
    let day = cursor.number(2)?;
    cursor.expect(b'-')?;
    let month = cursor.month()?;
    cursor.expect(b'-')?;
    let digits = cursor.number(2)?;
    cursor.expect(b' ')?;
    let second_of_day = cursor.time()?;
    cursor.expect(b' ')?;
    let zone_seconds = cursor.zone()?;
    let year = century(digits, reference, |year| {
        (days_from_civil(year, month, day) * 86_400 + second_of_day - zone_seconds) * 1_000
    });
    Some(Date { year, month, day, second_of_day, zone_seconds })
}

/// `Feb  6 12:02:00 2026`
fn asctime(cursor: &mut Cursor<'_>) -> Option<Date> {
    let month = cursor.month()?;
    cursor.expect(b' ')?;
    let day = if cursor.take(b' ') { cursor.number(1)? } else { cursor.number(2)? };
    cursor.expect(b' ')?;
    let second_of_day = cursor.time()?;
    cursor.expect(b' ')?;
    let year = cursor.number(4)?;
    Some(Date { year, month, day, second_of_day, zone_seconds: 0 })
}

/// The latest year with these two digits that puts the date no more than 50 years ahead.
fn century(digits: i64, reference: UnixMillis, millis_in: impl Fn(i64) -> i64) -> i64 {
    const DAY_MS: i64 = 86_400_000;
    // Beyond the range of the calendar any century is as good as another.
    let reference = i64::try_from(reference).unwrap_or(i64::MAX).min(1 << 56);
    let (year, month, day) = civil_from_days(reference.div_euclid(DAY_MS));
    let limit = days_from_civil(year + 50, month, day) * DAY_MS + reference.rem_euclid(DAY_MS);
    let mut candidate = year - year.rem_euclid(100) + 100 + digits;
    while millis_in(candidate) > limit {
        candidate -= 100;
    }
    candidate
}

/// Days since 1970-01-01 in the proleptic Gregorian calendar (Hinnant, "chrono-compatible
/// low-level date algorithms").
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, byte: u8) -> bool {
        match self.0 {
            [first, rest @ ..] if *first == byte => {
                self.0 = rest;
                true
            }
            _ => false,
        }
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.take(byte).then_some(())
    }

    fn letters(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|byte| !byte.is_ascii_alphabetic());
        let (letters, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest;
        letters
    }

    fn number(&mut self, width: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(width)?;
        self.0 = rest;
        digits.iter().try_fold(0, |number, byte| {
            byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0'))
        })
    }

    fn month(&mut self) -> Option<i64> {
        let name = self.letters();
        let index = MONTHS.iter().position(|month| name.eq_ignore_ascii_case(&month[..]))?;
        Some(index as i64 + 1)
    }

    /// `hh:mm:ss` as seconds of the day.
    fn time(&mut self) -> Option<i64> {
        let hour = self.number(2)?;
        self.expect(b':')?;
        let minute = self.number(2)?;
        self.expect(b':')?;
        let second = self.number(2)?;
        (hour < 24 && minute < 60 && second <= 60).then_some(hour * 3_600 + minute * 60 + second)
    }

    /// `GMT` or `±hhmm`, in seconds east of it.
    fn zone(&mut self) -> Option<i64> {
        let east = if self.take(b'+') {
            1
        } else if self.take(b'-') {
            -1
        } else {
            return self.letters().eq_ignore_ascii_case(b"gmt").then_some(0);
        };
        let hours = self.number(2)?;
        let minutes = self.number(2)?;
        (hours < 24 && minutes < 60).then_some(east * (hours * 3_600 + minutes * 60))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: UnixMillis = 1_768_478_400_000;

    #[test]
    fn all_formats_name_the_same_instant() {
        for text in [
            "Thu, 15 Jan 2026 12:00:00 GMT",
            "Thursday, 15-Jan-26 12:00:00 GMT",
            "Thu Jan 15 12:00:00 2026",
            "Mon, 15 Jan 2026 13:30:00 +0130",
            "thu, 15 JAN 2026 11:59:60 gmt",
        ] {
            assert_eq!(parse(text.as_bytes(), NOON), Some(NOON), "{text}");
        }
    }

    /// Every day of an era of 400 years, and some of those around it.
    #[test]
    fn the_calendar_round_trips() {
        let step = if cfg!(miri) { 997 } else { 1 };
        for days in (-146_097..146_097).step_by(step) {
            let (year, month, day) = civil_from_days(days);
            assert_eq!(days_from_civil(year, month, day), days);
            assert!((1..=12).contains(&month));
            assert!((1..=days_in_month(year, month)).contains(&day));
        }
        assert_eq!(civil_from_days(0), (1970, 1, 1));
        assert_eq!(civil_from_days(11_016), (2000, 2, 29));
        assert_eq!(civil_from_days(-25_509), (1900, 2, 28));
        assert_eq!(civil_from_days(-25_508), (1900, 3, 1));
    }

    #[test]
    fn february_has_its_days_and_a_day_its_hours() {
        let lengths = [1900, 2000, 2023, 2024, 2100].map(|year| days_in_month(year, 2));
        assert_eq!(lengths, [28, 29, 28, 29, 28]);
        assert_eq!(parse(b"Sun, 29 Feb 2100 12:00:00 GMT", NOON), None);
        assert_eq!(parse(b"Sumday, 28 Feb 2100 12:00:00 GMT", NOON), None);
        for zone in ["+2400", "+0060", "-2500", "+0160", "+010"] {
            let text = std::format!("Thu, 15 Jan 2026 12:00:00 {zone}");
            assert_eq!(parse(text.as_bytes(), NOON), None, "{zone}");
        }
        assert!(parse(b"Thu, 15 Jan 2026 12:00:00 -2359", NOON).is_some());
    }

    /// Noon is fifty years and an hour ahead, or exactly fifty years.
    #[test]
    fn a_year_of_two_digits_lies_at_most_fifty_years_ahead_in_its_own_zone() {
        let in_2076 = Some(3_346_315_200_000);
        let in_1976 = Some(190_555_201_000);
        assert_eq!(parse(b"Wednesday, 15-Jan-76 13:00:00 +0100", NOON), in_2076);
        assert_eq!(parse(b"Thursday, 15-Jan-76 12:00:01 GMT", NOON), in_1976);
    }

    #[test]
    fn extreme_references_neither_loop_nor_overflow() {
        for reference in [0, 1, u64::MAX, u64::MAX / 2, 1 << 56] {
            parse(b"Thursday, 15-Jan-26 12:00:00 GMT", reference);
        }
    }
}
