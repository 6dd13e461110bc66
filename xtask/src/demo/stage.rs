//! The child of `cargo xtask demo` in whose process group everything runs.

use std::io::IsTerminal;
use std::os::unix::process::parent_id;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::child::Heard;
use super::decisions::Decisions;
use super::options::Options;
use super::page;
use super::results::Results;
use super::run::{Run, Way};
use super::scenario::Scenario;
use super::table::Table;

/// Until every interpreter has started.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks at the servers and two pictures of the table.
const BEAT: Duration = Duration::from_millis(250);
/// What a call may take after the last was started: more than any policy here allows.
const GRACE_MS: u64 = 15_000;

/// Plays both runs side by side, compares decisions, writes the page.
pub fn run(names: &[String], options: &Options) -> Result<()> {
    let scenario = Scenario::load(options.quick)?;
    let (ears, heard) = mpsc::channel();
    let with = Run::open(Way::With, &scenario, names, 0, &ears)?;
    let without = Run::open(Way::Without, &scenario, names, names.len(), &ears)?;
    let mut stage = Stage { runs: [with, without], scenario, heard, parent: parent_id() };
    stage.wait_until_ready()?;
    let killed_at_ms = stage.play(options.kill_server_at_ms)?;
    let decisions = match stage.runs[0].is_served() {
        true => Some(Decisions::take(&stage.runs[0].server, names)?),
        false => None,
    };
    let [with, without] = stage.runs;
    let results = Results {
        scenario: stage.scenario,
        with: with.record,
        without: without.record,
        decisions,
        killed_at_ms,
    };
    results.print();
    let page = page::write(&results)?;
    results.write()?;
    println!("\nThe page with the plots: {}", page.display());
    results.judge()
}

struct Stage {
    runs: [Run; 2],
    scenario: Scenario,
    heard: Receiver<Heard>,
    parent: u32,
}

impl Stage {
    fn wait_until_ready(&mut self) -> Result<()> {
        let start = Instant::now();
        while !self.runs.iter().all(Run::is_ready) {
            if start.elapsed() > PATIENCE {
                bail!("the hosts are not ready after {} s", PATIENCE.as_secs());
            }
            self.listen(Instant::now() + BEAT)?;
        }
        Ok(())
    }

    /// Answers when the servers were killed, if they were.
    fn play(&mut self, kill_at_ms: Option<u64>) -> Result<Option<u64>> {
        let start = Instant::now();
        for run in &mut self.runs {
            run.start()?;
        }
        let mut table = Table::new(std::io::stdout().is_terminal());
        let mut killed_at_ms = None;
        let mut beat = start;
        while !self.runs.iter().all(Run::is_over) {
            beat += BEAT;
            self.listen(beat)?;
            let t_ms = start.elapsed().as_millis() as u64;
            if killed_at_ms.is_none() && kill_at_ms.is_some_and(|at| t_ms >= at) {
                self.runs.iter_mut().for_each(Run::kill_server);
                killed_at_ms = Some(t_ms);
            }
            self.runs.iter_mut().for_each(Run::look);
            table.show(t_ms, &self.scenario, &self.runs, killed_at_ms.is_some());
            if t_ms > self.scenario.end_ms() + GRACE_MS {
                bail!("a host has not ended {} s after its last call", GRACE_MS / 1_000);
            }
        }
        Ok(killed_at_ms)
    }

    fn listen(&mut self, until: Instant) -> Result<()> {
        // Nobody would end us: the one who was to do it has died.
        if parent_id() != self.parent {
            bail!("the command that started this is gone");
        }
        loop {
            match self.heard.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(heard) => self.runs.iter_mut().for_each(|run| run.on_heard(&heard)),
                Err(RecvTimeoutError::Timeout) => return Ok(()),
                Err(RecvTimeoutError::Disconnected) => {
                    std::thread::sleep(until.saturating_duration_since(Instant::now()));
                    return Ok(());
                }
            }
        }
    }
}
