//! What was heard in a run.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// A line that a host prints four times a second. Counts are totals.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Line {
    /// Since the host's start.
    pub t_ms: u64,
    /// Calls started.
    pub calls: u64,
    /// Calls ended.
    pub done: u64,
    /// Calls that ended with a value.
    pub ok: u64,
    /// The others by their reason.
    pub failed: BTreeMap<String, u64>,
    /// Requests sent.
    pub attempts: u64,
    /// Requests that were not the first of their call.
    pub retries: u64,
    /// Calls that stormproof ended.
    pub refused: u64,
    /// The state of the circuit, where there is one.
    pub circuit: Option<String>,
    /// The waits before retries that were planned since the last line.
    pub waits_ms: Vec<f64>,
    /// How long the calls took that ended since the last line.
    pub latencies_ms: Vec<f64>,
    /// Calls that never ended; only in the last line.
    pub lost: Option<u64>,
}

/// What one host said.
#[derive(Clone, Debug, Default)]
pub struct Track {
    /// Which host.
    pub name: String,
    /// In the order of time.
    pub lines: Vec<Line>,
    /// How the host died, if it did.
    pub failure: Option<String>,
}

impl Track {
    /// The newest line.
    pub fn last(&self) -> Line {
        self.lines.last().cloned().unwrap_or_default()
    }

    /// Calls that never ended. `None`: the host did not live to say.
    pub fn lost(&self) -> Option<u64> {
        self.lines.last()?.lost
    }

    /// Calls ended and calls ended well, until `t_ms`.
    pub fn done_until(&self, t_ms: u64) -> (u64, u64) {
        let line = self.lines.iter().rfind(|line| line.t_ms <= t_ms);
        line.map_or((0, 0), |line| (line.done, line.ok))
    }
}

/// Requests at the server, by tenth of a second and host.
#[derive(Clone, Debug, Default)]
pub struct Requests {
    buckets: BTreeMap<u64, BTreeMap<String, u64>>,
}

impl Requests {
    /// Reads the server's timeline.
    pub fn of(timeline: &Value) -> Self {
        let mut buckets: BTreeMap<u64, BTreeMap<String, u64>> = BTreeMap::new();
        for bucket in timeline["buckets"].as_array().into_iter().flatten() {
            let at_ms = bucket["at_ms"].as_u64().unwrap_or(0);
            for count in bucket["counts"].as_array().into_iter().flatten() {
                let host = count["host"].as_str().unwrap_or("-").to_owned();
                let counts = buckets.entry(at_ms).or_default();
                *counts.entry(host).or_default() += count["count"].as_u64().unwrap_or(0);
            }
        }
        Self { buckets }
    }

    /// All requests.
    pub fn total(&self) -> u64 {
        self.buckets.values().flat_map(BTreeMap::values).sum()
    }

    /// All requests of one host.
    pub fn of_host(&self, host: &str) -> u64 {
        self.buckets.values().filter_map(|counts| counts.get(host)).sum()
    }

    /// Requests from `from_ms` until just before `to_ms`.
    pub fn between(&self, from_ms: u64, to_ms: u64) -> u64 {
        self.buckets.range(from_ms..to_ms).flat_map(|(_, counts)| counts.values()).sum()
    }

    /// When the last one came.
    pub fn end_ms(&self) -> u64 {
        self.buckets.last_key_value().map_or(0, |(at_ms, _)| at_ms + 100)
    }
}

/// One of the two runs.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// The hosts.
    pub tracks: Vec<Track>,
    /// What the server saw of them.
    pub requests: Requests,
}
