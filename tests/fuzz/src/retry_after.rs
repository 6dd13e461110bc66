//! `Retry-After` and its relatives, held against a second reading of the same text.
//!
//! The input is what a person would write: one field to a line, in the order `retry-after`, `date`,
//! `retry-after-ms`, `x-ms-retry-after-ms`, wall clock in milliseconds. A line that is missing is a
//! field that is missing.

use std::time::{Duration, UNIX_EPOCH};

use stormproof::retry_after::{Fields, MAX_LEN, parse};

/// A wall clock like any: 15 January 2026, noon.
const WALL_MS: u64 = 1_768_478_400_000;
/// 9999-12-31T23:59:59Z: a later year has five digits.
const LAST_SECOND: u64 = 253_402_300_799;
/// The longest that 50 years can be.
const FIFTY_YEARS_MS: u64 = (50 * 365 + 13) * 86_400_000;

/// Checks one response.
pub fn check(input: &[u8]) {
    let mut lines = input.split(|byte| *byte == b'\n');
    let fields = Fields {
        retry_after: lines.next(),
        date: lines.next(),
        retry_after_ms: lines.next(),
        x_ms_retry_after_ms: lines.next(),
    };
    let wall_ms = lines.next().and_then(number).unwrap_or(WALL_MS);
    precedence(fields, wall_ms);
    for field in [fields.retry_after_ms, fields.x_ms_retry_after_ms] {
        milliseconds(field, wall_ms);
    }
    if let Some(value) = fields.retry_after {
        plain(value, fields.date, wall_ms);
    }
    written_date(wall_ms);
}

fn number(line: &[u8]) -> Option<u64> {
    std::str::from_utf8(line).ok()?.parse().ok()
}

/// The milliseconds outrank the seconds, and a field that means nothing is as if absent.
fn precedence(fields: Fields<'_>, wall_ms: u64) {
    let ms = Fields { retry_after_ms: fields.retry_after_ms, ..Fields::default() };
    let x_ms = Fields { x_ms_retry_after_ms: fields.x_ms_retry_after_ms, ..Fields::default() };
    let plain = Fields { retry_after: fields.retry_after, date: fields.date, ..Fields::default() };
    let one_by_one = [ms, x_ms, plain].iter().find_map(|fields| fields.delay_ms(wall_ms));
    assert_eq!(fields.delay_ms(wall_ms), one_by_one, "the first field that means something");
}

fn milliseconds(field: Option<&[u8]>, wall_ms: u64) {
    let fields = Fields { retry_after_ms: field, ..Fields::default() };
    let expected = field.and_then(|value| largest(value, 0));
    assert_eq!(fields.delay_ms(wall_ms), expected, "milliseconds, rounded up");
}

fn plain(value: &[u8], date: Option<&[u8]>, wall_ms: u64) {
    let wait = parse(value, date, wall_ms);
    assert_eq!(parse(&value.to_ascii_uppercase(), date, wall_ms), wait, "upper case");
    assert_eq!(parse(&value.to_ascii_lowercase(), date, wall_ms), wait, "lower case");
    if value.len() + 2 <= MAX_LEN {
        let padded = [b"\t", value, b" "].concat();
        assert_eq!(parse(&padded, date, wall_ms), wait, "white space around it");
    }
    match largest(value, 3) {
        Some(millis) => {
            assert_eq!(wait, Some(millis), "seconds, rounded up to a millisecond");
            one_member_more(value, date, wall_ms, millis);
        }
        None => a_date_or_nothing(value, date, wall_ms),
    }
}

fn one_member_more(value: &[u8], date: Option<&[u8]>, wall_ms: u64, millis: u64) {
    for (member, asked) in [("0", 0), ("7", 7_000), ("18446744073709551616", u64::MAX)] {
        let longer = [value, b" , ", member.as_bytes()].concat();
        if longer.len() <= MAX_LEN {
            let wait = parse(&longer, date, wall_ms);
            assert_eq!(wait, Some(millis.max(asked)), "a further member never lowers the largest");
        }
    }
}

