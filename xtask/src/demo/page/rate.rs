//! Requests per second at the server.

use anyhow::Result;
use plotters::prelude::{AreaSeries, Color, DashedLineSeries, LineSeries};

use super::canvas::{self, Axes};
use super::ink::Ink;
use crate::demo::figures;
use crate::demo::results::Results;
use crate::demo::run::Way;

/// Both runs on one scale, and what the server can do.
pub fn plot(results: &Results) -> Result<String> {
    let scenario = &results.scenario;
    let peaks = results.runs().map(|(_, record)| figures::peak(&record.requests));
    let top = peaks.into_iter().max().unwrap_or(0).max(scenario.capacity_rps as u64) as f64 * 1.1;
    let about = "Requests per second at the server with stormproof and without it";
    canvas::draw(340, about, |area| {
        let axes = Axes {
            label: "requests per second",
            top,
            numbers: 8,
            format: |rate| format!("{rate:.0}"),
            names: true,
            time: true,
        };
        let mut chart = canvas::over_time(area, scenario, &axes)?;
        let end = canvas::seconds(scenario.end_ms());
        let capacity = [(0.0, scenario.capacity_rps), (end, scenario.capacity_rps)];
        let dashes = DashedLineSeries::new(capacity, 7, 5, Ink::Capacity.line(2));
        chart.draw_series(dashes)?;
        for (way, record) in results.runs().into_iter().rev() {
            let ink = ink(way);
            let rate = figures::request_rate(&record.requests, scenario.end_ms());
            let surface = ink.color().mix(0.14);
            chart.draw_series(AreaSeries::new(rate.iter().copied(), 0.0, surface))?;
            chart.draw_series(LineSeries::new(rate, ink.line(2)))?;
        }
        Ok(())
    })
}

/// The colour of a run.
pub fn ink(way: Way) -> Ink {
    match way {
        Way::With => Ink::With,
        Way::Without => Ink::Without,
    }
}
