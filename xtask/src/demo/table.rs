//! The live table: drawn over itself on a terminal, a line a second elsewhere.

use std::io::Write;

use super::figures;
use super::record::Track;
use super::run::{Run, Way};
use super::scenario::Scenario;

/// Lines of a host that make up two seconds.
const NEWEST: usize = 8;
const HEAD: &str =
    "                 calls      ok  ok now  attempts  retries  refused  circuit       p95";

/// What stands on the terminal.
pub struct Table {
    terminal: bool,
    height: usize,
    next_line_ms: u64,
}

impl Table {
    /// An empty one.
    pub fn new(terminal: bool) -> Self {
        Self { terminal, height: 0, next_line_ms: 0 }
    }

    /// Shows how things stand.
    pub fn show(&mut self, t_ms: u64, scenario: &Scenario, runs: &[Run], killed: bool) {
        let phase = match killed {
            true => "the server was killed",
            false => scenario.phase_at(t_ms),
        };
        if self.terminal {
            let lines = lines(t_ms, phase, runs);
            let up = match self.height {
                0 => String::new(),
                height => format!("\x1b[{height}A\x1b[J"),
            };
            println!("{up}{}", fitting(&lines).join("\n"));
            self.height = lines.len();
        } else if t_ms >= self.next_line_ms {
            self.next_line_ms += 1_000;
            let parts: Vec<String> = runs.iter().map(|run| summary(t_ms, run)).collect();
            println!("{:>5.1} s  {phase:<9}  {}", t_ms as f64 / 1e3, parts.join("  |  "));
        }
        let _ = std::io::stdout().flush();
    }
}

fn lines(t_ms: u64, phase: &str, runs: &[Run]) -> Vec<String> {
    let mut lines = vec![format!("{:>6.1} s  {phase}", t_ms as f64 / 1e3), HEAD.into()];
    for run in runs {
        lines.push(run.way.title().into());
        lines.extend(run.record.tracks.iter().map(|track| row(t_ms, track)));
        lines.push(format!(
            "  {:<8} {:>6} requests a second, peak {}",
            "server",
            run.requests_now(t_ms),
            run.peak()
        ));
    }
    lines
}

fn row(t_ms: u64, track: &Track) -> String {
    let line = track.last();
    let now = figures::success(&[track], t_ms.saturating_sub(1_500), t_ms);
    let circuit = match (&track.failure, &line.circuit) {
        (Some(_), _) => "DIED",
        (None, Some(circuit)) => circuit.as_str(),
        (None, None) => "-",
    };
    format!(
        "  {:<8} {:>11} {:>7} {:>7} {:>9} {:>8} {:>8}  {:<10} {:>6}",
        track.name,
        line.calls,
        line.ok,
        percent(now),
        line.attempts,
        line.retries,
        line.refused,
        circuit,
        figures::p95_ms(track, NEWEST).map_or("-".into(), |p95| format!("{p95:.0} ms")),
    )
}

fn summary(t_ms: u64, run: &Run) -> String {
    let tracks: Vec<&Track> = run.record.tracks.iter().collect();
    let now = figures::success(&tracks, t_ms.saturating_sub(1_500), t_ms);
    let mut text = format!(
        "{}: {} ok, {:>3} requests/s",
        run.way.title(),
        percent(now),
        run.requests_now(t_ms)
    );
    if run.way == Way::With {
        let circuits: Vec<String> =
            tracks.iter().map(|track| track.last().circuit.unwrap_or_default()).collect();
        text += &format!(", circuits {}", circuits.join(" "));
    }
    text
}

/// A part as the table shows it.
pub fn percent(part: Option<f64>) -> String {
    part.map_or("   -".into(), |part| format!("{:>3.0}%", part * 100.0))
}

/// A line that wraps could not be drawn over.
fn fitting(lines: &[String]) -> Vec<String> {
    let width = rustix::termios::tcgetwinsize(std::io::stdout()).map_or(80, |size| size.ws_col);
    let width = usize::from(width.max(20));
    lines.iter().map(|line| line.chars().take(width).collect()).collect()
}
