//! What the process holds while nothing happens, and what the client has counted.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use serde_json::{Value, json};
use stormproof::step::Kind;
use tokio::runtime::Handle;
use tokio::time::sleep;

use crate::counting::bytes_in_use;
use crate::users::Users;

/// The server is dead: its sockets close as soon as the runtime hears of it.
const LOOKS: u32 = 100;

/// How much more may be in use, in bytes: less than 100 for each call of a run in CI.
const SLACK: f64 = 2_000_000.0;

/// One line of the log.
pub async fn measure(users: &Users, stage: &str) -> Value {
    for _ in 0..LOOKS {
        sleep(Duration::from_millis(50)).await;
        if sockets() == Some(0) && tasks() == 0 {
            break;
        }
    }
    let snapshot = users.snapshot();
    let counters = &snapshot.counters;
    json!({
        "e": "rest",
        "stage": stage,
        "t": users.journal.now_ms(),
        "running": snapshot.running,
        "queued": snapshot.queued,
        "abandoned": snapshot.abandoned,
        "calls": counters.calls,
        "attempts": counters.attempts,
        "retries": counters.retries,
        "successes": counters.successes,
        "failures": by_kind(&counters.failures),
        "refusals": by_kind(&counters.refusals),
        "files": files(),
        "sockets": sockets(),
        "tasks": tasks(),
        "memory": bytes_in_use(),
        "memory_slack": SLACK,
    })
}

fn tasks() -> usize {
    Handle::current().metrics().num_alive_tasks()
}

fn by_kind(counts: &[u64]) -> BTreeMap<&'static str, u64> {
    Kind::NAMES
        .iter()
        .copied()
        .zip(counts.iter().copied())
        .filter(|(_, count)| *count > 0)
        .collect()
}

/// Where the open files lead; `None` where the system does not say.
fn open() -> Option<Vec<String>> {
    let names = fs::read_dir("/proc/self/fd").ok()?;
    // The one that lists the others is gone by the time it is asked where it leads.
    let names: Vec<_> = names.flatten().map(|name| name.path()).collect();
    let targets = names.iter().filter_map(|name| fs::read_link(name).ok());
    Some(targets.map(|target| target.to_string_lossy().into_owned()).collect())
}

fn files() -> Option<usize> {
    open().map(|open| open.len())
}

fn sockets() -> Option<usize> {
    open().map(|open| open.iter().filter(|target| target.starts_with("socket:")).count())
}
