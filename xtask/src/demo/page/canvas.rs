//! Axes over time with the phases of the scenario behind them.

use anyhow::Result;
use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::drawing::DrawingArea;
use plotters::element::{Rectangle, Text};
use plotters::prelude::{Cartesian2d, Color, IntoDrawingArea, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{IntoFont, TextStyle};

use super::ink::{self, Ink};
use crate::demo::scenario::Scenario;

/// All plots are this wide.
pub const WIDTH: u32 = 960;
const FONT: &str = "sans-serif";
const LEFT: u32 = 64;
const BOTTOM: u32 = 40;

/// A surface in pixels.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// A surface with axes.
pub type Chart<'a, 'b> =
    ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// A picture of this height; `about` is for those who do not see it.
pub fn draw(height: u32, about: &str, paint: impl FnOnce(&Area) -> Result<()>) -> Result<String> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        paint(&area)?;
        area.present()?;
    }
    let named = format!("<svg role=\"img\" aria-label=\"{about}\" ");
    Ok(ink::themed(&svg).replacen("<svg ", &named, 1))
}

/// Letters of this size.
pub fn text<'a>(size: u32, across: HPos, down: VPos) -> TextStyle<'a> {
    let style: TextStyle = (FONT, size).into_font().color(&Ink::Text.color());
    style.pos(Pos::new(across, down))
}

/// What stands at the axes.
pub struct Axes<'a> {
    /// Of the upright axis, with its unit.
    pub label: &'a str,
    /// Where the upright axis ends.
    pub top: f64,
    /// How many numbers the upright axis has at most.
    pub numbers: usize,
    /// How a number is written.
    pub format: fn(&f64) -> String,
    /// Do the phases have their names here?
    pub names: bool,
    /// Does the time stand below?
    pub time: bool,
}

/// Axes of time over `scenario`, its phases shaded.
pub fn over_time<'a, 'b>(
    area: &'a Area<'b>,
    scenario: &Scenario,
    axes: &Axes<'_>,
) -> Result<Chart<'a, 'b>> {
    let end = scenario.end_ms() as f64 / 1e3;
    let mut chart = ChartBuilder::on(area)
        .margin_right(14)
        .margin_top(if axes.names { 24 } else { 8 })
        .y_label_area_size(LEFT)
        .x_label_area_size(if axes.time { BOTTOM } else { 6 })
        .build_cartesian_2d(0.0..end, 0.0..axes.top)?;
    shade(&mut chart, scenario, axes.top)?;
    let mut mesh = chart.configure_mesh();
    mesh.disable_x_mesh()
        .bold_line_style(Ink::Grid.color())
        .light_line_style(Ink::Grid.color().mix(0.0))
        .axis_style(Ink::Axis.color())
        .label_style(text(13, HPos::Left, VPos::Top))
        .axis_desc_style(text(13, HPos::Left, VPos::Top))
        .y_desc(axes.label)
        .y_labels(axes.numbers)
        .y_label_formatter(&axes.format);
    match axes.time {
        true => mesh.x_desc("seconds since the start").x_labels(13),
        false => mesh.x_labels(0),
    };
    mesh.x_label_formatter(&|seconds| format!("{seconds:.0}")).draw()?;
    drop(mesh);
    if axes.names {
        name(area, &chart, scenario)?;
    }
    Ok(chart)
}

fn shade(chart: &mut Chart, scenario: &Scenario, top: f64) -> Result<()> {
    let troubled = scenario.phases.iter().filter(|phase| !phase.well);
    chart.draw_series(troubled.map(|phase| {
        let ink = if phase.dead { Ink::Dead } else { Ink::Trouble };
        let corners = [(seconds(phase.start_ms), 0.0), (seconds(phase.end_ms), top)];
        Rectangle::new(corners, ink.color().filled())
    }))?;
    Ok(())
}

/// Above the axes, where no line can run through a name.
fn name(area: &Area, chart: &Chart, scenario: &Scenario) -> Result<()> {
    let (corner, _) = area.get_pixel_range();
    for phase in &scenario.phases {
        let middle = (seconds(phase.start_ms) + seconds(phase.end_ms)) / 2.0;
        let (x, _) = chart.backend_coord(&(middle, 0.0));
        let place = (x - corner.start, 6);
        area.draw(&Text::new(phase.name.clone(), place, text(13, HPos::Center, VPos::Top)))?;
    }
    Ok(())
}

/// Seconds of a time in milliseconds.
pub fn seconds(t_ms: u64) -> f64 {
    t_ms as f64 / 1e3
}
