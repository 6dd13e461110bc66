//! A file with a line for every request and for every reply, which outlives the server.
//!
//! Each line is written before the server goes on, so that a server that is killed has told all
//! that it saw.

use crate::header::shown;
use crate::reply::Reply;
use crate::step::Step;
use hyper::header::HeaderMap;
use hyper::http::request::Parts;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{SystemTime, UNIX_EPOCH};

/// Where a server tells what it saw.
#[derive(Debug)]
pub struct Journal {
    file: File,
    requests: AtomicU64,
}

impl Journal {
    /// A new, empty file.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { file: File::create(path)?, requests: AtomicU64::new(0) })
    }

    /// A request has come in whole. Answers its number, for [`Journal::on_reply`].
    pub(crate) fn on_request(&self, head: &Parts, body_len: usize) -> u64 {
        let number = self.requests.fetch_add(1, Relaxed) + 1;
        self.write(&json!({
            "event": "request",
            "number": number,
            "wall_ms": wall_ms(),
            "method": head.method.as_str(),
            "path": head.uri.path_and_query().map_or("", |path| path.as_str()),
            "headers": lines(&head.headers),
            "body_len": body_len,
        }));
        number
    }

    /// The reply goes out now. What becomes of it on its way, the client knows better.
    pub(crate) fn on_reply(&self, number: u64, step: &Step, reply: &Reply) {
        let (status, headers) = match reply {
            Reply::Respond(response) => {
                (Some(response.status().as_u16()), lines(response.headers()))
            }
            Reply::Leave(_) => (step.partial_status(), json!([])),
        };
        self.write(&json!({
            "event": "reply",
            "number": number,
            "wall_ms": wall_ms(),
            "result": step.result(),
            "status": status,
            "whole": matches!(reply, Reply::Respond(_)),
            "headers": headers,
        }));
    }

    fn write(&self, line: &Value) {
        let line = format!("{line}\n");
        // One write a line: a file that is written to by all threads has no torn lines.
        if let Err(error) = (&self.file).write_all(line.as_bytes()) {
            eprintln!("fault-server: the journal cannot be written: {error}");
        }
    }
}

fn lines(headers: &HeaderMap) -> Value {
    Value::from_iter(headers.iter().map(|(name, value)| json!([name.as_str(), shown(value)])))
}

fn wall_ms() -> f64 {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    wall.as_micros() as f64 / 1e3
}
