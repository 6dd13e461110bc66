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
    let end_ms = scenario.end_ms();
    let rates =
        results.runs().map(|(way, record)| (way, figures::request_rate(&record.requests, end_ms)));
    let peaks = rates.iter().flat_map(|(_, rate)| rate.iter().map(|(_, rate)| *rate));
    let top = peaks.fold(scenario.capacity_rps, f64::max) * 1.08;
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
        let capacity = [0, end_ms].map(|t| (canvas::seconds(t), scenario.capacity_rps));
        chart.draw_series(DashedLineSeries::new(capacity, 7, 5, Ink::Capacity.line(2)))?;
        for (way, rate) in rates.into_iter().rev() {
            let surface = ink(way).color().mix(0.14);
            chart.draw_series(AreaSeries::new(rate.iter().copied(), 0.0, surface))?;
            chart.draw_series(LineSeries::new(rate, ink(way).line(2)))?;
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
