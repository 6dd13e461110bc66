//! The log of the host.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant as Clock, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use stormproof::time::Instant;

thread_local! {
    static LAST: Cell<Instant> = const { Cell::new(Instant::from_nanos(0)) };
}

/// Lines stand in the order in which they were written, whatever thread writes them.
pub struct Journal {
    origin: Clock,
    lines: Mutex<Vec<Value>>,
    file: Mutex<File>,
}

impl Journal {
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = Mutex::new(File::create(path)?);
        Ok(Self { origin: Clock::now(), lines: Mutex::default(), file })
    }

    /// The clock of the client.
    pub fn now(&self) -> Instant {
        let now = Instant::from_nanos(self.origin.elapsed().as_nanos() as u64);
        LAST.set(now);
        now
    }

    /// What this thread has read last: in an operation, what its time left was counted from.
    pub fn last_ms() -> f64 {
        millis(LAST.get())
    }

    /// The same in milliseconds: the clock of the log.
    pub fn now_ms(&self) -> f64 {
        millis(self.now())
    }

    /// What a time of the log is to the client.
    pub fn instant(&self, ms: f64) -> Instant {
        Instant::from_nanos((ms * 1e6) as u64)
    }

    /// Both clocks at one moment.
    pub fn start(&self) {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let wall = wall.as_secs_f64() * 1e3;
        self.write(json!({"e": "start", "t": self.now_ms(), "wall": wall, "host": "rust"}));
    }

    pub fn write(&self, line: Value) {
        lock(&self.lines).push(line);
    }

    pub fn flush(&self) {
        let lines = std::mem::take(&mut *lock(&self.lines));
        let text: String = lines.into_iter().map(|line| format!("{line}\n")).collect();
        lock(&self.file).write_all(text.as_bytes()).expect("the log can be written");
    }
}

pub fn millis(instant: Instant) -> f64 {
    instant.as_nanos() as f64 / 1e6
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
