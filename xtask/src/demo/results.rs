//! What came of both runs: for the terminal, for the page, for a check.

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::decisions::Decisions;
use super::figures;
use super::record::{Record, Track};
use super::run::Way;
use super::scenario::Scenario;
use super::table::percent;
use crate::workspace;

/// Where the numbers are written.
const FILE: &str = "target/demo/results.json";

/// Everything that was measured.
pub struct Results {
    /// What the servers played.
    pub scenario: Scenario,
    /// With stormproof.
    pub with: Record,
    /// Without.
    pub without: Record,
    /// Of the scripted calls; none where there was no server left.
    pub decisions: Option<Decisions>,
    /// When the servers were killed.
    pub killed_at_ms: Option<u64>,
}

/// The sums of one run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Calls started.
    pub calls: u64,
    /// Calls that ended with a value.
    pub ok: u64,
    /// Requests sent.
    pub attempts: u64,
    /// Requests that the server saw.
    pub requests: u64,
    /// The most of them in a second.
    pub peak: u64,
    /// From the end of the outage until nine of ten calls went well.
    pub recovery_ms: Option<u64>,
}

impl Totals {
    /// Requests at the server for each call.
    pub fn amplification(&self) -> f64 {
        self.requests as f64 / self.calls.max(1) as f64
    }

    /// The part of calls that ended with a value.
    pub fn success(&self) -> f64 {
        self.ok as f64 / self.calls.max(1) as f64
    }
}

impl Results {
    /// Both runs with what they are.
    pub fn runs(&self) -> [(Way, &Record); 2] {
        [(Way::With, &self.with), (Way::Without, &self.without)]
    }

    /// The sums of one of them.
    pub fn totals(&self, record: &Record) -> Totals {
        let mut totals = Totals {
            requests: record.requests.total(),
            peak: figures::peak(&record.requests),
            recovery_ms: figures::recovery_ms(record, &self.scenario),
            ..Totals::default()
        };
        for line in record.tracks.iter().map(Track::last) {
            totals.calls += line.calls;
            totals.ok += line.ok;
            totals.attempts += line.attempts;
        }
        totals
    }

    /// When the service was well again, in words.
    pub fn recovery(&self, totals: &Totals) -> String {
        let watched = self.scenario.end_ms() - self.scenario.outage_end_ms();
        match (self.killed_at_ms, totals.recovery_ms) {
            (Some(_), _) => "the server was killed".into(),
            (None, Some(millis)) => format!("after {:.2} s", millis as f64 / 1e3),
            (None, None) => format!("not in {:.1} s", watched as f64 / 1e3),
        }
    }

    /// Prints both runs and the scripted calls.
    pub fn print(&self) {
        println!(
            "\n{:<17} {:>6} {:>5} {:>9} {:>12} {:>9}  well again after the outage",
            "", "calls", "ok", "requests", "per call", "peak/s"
        );
        for (way, record) in self.runs() {
            let totals = self.totals(record);
            println!(
                "{:<17} {:>6} {:>5} {:>9} {:>12.2} {:>9}  {}",
                way.title(),
                totals.calls,
                percent(Some(totals.success())).trim(),
                totals.requests,
                totals.amplification(),
                totals.peak,
                self.recovery(&totals)
            );
        }
        if let Some(decisions) = &self.decisions {
            print_decisions(decisions);
        }
    }

    /// Writes the numbers beside the page.
    pub fn write(&self) -> Result<()> {
        let runs: Vec<Value> = self.runs().iter().map(|run| self.run_json(*run)).collect();
        let results = json!({
            "runs": runs,
            "decisions_equal": self.decisions.as_ref().map(Decisions::are_equal),
            "decisions": self.decisions.as_ref().map(|decisions| &decisions.hosts),
            "server_killed_at_ms": self.killed_at_ms,
        });
        std::fs::write(workspace::path(FILE), serde_json::to_string_pretty(&results)?)?;
        Ok(())
    }

    /// The numbers that the last run wrote.
    pub fn read() -> Result<Value> {
        Ok(serde_json::from_str(&std::fs::read_to_string(workspace::path(FILE))?)?)
    }

    /// Fails when a host died, a call was lost, or hosts disagree.
    pub fn judge(&self) -> Result<()> {
        for (way, record) in self.runs() {
            for track in &record.tracks {
                let who = format!("the {} host ({})", track.name, way.title());
                match (&track.failure, track.lost()) {
                    (_, Some(lost @ 1..)) => bail!("{who} lost {lost} calls"),
                    (Some(failure), _) => bail!("{who} died: {failure}"),
                    (None, None) => bail!("{who} did not say how its calls ended"),
                    (None, Some(0)) => {}
                }
            }
        }
        match &self.decisions {
            Some(Decisions { failure: Some(failure), .. }) => bail!("{failure}"),
            Some(decisions) if !decisions.are_equal() => bail!("the hosts decided differently"),
            _ => Ok(()),
        }
    }

    fn run_json(&self, (way, record): (Way, &Record)) -> Value {
        let totals = self.totals(record);
        let hosts = record.tracks.iter().map(|track| {
            let line = track.last();
            json!({
                "name": track.name, "calls": line.calls, "ok": line.ok, "failed": line.failed,
                "attempts": line.attempts, "retries": line.retries, "refused": line.refused,
                "lost": track.lost(), "failure": track.failure,
            })
        });
        json!({
            "title": way.title(), "calls": totals.calls, "ok": totals.ok,
            "requests": totals.requests, "peak_rps": totals.peak,
            "amplification": totals.amplification(), "recovery_ms": totals.recovery_ms,
            "hosts": hosts.collect::<Vec<_>>(),
        })
    }
}

fn print_decisions(decisions: &Decisions) {
    println!("\nThe same script, the same seed, the waits in ms:");
    for call in decisions.calls() {
        let Some((_, first)) = call.first() else { continue };
        let agree = call.iter().all(|(_, other)| other == first);
        println!(
            "  {}  {:<38} {:<20} {}",
            first.call,
            first.attempts.join(", "),
            first.reason,
            if agree { millis(&first.waits_ns) } else { "DIFFERENT:".into() }
        );
        for (name, other) in call.iter().filter(|_| !agree) {
            let what = other.attempts.join(", ");
            println!("     {name:<8} {what} {} {}", other.reason, millis(&other.waits_ns));
        }
    }
    let names: Vec<&str> = decisions.hosts.iter().map(|(name, _)| name.as_str()).collect();
    let verdict = if decisions.are_equal() { "equal to the nanosecond" } else { "NOT EQUAL" };
    println!("  {}: {verdict}", names.join(", "));
}

/// Waits as milliseconds to the nanosecond.
pub fn millis(waits_ns: &[u64]) -> String {
    let shown: Vec<String> = waits_ns
        .iter()
        .map(|wait| format!("{}.{:06}", wait / 1_000_000, wait % 1_000_000))
        .collect();
    shown.join(", ")
}
