//! What a script saw.

use crate::header::shown;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hyper::header::HeaderMap;
use hyper::{Method, Uri};
use serde_json::{Value, json};

/// What an entry weighs beyond its texts.
const ENTRY_BYTES: usize = 256;
const LINE_BYTES: usize = 64;

/// One request.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Since the start of the server.
    pub(crate) at_ms: f64,
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) connection: u64,
    /// The place of the step that it was given.
    pub(crate) step: usize,
}

impl Entry {
    /// About how much memory it holds.
    pub(crate) fn bytes(&self) -> usize {
        let lines = self.headers.iter();
        let lines = lines.map(|(name, value)| LINE_BYTES + name.as_str().len() + value.len());
        let path = self.uri.path_and_query().map_or(0, |path| path.as_str().len());
        ENTRY_BYTES + lines.sum::<usize>() + path + self.body.len()
    }

    pub(crate) fn shown(&self) -> Value {
        let headers = self.headers.iter();
        let headers = headers.map(|(name, value)| json!([name.as_str(), shown(value)]));
        json!({
            "at_ms": self.at_ms,
            "method": self.method.as_str(),
            "path": self.uri.path_and_query().map_or("", |path| path.as_str()),
            "headers": Value::from_iter(headers),
            "body_base64": STANDARD.encode(&self.body),
            "body_len": self.body.len(),
            "connection": self.connection,
            "step": self.step,
        })
    }
}
