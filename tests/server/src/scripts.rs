//! The scripts by their name, each with the log of its requests.

use crate::log::Entry;
use crate::script::Script;
use crate::step::Step;
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const MOST_SCRIPTS: usize = 10_000;
const MOST_SCRIPT_BYTES: usize = 256 << 20;
const MOST_ENTRIES: usize = 10_000;
const MOST_LOG_BYTES: usize = 100 << 20;

/// Every script that was registered.
#[derive(Debug, Default)]
pub(crate) struct Scripts(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    scripts: HashMap<String, Track>,
    log_bytes: usize,
    next: u64,
}

/// A script, how far it has come, and what it saw.
#[derive(Debug)]
struct Track {
    script: Script,
    script_bytes: usize,
    served: usize,
    /// Each entry with its place in the order over all scripts.
    log: VecDeque<(u64, Entry)>,
    dropped: u64,
}

/// There is no room for another script.
#[derive(Debug)]
pub(crate) struct Full;

impl Scripts {
    /// Registers `script`, or replaces the one of that name and starts over. `bytes` is
    /// the size of its JSON.
    pub(crate) fn on_script(&self, id: &str, script: Script, bytes: usize) -> Result<(), Full> {
        let mut table = self.table();
        table.forget_log(id);
        table.scripts.remove(id);
        let held: usize = table.scripts.values().map(|track| track.script_bytes).sum();
        if table.scripts.len() >= MOST_SCRIPTS || held + bytes > MOST_SCRIPT_BYTES {
            return Err(Full);
        }
        let log = VecDeque::new();
        let track = Track { script, script_bytes: bytes, served: 0, log, dropped: 0 };
        table.scripts.insert(id.into(), track);
        Ok(())
    }

    /// Takes the next step of a script and logs the request, which `entry` makes from the
    /// place of the step. `None` when there is no such script.
    pub(crate) fn on_request(
        &self,
        id: &str,
        entry: impl FnOnce(usize) -> Entry,
    ) -> Option<Arc<Step>> {
        let mut table = self.table();
        let Table { scripts, log_bytes, next } = &mut *table;
        let track = scripts.get_mut(id)?;
        let (place, step) = track.script.step(track.served);
        track.served += 1;
        let entry = entry(place);
        *log_bytes += entry.bytes();
        track.log.push_back((*next, entry));
        *next += 1;
        if track.log.len() > MOST_ENTRIES {
            *log_bytes -= track.drop_oldest();
        }
        table.fit();
        Some(step)
    }

    /// The log of a script as JSON, and how many entries it has lost to the limits.
    pub(crate) fn log(&self, id: &str) -> Option<(Value, u64)> {
        let table = self.table();
        let track = table.scripts.get(id)?;
        let entries = track.log.iter().map(|(_, entry)| entry.shown());
        Some((Value::from_iter(entries), track.dropped))
    }

    /// Whether there was such a script.
    pub(crate) fn on_clear(&self, id: &str) -> bool {
        self.table().forget_log(id)
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn forget_log(&mut self, id: &str) -> bool {
        let Some(track) = self.scripts.get_mut(id) else {
            return false;
        };
        self.log_bytes -= track.log.drain(..).map(|(_, entry)| entry.bytes()).sum::<usize>();
        track.dropped = 0;
        true
    }

    /// Drops the oldest entries of all logs until the rest has room.
    fn fit(&mut self) {
        while self.log_bytes > MOST_LOG_BYTES {
            let tracks = self.scripts.values_mut().filter(|track| !track.log.is_empty());
            let Some(oldest) = tracks.min_by_key(|track| track.log[0].0) else {
                return;
            };
            self.log_bytes -= oldest.drop_oldest();
        }
    }
}

impl Track {
    /// The bytes that became free.
    fn drop_oldest(&mut self) -> usize {
        self.dropped += 1;
        self.log.pop_front().map_or(0, |(_, entry)| entry.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use hyper::{HeaderMap, Method, Uri};

    #[test]
    fn all_logs_together_keep_to_their_bound() {
        let scripts = Scripts::default();
        let script = Script::parse(r#"{"steps":[200]}"#).expect("a script");
        for id in ["a", "b"] {
            scripts.on_script(id, script.clone(), 15).expect("room");
        }
        for id in ["a", "b", "b"] {
            scripts.on_request(id, |step| entry(step, 40 << 20));
        }
        let held = |id: &str| {
            let table = scripts.table();
            (table.scripts[id].log.len(), table.scripts[id].dropped)
        };
        assert_eq!((held("a"), held("b")), ((0, 1), (2, 0)), "the oldest goes first");
        scripts.on_clear("b");
        assert_eq!(scripts.table().log_bytes, 0);
    }

    fn entry(step: usize, body: usize) -> Entry {
        Entry {
            at_ms: 0.0,
            method: Method::GET,
            uri: Uri::from_static("/s/a"),
            headers: HeaderMap::new(),
            body: Bytes::from(vec![0; body]),
            connection: 1,
            step,
        }
    }
}
