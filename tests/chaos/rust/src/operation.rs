//! What is done at each attempt, and what is written down of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::HeaderMap;
use hyper::{Method, Request, Response};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error as RequestError};
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use stormproof::drive::Attempt;
use stormproof::retry_after::Fields;
use stormproof::step::{Kind, Safety};
use stormproof::{Outcome, Snapshot};

use crate::journal::Journal;

/// What an attempt ended in, if not in a success.
#[derive(Debug)]
pub enum Problem {
    /// An answer, and the wait that it asks for.
    Status { status: u16, retry_after_ms: Option<u64> },
    /// No connection: the request never left.
    NotSent,
    /// The connection broke, or what came was no HTTP.
    Broken,
}

impl Problem {
    /// What the client is told, but for statuses, which are its own to judge.
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::NotSent => Outcome::of(Kind::Network).not_sent(),
            _ => Outcome::of(Kind::Network),
        }
    }
}

/// A server and the connections to it.
pub struct Http {
    client: Client<HttpConnector, Full<Bytes>>,
    url: String,
}

/// Of which call a request is.
pub struct Errand {
    pub call: u64,
    pub safety: Safety,
    pub key: Option<String>,
    /// The attempt that has ended and that nothing has followed yet; 0 for none.
    pub before: Arc<AtomicU32>,
}

impl Errand {
    /// The client sleeps. What follows an attempt first is the wait for the next; later sleeps are
    /// limits, places in the line and waits for the circuit.
    pub fn on_sleep(&self, wait: Duration, journal: &Journal) {
        let before = self.before.swap(0, Relaxed);
        if before > 0 {
            let (wait, call) = (wait.as_secs_f64() * 1e3, self.call);
            journal.write(json!({"e": "event", "t": journal.now_ms(), "name": "retry_scheduled", "call": call, "n": before + 1, "wait": wait}));
        }
    }
}

impl Http {
    pub fn new(url: &str) -> Self {
        Self { client: Client::builder(TokioExecutor::new()).build_http(), url: url.into() }
    }

    /// One request, read to its end.
    pub async fn send(
        &self,
        errand: &Errand,
        attempt: Attempt,
        entry: Entry,
        journal: &Arc<Journal>,
    ) -> Result<(), Problem> {
        let mut trial = Trial::begin(journal, errand, attempt.number, &entry);
        let answer = self.client.request(self.request(errand, attempt.number)).await;
        let result = match answer {
            Ok(response) => read(response).await,
            Err(error) => Err(problem(&error)),
        };
        trial.ended(&result);
        result
    }

    fn request(&self, errand: &Errand, number: u32) -> Request<Full<Bytes>> {
        let (method, body) = match errand.safety {
            Safety::Idempotent => (Method::GET, Bytes::new()),
            _ => (Method::POST, Bytes::from_static(b"pay")),
        };
        let mut request = Request::builder()
            .method(method)
            .uri(&self.url)
            .header("x-call", errand.call)
            .header("x-attempt", number);
        if let Some(key) = &errand.key {
            request = request.header("idempotency-key", key);
        }
        request.body(Full::new(body)).expect("a URL of this machine and headers of ASCII")
    }
}

async fn read(response: Response<Incoming>) -> Result<(), Problem> {
    let status = response.status().as_u16();
    if status >= 400 {
        let retry_after_ms = retry_after_ms(response.headers());
        return Err(Problem::Status { status, retry_after_ms });
    }
    response.into_body().collect().await.map(drop).map_err(|_| Problem::Broken)
}

fn problem(error: &RequestError) -> Problem {
    match error.is_connect() {
        true => Problem::NotSent,
        false => Problem::Broken,
    }
}

fn retry_after_ms(headers: &HeaderMap) -> Option<u64> {
    let field = |name| headers.get(name).map(|value| value.as_bytes());
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let fields = Fields {
        retry_after_ms: field("retry-after-ms"),
        x_ms_retry_after_ms: field("x-ms-retry-after-ms"),
        retry_after: field("retry-after"),
        date: field("date"),
    };
    fields.delay_ms(wall.as_millis() as _)
}

/// How the client stands as an operation begins.
pub struct Entry {
    /// Of the attempt; none where it has passed already.
    until: Option<[f64; 2]>,
    circuit: &'static str,
}

impl Entry {
    /// To be asked in the turn in which the attempt was given.
    pub fn of(attempt: &Attempt, snapshot: impl Fn() -> Snapshot) -> Self {
        let left = attempt.time_left.unwrap_or_default().as_secs_f64() * 1e3;
        let limit = Journal::last_ms() + left;
        let until = (left > 0.0).then_some([limit, limit]);
        Self { until, circuit: snapshot().circuit.name() }
    }
}

/// An attempt in the log. One that is dropped before its end was cut.
struct Trial {
    journal: Arc<Journal>,
    call: u64,
    number: u32,
    before: Arc<AtomicU32>,
    is_over: bool,
}

impl Trial {
    fn begin(journal: &Arc<Journal>, errand: &Errand, number: u32, entry: &Entry) -> Self {
        let call = errand.call;
        errand.before.store(0, Relaxed);
        let now = journal.now_ms();
        journal.write(json!({"e": "try", "t": now, "call": call, "n": number, "until": entry.until, "circuit": entry.circuit}));
        let before = Arc::clone(&errand.before);
        Self { journal: Arc::clone(journal), call, number, before, is_over: false }
    }

    fn ended(&mut self, result: &Result<(), Problem>) {
        self.is_over = true;
        match result {
            Ok(()) => self.write("answer", json!(200), true),
            Err(Problem::Status { status, .. }) => self.write("answer", json!(status), false),
            Err(_) => self.write("network", Value::Null, false),
        }
    }

    fn write(&self, how: &str, status: Value, read: bool) {
        let Self { journal, call, number, .. } = self;
        self.before.store(*number, Relaxed);
        let t = journal.now_ms();
        journal.write(json!({"e": "ended", "t": t, "call": call, "n": number, "how": how, "status": status, "read": read}));
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        if !self.is_over {
            self.write("cut", Value::Null, false);
        }
    }
}
