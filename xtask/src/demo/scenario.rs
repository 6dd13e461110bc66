//! What the server plays, as far as a picture of it needs to know.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::workspace;

/// A scenario of the fault server.
pub struct Scenario {
    /// Its file.
    pub path: PathBuf,
    /// In their order.
    pub phases: Vec<Phase>,
    /// How many requests a second the server can answer.
    pub capacity_rps: f64,
}

/// A part of the scenario.
#[derive(Debug)]
pub struct Phase {
    /// As the file calls it.
    pub name: String,
    /// From the start of the scenario.
    pub start_ms: u64,
    /// From the start of the scenario.
    pub end_ms: u64,
    /// Nothing but failures can come of a call.
    pub dead: bool,
    /// Everything works as it should.
    pub well: bool,
}

#[derive(Deserialize)]
struct File {
    capacity: Capacity,
    phases: Vec<FilePhase>,
}

#[derive(Deserialize)]
struct Capacity {
    workers: f64,
    service_ms: [f64; 2],
}

#[derive(Deserialize)]
struct FilePhase {
    name: String,
    until_ms: u64,
    #[serde(default)]
    down: bool,
    #[serde(default)]
    mix: Vec<serde_json::Value>,
}

impl Scenario {
    /// The storm, or the quick one.
    pub fn load(quick: bool) -> Result<Self> {
        let name = if quick { "storm-quick" } else { "storm" };
        let path = workspace::path(&format!("tests/scenarios/{name}.json"));
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let file: File = serde_json::from_str(&text).with_context(|| path.display().to_string())?;
        let [low, high] = file.capacity.service_ms;
        let capacity_rps = file.capacity.workers * 2_000.0 / (low + high);
        let mut start_ms = 0;
        let phases = file.phases.into_iter().map(|phase| {
            let begin = std::mem::replace(&mut start_ms, phase.until_ms);
            let gives =
                |ok: bool| phase.mix.iter().any(|share| (share["step"]["status"] == 200) == ok);
            Phase {
                start_ms: begin,
                end_ms: phase.until_ms,
                dead: phase.down || !gives(true),
                well: !phase.down && phase.mix.len() == 1 && gives(true),
                name: phase.name,
            }
        });
        Ok(Self { phases: phases.collect(), capacity_rps, path })
    }

    /// Its length.
    pub fn end_ms(&self) -> u64 {
        self.phases.last().map_or(0, |phase| phase.end_ms)
    }

    /// When calls can succeed again for good.
    pub fn outage_end_ms(&self) -> u64 {
        self.phases.iter().rfind(|phase| phase.dead).map_or(0, |phase| phase.end_ms)
    }

    /// The phase at this time; the last one stays.
    pub fn phase_at(&self, t_ms: u64) -> &str {
        let phase = self.phases.iter().find(|phase| t_ms < phase.end_ms);
        phase.or(self.phases.last()).map_or("", |phase| &phase.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_storms_are_understood() {
        for quick in [false, true] {
            let scenario = Scenario::load(quick).unwrap();
            let dead = scenario.phases.iter().filter(|phase| phase.dead).count();
            let well = scenario.phases.iter().filter(|phase| phase.well).count();
            assert_eq!((dead, well), (2, 2));
            assert!(scenario.outage_end_ms() < scenario.end_ms());
            assert_eq!(scenario.phase_at(scenario.end_ms() + 1), "recovery");
            assert!((133.0..134.0).contains(&scenario.capacity_rps));
        }
    }
}
