//! The numbers behind the picture.

use super::record::{Record, Requests, Track};
use super::scenario::Scenario;

const SECOND: u64 = 1_000;
const TENTH: u64 = 100;
/// Rates and success are read over this much time: two reports of a host.
const WINDOW: u64 = 500;
const STEP: u64 = 250;
/// From this part of successes on a service counts as well again.
const WELL: f64 = 0.9;

/// Requests per second around each tenth of a second: (seconds, rate).
pub fn request_rate(requests: &Requests, end_ms: u64) -> Vec<(f64, f64)> {
    let around = |t: u64| {
        let from = t.saturating_sub(WINDOW / 2);
        let to = t + WINDOW / 2;
        let rate = requests.between(from, to) as f64 * SECOND as f64 / (to - from) as f64;
        (seconds(t), rate)
    };
    // Whole tenths lie around the half ones only.
    (TENTH / 2..end_ms - WINDOW / 2).step_by(TENTH as usize).map(around).collect()
}

/// The most requests in a second.
pub fn peak(requests: &Requests) -> u64 {
    let starts = (0..=requests.end_ms()).step_by(TENTH as usize);
    starts.map(|t| requests.between(t, t + SECOND)).max().unwrap_or(0)
}

/// Which part of the calls that ended in the half second before succeeded: (seconds, part).
/// Moments in which none ended are left out.
pub fn success_rate(track: &Track, end_ms: u64) -> Vec<(f64, f64)> {
    let points = (STEP..=end_ms).step_by(STEP as usize);
    let part = |t: u64| Some((seconds(t), success(&[track], t.saturating_sub(WINDOW), t)?));
    points.filter_map(part).collect()
}

/// How long after the outage at least nine of ten calls ended well, and went on to.
/// `None`: not within the scenario.
pub fn recovery_ms(record: &Record, scenario: &Scenario) -> Option<u64> {
    let tracks: Vec<&Track> = record.tracks.iter().collect();
    let windows = (scenario.outage_end_ms()..=scenario.end_ms() - WINDOW).step_by(STEP as usize);
    let bad = |t: &u64| success(&tracks, *t, t + WINDOW).is_none_or(|part| part < WELL);
    let first_good = match windows.clone().filter(bad).last() {
        Some(last_bad) => last_bad + STEP,
        None => scenario.outage_end_ms(),
    };
    (first_good <= scenario.end_ms() - WINDOW).then(|| first_good - scenario.outage_end_ms())
}

/// The latency that 95 of 100 of the newest calls did not exceed.
pub fn p95_ms(track: &Track, lines: usize) -> Option<f64> {
    let newest = track.lines.iter().rev().take(lines);
    let mut latencies: Vec<f64> = newest.flat_map(|line| line.latencies_ms.clone()).collect();
    latencies.sort_by(f64::total_cmp);
    let place = (latencies.len() * 95).div_ceil(100);
    latencies.get(place.saturating_sub(1)).copied()
}

/// Which part of the calls that ended in this span succeeded.
pub fn success(tracks: &[&Track], from_ms: u64, to_ms: u64) -> Option<f64> {
    let mut ended = (0, 0);
    for track in tracks {
        let (before, after) = (track.done_until(from_ms), track.done_until(to_ms));
        ended = (ended.0 + after.0 - before.0, ended.1 + after.1 - before.1);
    }
    (ended.0 > 0).then(|| ended.1 as f64 / ended.0 as f64)
}

fn seconds(t_ms: u64) -> f64 {
    t_ms as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::record::Line;
    use super::*;

    fn track(ok_per_line: impl Fn(u64) -> u64) -> Track {
        let mut line = Line::default();
        let lines = (1..=36).map(|number| {
            line.t_ms = number * STEP;
            line.done += 10;
            line.ok += ok_per_line(line.t_ms);
            line.latencies_ms = vec![number as f64];
            line.clone()
        });
        Track { lines: lines.collect(), ..Track::default() }
    }

    #[test]
    fn a_recovery_that_does_not_last_is_none() {
        let scenario = Scenario::load(true).unwrap();
        let end = scenario.outage_end_ms();
        let recovery = |ok: &dyn Fn(u64) -> u64| {
            let record = Record { tracks: vec![track(ok)], ..Record::default() };
            recovery_ms(&record, &scenario)
        };
        assert_eq!(recovery(&|_| 10), Some(0));
        assert_eq!(recovery(&|t| if t > end + 1_000 { 10 } else { 0 }), Some(1_000));
        assert_eq!(recovery(&|t| if t > end + 1_000 && t < end + 3_000 { 10 } else { 0 }), None);
    }

    #[test]
    fn the_peak_is_the_fullest_second() {
        let bucket = |at_ms: u64, count: u64| json!({"at_ms": at_ms, "counts": [{"host": "a", "count": count}]});
        let timeline =
            json!({"buckets": [bucket(0, 5), bucket(900, 7), bucket(1000, 9), bucket(5000, 8)]});
        let requests = Requests::of(&timeline);
        assert_eq!(peak(&requests), 16);
        assert_eq!(requests.total(), 29);
        assert_eq!(request_rate(&requests, 1_500).last(), Some(&(1.15, 32.0)));
    }

    #[test]
    fn nineteen_of_twenty_are_not_slower() {
        assert_eq!(p95_ms(&track(|_| 10), 20), Some(35.0));
        assert_eq!(p95_ms(&Track::default(), 20), None);
    }
}
