//! How long retries were put off.

use anyhow::Result;
use plotters::chart::ChartBuilder;
use plotters::element::{Rectangle, Text};
use plotters::prelude::Color;
use plotters::style::text_anchor::{HPos, VPos};

use super::canvas::{self, Area};
use super::ink::Ink;
use crate::demo::record::Track;
use crate::demo::results::Results;

/// Milliseconds of a bar.
const BAR: f64 = 50.0;
/// No wait of the demo's policy and scenario is longer: Retry-After 1 s and its spread of 1 s.
const LONGEST: f64 = 2_000.0;

/// A histogram for each host.
pub fn plot(results: &Results) -> Result<String> {
    let tracks = &results.with.tracks;
    canvas::draw(250, "Histogram of the waits before retries, for each host", |area| {
        let counts: Vec<Vec<u32>> = tracks.iter().map(count).collect();
        let most = counts.iter().flatten().max().copied().unwrap_or(0).max(4);
        let parts = area.split_evenly((1, tracks.len()));
        for ((part, track), counts) in parts.iter().zip(tracks).zip(&counts) {
            histogram(part, &track.name, counts, f64::from(most) * 1.1)?;
        }
        Ok(())
    })
}

fn histogram(area: &Area, name: &str, counts: &[u32], top: f64) -> Result<()> {
    let mut chart = ChartBuilder::on(area)
        .margin_top(28)
        .margin_right(14)
        .y_label_area_size(52)
        .x_label_area_size(40)
        .build_cartesian_2d(0.0..LONGEST, 0.0..top)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .bold_line_style(Ink::Grid.color())
        .light_line_style(Ink::Grid.color().mix(0.0))
        .axis_style(Ink::Axis.color())
        .label_style(canvas::text(13, HPos::Left, VPos::Top))
        .axis_desc_style(canvas::text(13, HPos::Left, VPos::Top))
        .x_desc("wait in ms")
        .y_desc("waits")
        .x_labels(5)
        .y_labels(5)
        .x_label_formatter(&|wait| format!("{wait:.0}"))
        .y_label_formatter(&|count| format!("{count:.0}"))
        .draw()?;
    let bars = counts.iter().enumerate().filter(|(_, count)| **count > 0).map(|(place, count)| {
        let left = place as f64 * BAR;
        let corners = [(left, 0.0), (left + BAR * 0.86, f64::from(*count))];
        Rectangle::new(corners, Ink::With.color().filled())
    });
    chart.draw_series(bars)?;
    let sum: u32 = counts.iter().sum();
    let title = format!("{name}: {sum} waits");
    area.draw(&Text::new(title, (54, 6), canvas::text(14, HPos::Left, VPos::Top)))?;
    Ok(())
}

fn count(track: &Track) -> Vec<u32> {
    let mut counts = vec![0; (LONGEST / BAR) as usize];
    for wait in track.lines.iter().flat_map(|line| &line.waits_ms) {
        let place = (wait / BAR) as usize;
        let place = place.min(counts.len() - 1);
        counts[place] += 1;
    }
    counts
}
