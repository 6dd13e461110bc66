//! The log of a host. Times are milliseconds of its own monotonic clock, the one that its client
//! reads; lines stand in the order in which they happened.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use serde::Deserialize;

use super::read;

/// One line.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "e", rename_all = "snake_case")]
pub enum Line {
    /// The first one: both clocks at one moment.
    Start { t: f64, wall: f64, host: String },
    /// A call begins that is to be over `within` so many milliseconds. The client's deadline is not
    /// before `t + within` and not after `deadline`.
    Call { t: f64, call: u64, safety: Safety, within: f64, deadline: f64 },
    /// The caller gives up.
    Cancel { t: f64, call: u64 },
    /// The operation of an attempt begins. Its limit is not before the first of `until` and not
    /// after the second; `None`: it has passed already. `circuit` is what the client's snapshot says.
    Try { t: f64, call: u64, n: u32, until: Option<[f64; 2]>, circuit: String },
    /// The operation has ended. `read`: it has read the body to its end.
    Ended { t: f64, call: u64, n: u32, how: How, status: Option<u16>, read: bool },
    /// The client has left the attempt behind; its operation has not ended yet.
    Cut { t: f64, call: u64, n: u32 },
    /// A call has ended, as its caller sees it.
    End { t: f64, call: u64, reason: String, attempts: Option<u32> },
    /// The client has told something. Not every host can say of which call.
    Event(Told),
    /// How the client stood at `t` or just before. An open circuit refuses until `open_until` at
    /// least.
    State { t: f64, running: u32, queued: u32, circuit: String, open_until: Option<f64> },
    /// Nothing is under way, and everything that can be closed is closed.
    Rest(Box<Rest>),
}

/// Whether the request may be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Safety {
    /// GET.
    Idempotent,
    /// POST with a key.
    Keyed,
    /// POST without.
    Unsafe,
}

/// What an operation ended in, as itself saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// With a status.
    Answer,
    /// The connection failed or broke, or what came was no HTTP.
    Network,
    /// It was told to stop.
    Cut,
}

/// An event of the client.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Told {
    /// When it was told.
    pub t: f64,
    /// In snake case.
    pub name: String,
    /// Of which call, where the host can say.
    pub call: Option<u64>,
    /// The number of the attempt.
    pub n: Option<u32>,
    /// What the attempt ended in.
    pub kind: Option<String>,
    /// Why the call ended.
    pub reason: Option<String>,
    /// How long the wait before the next attempt is, in ms, where the host knows of which call.
    pub wait: Option<f64>,
    /// The state of the circuit before.
    pub from: Option<String>,
    /// The state of the circuit after.
    pub to: Option<String>,
}

/// What a host holds while nothing happens, and what its client has counted.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Rest {
    /// When it was measured.
    pub t: f64,
    /// `before` the load, or `after`.
    pub stage: String,
    /// Permits that are out.
    pub running: u32,
    /// Calls that wait.
    pub queued: u32,
    /// Attempts that were left behind.
    pub abandoned: u32,
    /// Calls started.
    pub calls: u64,
    /// Attempts sent.
    pub attempts: u64,
    /// Those that were not the first.
    pub retries: u64,
    /// Attempts that succeeded.
    pub successes: u64,
    /// Attempts that failed, by kind.
    pub failures: BTreeMap<String, u64>,
    /// Calls that were refused, by kind.
    pub refusals: BTreeMap<String, u64>,
    /// Open files; `None` where the system does not say.
    pub files: Option<u64>,
    /// Open sockets among them.
    pub sockets: Option<u64>,
    /// Timers that are set.
    pub timers: u64,
    /// Tasks that are not done.
    pub tasks: u64,
    /// Bytes or objects, as the host counts.
    pub memory: f64,
    /// How much more of that is no leak.
    pub memory_slack: f64,
}

/// Reads the log.
pub fn read_log(folder: &Path) -> Result<Vec<Line>> {
    read(&folder.join("host.jsonl"), false)
}
