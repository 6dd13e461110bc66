//! The state of each host's circuit, as a ribbon.

use anyhow::Result;
use plotters::element::{Rectangle, Text};
use plotters::prelude::Color;
use plotters::style::text_anchor::{HPos, VPos};

use super::canvas::{self, Axes, Chart};
use super::ink::Ink;
use crate::demo::record::Track;
use crate::demo::results::Results;

const ROW: u32 = 44;

/// A ribbon for each host: the more open, the higher.
pub fn plot(results: &Results) -> Result<String> {
    let tracks = &results.with.tracks;
    let height = ROW * tracks.len() as u32 + 80;
    canvas::draw(height, "The state of the circuit of each host", |area| {
        let axes = Axes {
            label: "",
            top: tracks.len() as f64,
            numbers: 0,
            format: |_| String::new(),
            names: true,
            time: true,
        };
        let mut chart = canvas::over_time(area, &results.scenario, &axes)?;
        for (place, track) in tracks.iter().enumerate() {
            let floor = (tracks.len() - 1 - place) as f64 + 0.12;
            ribbon(&mut chart, track, floor, canvas::seconds(results.scenario.end_ms()))?;
            let (_, y) = chart.backend_coord(&(0.0, floor + 0.3));
            let style = canvas::text(13, HPos::Right, VPos::Center);
            area.draw(&Text::new(track.name.clone(), (56, y), style))?;
        }
        Ok(())
    })
}

fn ribbon(chart: &mut Chart, track: &Track, floor: f64, end: f64) -> Result<()> {
    let mut start = 0.0;
    let pieces = track.lines.iter().filter_map(|line| {
        let until = canvas::seconds(line.t_ms).min(end);
        let from = std::mem::replace(&mut start, until);
        let (ink, height) = look(line.circuit.as_deref()?);
        let corners = [(from, floor), (until, floor + height)];
        (until > from).then(|| Rectangle::new(corners, ink.color().filled()))
    });
    chart.draw_series(pieces)?;
    Ok(())
}

/// Colour and height, so that either is enough.
fn look(circuit: &str) -> (Ink, f64) {
    match circuit {
        "closed" => (Ink::Closed, 0.2),
        "half_open" => (Ink::HalfOpen, 0.48),
        _ => (Ink::Open, 0.76),
    }
}