fn a_date_or_nothing(value: &[u8], date: Option<&[u8]>, wall_ms: u64) {
    let since_1970 = parse(value, None, 0);
    let has_century = !value.contains(&b'-') || !value.contains(&b',') || is_fixdate(value);
    if !has_century {
        // An RFC 850 date, if any: its century depends on what it is compared with.
        let wait = parse(value, None, wall_ms.min(LAST_SECOND * 1_000));
        assert!(wait.is_none_or(|wait| wait <= FIFTY_YEARS_MS), "no more than 50 years ahead");
        return;
    }
    let at_wall = since_1970.map(|instant| instant.saturating_sub(wall_ms));
    assert_eq!(parse(value, None, wall_ms), at_wall, "the distance from the wall clock");
    if let Some(instant) = second_opinion(value) {
        assert_eq!(since_1970, Some(instant), "the instant that another parser reads");
    }
    if let Some(reference) = date.and_then(second_opinion) {
        let expected = since_1970.map(|instant| instant.saturating_sub(reference));
        assert_eq!(parse(value, date, wall_ms), expected, "the distance from the response's date");
    }
}

/// Does a day of the month stand where RFC 850 has a dash? Then a dash can only be a zone's.
fn is_fixdate(value: &[u8]) -> bool {
    let rest = value.iter().skip_while(|byte| **byte != b',');
    rest.skip(1).find(|byte| !byte.is_ascii_digit() && **byte != b' ').is_some_and(|b| *b != b'-')
}

/// What the crate `httpdate` reads, in milliseconds: the same formats, taken more narrowly.
fn second_opinion(value: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(value).ok()?.trim_matches([' ', '\t']);
    let is_rfc850 = text.as_bytes().get(..text.len().min(12))?.contains(&b'-');
    if text.len() != text.trim().len() || value.len() > MAX_LEN || is_rfc850 {
        return None;
    }
    let instant = httpdate::parse_http_date(text).ok()?;
    u64::try_from(instant.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

/// A date that another library has written names the instant that it was written for, in whatever
/// format and zone.
fn written_date(wall_ms: u64) {
    let second = wall_ms / 1_000 % (LAST_SECOND + 1);
    let fixdate = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(second));
    let at_origin = |text: &str| parse(text.as_bytes(), None, 0);
    assert_eq!(at_origin(&fixdate), Some(second * 1_000), "{fixdate}");

    // `Thu, 15 Jan 2026 12:00:00 GMT`
    let [day_name, day, month] = [&fixdate[..3], &fixdate[5..7], &fixdate[8..11]];
    let [year, time] = [&fixdate[12..16], &fixdate[17..25]];
    let asctime = format!("{day_name} {month} {:>2} {time} {year}", day.trim_start_matches('0'));
    assert_eq!(at_origin(&asctime), Some(second * 1_000), "{asctime}");

    let minutes = wall_ms % 1_440;
    for (sign, instant) in
        [('+', second.saturating_sub(minutes * 60)), ('-', second + minutes * 60)]
    {
        let zone = format!("{sign}{:02}{:02}", minutes / 60, minutes % 60);
        let zoned = fixdate.replace("GMT", &zone);
        assert_eq!(at_origin(&zoned), Some(instant * 1_000), "{zoned}");

        // Seen from a day before, the century is clear.
        let rfc850 = format!("Sunday, {day}-{month}-{} {time} {zone}", &year[2..]);
        let before = (instant * 1_000).saturating_sub(86_400_000);
        let wait = instant * 1_000 - before;
        assert_eq!(parse(rfc850.as_bytes(), None, before), Some(wait), "{rfc850}");
    }
}

/// The largest member of a list of decimal numbers with `places` digits kept after the point,
/// rounded up: read as texts, without a multiplication.
fn largest(value: &[u8], places: usize) -> Option<u64> {
    let text = std::str::from_utf8(value).ok().filter(|text| text.len() <= MAX_LEN)?;
    let members = text.split(',').map(|member| decimal(member.trim_matches([' ', '\t']), places));
    members.collect::<Option<Vec<u64>>>()?.into_iter().max()
}

fn decimal(member: &str, places: usize) -> Option<u64> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = match member.split_once('.') {
        Some((whole, fraction)) if is_number(fraction) => (whole, fraction),
        Some(_) => return None,
        None => (member, ""),
    };
    if !is_number(whole) {
        return None;
    }
    let kept = &fraction[..fraction.len().min(places)];
    let rest = fraction[kept.len()..].bytes().any(|digit| digit != b'0');
    // More digits than 128 bits can hold are more than 64 bits can hold.
    let digits = format!("{whole}{kept:0<places$}").parse().unwrap_or(u128::MAX);
    Some(u64::try_from(digits.saturating_add(u128::from(rest))).unwrap_or(u64::MAX))
}
