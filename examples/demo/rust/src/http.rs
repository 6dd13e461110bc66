//! One request over HTTP, within a limit.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use stormproof::retry_after::Fields;
use ureq::{Agent, Error};

/// What a request ended in, if not in a body.
#[derive(Debug)]
pub enum Problem {
    /// An answer that is not a success, and the wait that it asks for.
    Status {
        status: u16,
        retry_after_ms: Option<u64>,
    },
    TimedOut,
    /// No connection: the request never left.
    NotSent(Error),
    /// The connection broke, or what came was no HTTP.
    Broken(Error),
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status { status, .. } => write!(out, "status {status}"),
            Self::TimedOut => write!(out, "no answer in time"),
            Self::NotSent(error) | Self::Broken(error) => error.fmt(out),
        }
    }
}

/// A server and the connections to it.
pub struct Http {
    agent: Agent,
    url: String,
    host_name: String,
}

impl Http {
    /// Asks the server at `url` and says that it is `host_name`.
    pub fn new(url: &str, host_name: &str) -> Self {
        let agent = Agent::config_builder().http_status_as_error(false).proxy(None).build().into();
        Self { agent, url: url.trim_end_matches('/').into(), host_name: host_name.into() }
    }

    /// The body at `path`, read to its end: an answer that breaks off is none.
    pub fn get(&self, path: &str, limit: Option<Duration>) -> Result<String, Problem> {
        let request = self
            .agent
            .get(format!("{}{path}", self.url))
            .header("x-host", &self.host_name)
            .config()
            .timeout_global(limit)
            .build();
        let mut response = request.call().map_err(Problem::from)?;
        let status = response.status().as_u16();
        let retry_after_ms = retry_after_ms(response.headers());
        let body = response.body_mut().read_to_string().map_err(Problem::from)?;
        match status {
            200..300 => Ok(body),
            _ => Err(Problem::Status { status, retry_after_ms }),
        }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match &error {
            Error::Timeout(_) => Self::TimedOut,
            Error::ConnectionFailed | Error::HostNotFound => Self::NotSent(error),
            Error::Io(io) if io.kind() == std::io::ErrorKind::ConnectionRefused => {
                Self::NotSent(error)
            }
            _ => Self::Broken(error),
        }
    }
}

fn retry_after_ms(headers: &ureq::http::HeaderMap) -> Option<u64> {
    let field = |name| headers.get(name).map(|value: &ureq::http::HeaderValue| value.as_bytes());
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let fields = Fields {
        retry_after_ms: field("retry-after-ms"),
        x_ms_retry_after_ms: field("x-ms-retry-after-ms"),
        retry_after: field("retry-after"),
        date: field("date"),
    };
    fields.delay_ms(wall.as_millis() as _)
}
