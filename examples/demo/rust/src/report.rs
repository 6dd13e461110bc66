//! The lines of JSON that the demo draws.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::load::Ended;

/// Where a caller stands. Counts are totals.
#[derive(Default)]
pub struct Standing {
    pub attempts: u64,
    pub retries: u64,
    pub refused: u64,
    pub circuit: Option<&'static str>,
    /// In thousandths.
    pub tokens: Option<u64>,
    pub running: u32,
    pub queued: u32,
}

/// What has become of the calls.
pub struct Report {
    start: Instant,
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    started: u64,
    ok: u64,
    failed: BTreeMap<&'static str, u64>,
    waits: Vec<Duration>,
    latencies: Vec<Duration>,
}

impl Report {
    /// A report whose time begins now.
    pub fn new() -> Self {
        Self { start: Instant::now(), counts: Mutex::default() }
    }

    /// A call was started.
    pub fn on_start(&self) {
        self.counts().started += 1;
    }

    /// A call ended after `took`.
    pub fn on_end(&self, took: Duration, ended: Ended) {
        let mut counts = self.counts();
        match ended.failure {
            None => counts.ok += 1,
            Some(reason) => *counts.failed.entry(reason).or_default() += 1,
        }
        counts.waits.extend(ended.waits);
        counts.latencies.push(took);
    }

    /// Prints a line.
    pub fn print(&self, standing: Standing) {
        let line = self.line(standing);
        show(&line);
    }

    /// Prints the summary and answers how many calls were started and never ended.
    pub fn close(&self, standing: Standing) -> u64 {
        let mut line = self.line(standing);
        let lost = line["calls"].as_u64().unwrap_or(0) - line["done"].as_u64().unwrap_or(0);
        line["summary"] = json!(true);
        line["lost"] = json!(lost);
        show(&line);
        lost
    }

    fn line(&self, standing: Standing) -> Value {
        let mut counts = self.counts();
        let done = counts.ok + counts.failed.values().sum::<u64>();
        json!({
            "t_ms": self.start.elapsed().as_millis() as u64,
            "calls": counts.started,
            "done": done,
            "ok": counts.ok,
            "failed": counts.failed,
            "attempts": standing.attempts,
            "retries": standing.retries,
            "refused": standing.refused,
            "circuit": standing.circuit,
            "tokens": standing.tokens.map(|tokens| tokens as f64 / 1000.0),
            "running": standing.running,
            "queued": standing.queued,
            "waits_ms": millis(std::mem::take(&mut counts.waits)),
            "latencies_ms": millis(std::mem::take(&mut counts.latencies)),
        })
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn millis(spans: Vec<Duration>) -> Value {
    let tenths = |span: Duration| (span.as_secs_f64() * 10_000.0).round() / 10.0;
    spans.into_iter().map(tenths).collect()
}

/// Who started us may be gone.
fn show(line: &Value) {
    let mut stdout = std::io::stdout().lock();
    let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
}
