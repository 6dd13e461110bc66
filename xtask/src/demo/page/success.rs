//! Which part of the calls succeeds.

use anyhow::Result;
use plotters::prelude::LineSeries;

use super::canvas::{self, Axes};
use super::rate;
use crate::demo::figures;
use crate::demo::results::Results;

const ROW: u32 = 118;

/// A row for each host, both runs in it.
pub fn plot(results: &Results) -> Result<String> {
    let scenario = &results.scenario;
    let tracks = &results.with.tracks;
    let height = ROW * tracks.len() as u32 + 56;
    let about = "Success rate of each host with stormproof and without it";
    canvas::draw(height, about, |area| {
        let rows = rows(tracks.len());
        let parts = area.split_by_breakpoints([0; 0], &rows[..]);
        for (place, (part, track)) in parts.iter().zip(tracks).enumerate() {
            let (first, last) = (place == 0, place + 1 == tracks.len());
            let axes = Axes {
                label: &track.name,
                top: 1.04,
                numbers: 3,
                format: |part| format!("{:.0} %", part * 100.0),
                names: first,
                time: last,
            };
            let mut chart = canvas::over_time(part, scenario, &axes)?;
            for (way, record) in results.runs().into_iter().rev() {
                let Some(track) = record.tracks.get(place) else { continue };
                let rate = figures::success_rate(track, scenario.end_ms());
                chart.draw_series(LineSeries::new(rate, rate::ink(way).line(2)))?;
            }
        }
        Ok(())
    })
}

/// Where each row but the last ends: names stand above the first, the time below the last.
fn rows(count: usize) -> Vec<i32> {
    (1..count as i32).map(|row| row * ROW as i32 + 16).collect()
}
