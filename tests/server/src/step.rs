//! One answer or one fault.

use crate::body::Body;
use crate::fault::Fault;
use crate::header::Line;
use crate::invalid::{Invalid, parse, refuse};
use crate::raw::Part;
use crate::span::Span;
use hyper::StatusCode;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use std::fmt;
use std::time::Duration;

/// Ten years: far past any clock skew worth a test, and inside what HTTP dates can say.
const FARTHEST_MS: i64 = 315_360_000_000;
const MOST_BYTES_OF_BODY: usize = 64 << 20;
/// `http::HeaderMap` holds at most 32,768 names.
const MOST_LINES: usize = 20_000;
const LONGEST_LINE: usize = 64 << 10;
const MOST_BYTES_OF_HEAD: usize = 64 << 20;
const MOST_PARTS: usize = 16;
const ANSWER_FIELDS: &[&str] =
    &["status", "headers", "body", "retry_after_date_ms", "date_skew_ms"];

/// What the server does with one request. In JSON an object, a bare status (`503`) or the
/// bare name of a fault (`"hang"`).
#[derive(Debug, Clone)]
pub struct Step {
    pub(crate) latency: Span,
    pub(crate) act: Act,
}

/// What a step does once its latency is over.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    Answer {
        head: Head,
        body: Body,
        date: Date,
    },
    /// RST or FIN or silence or noise: `fault` needs no more than its name.
    Bare(Fault),
    /// A head that promises more body than the `after_bytes` that come.
    Partial {
        fault: Fault,
        head: Head,
        after_bytes: usize,
    },
    HugeHeaders {
        head: Head,
        count: usize,
        bytes: usize,
    },
    Raw(Vec<Part>),
}

/// The status line and the header lines that a step asks for.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    pub(crate) status: StatusCode,
    pub(crate) lines: Vec<Line>,
}

/// How the clock of the answer stands.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Date {
    pub(crate) skew_ms: i64,
    /// How long after its `Date` the answer sets its `Retry-After`.
    pub(crate) retry_after: Option<Duration>,
}

impl Step {
    /// Reads a step from JSON.
    ///
    /// # Errors
    /// Names the field, its value and what is allowed there.
    pub fn parse(json: &str) -> Result<Self, Invalid> {
        parse(json.as_bytes())
    }

    /// The class of the status, as `"5xx"`, or the name of the fault.
    pub(crate) fn result(&self) -> &'static str {
        match &self.act {
            Act::Answer { head, .. } => class(head.status),
            Act::Bare(fault) | Act::Partial { fault, .. } => fault.name(),
            Act::HugeHeaders { .. } => Fault::HugeHeaders.name(),
            Act::Raw(_) => Fault::Raw.name(),
        }
    }

    /// The status in a head whose body will not come whole.
    pub(crate) fn partial_status(&self) -> Option<u16> {
        match &self.act {
            Act::Partial { head, .. } => Some(head.status.as_u16()),
            _ => None,
        }
    }

    /// Whether a server needs a worker to come up with it.
    pub(crate) fn is_answer(&self) -> bool {
        matches!(self.act, Act::Answer { .. })
    }

    pub(crate) fn status(status: StatusCode) -> Self {
        let head = Head { status, lines: Vec::new() };
        let act = Act::Answer { head, body: Body::Empty, date: Date::default() };
        Self { latency: Span::default(), act }
    }
}

fn class(status: StatusCode) -> &'static str {
    const CLASSES: [&str; 8] = ["2xx", "3xx", "4xx", "5xx", "6xx", "7xx", "8xx", "9xx"];
    CLASSES[usize::from(status.as_u16() / 100) - 2]
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Step;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a step: an object, a status, or the name of a fault")
    }

    fn visit_u64<E: Error>(self, status: u64) -> Result<Step, E> {
        status_of(status).map(Step::status)
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Step, E> {
        let fault = Fault::deserialize(serde::de::value::StrDeserializer::new(name))?;
        Fields { fault: Some(fault), ..Fields::default() }.step()
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Step, A::Error> {
        Fields::deserialize(MapAccessDeserializer::new(map))?.step()
    }
}

#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    latency_ms: Option<Span>,
    status: Option<u64>,
    headers: Option<Vec<Line>>,
    body: Option<Body>,
    retry_after_date_ms: Option<i64>,
    date_skew_ms: Option<i64>,
    fault: Option<Fault>,
    after_bytes: Option<usize>,
    count: Option<usize>,
    bytes: Option<usize>,
    parts: Option<Vec<Part>>,
}

impl Fields {
    fn step<E: Error>(mut self) -> Result<Step, E> {
        self.check_company()?;
        let latency = self.latency_ms.unwrap_or_default();
        let head = Head {
            status: status_of(self.status.unwrap_or(200))?,
            lines: self.headers.take().unwrap_or_default(),
        };
        let act = match self.fault {
            None => {
                Act::Answer { head, date: self.date()?, body: self.body.unwrap_or(Body::Empty) }
            }
            Some(Fault::HugeHeaders) => self.huge(head)?,
            Some(Fault::Raw) => self.raw()?,
            Some(fault @ (Fault::ResetInside | Fault::CutBody)) => {
                let after_bytes = self.after_bytes.unwrap_or(10);
                within("after_bytes", after_bytes, 0, MOST_BYTES_OF_BODY)?;
                Act::Partial { fault, head, after_bytes }
            }
            Some(fault @ Fault::HalfClosed) => Act::Partial { fault, head, after_bytes: 0 },
            Some(fault) => Act::Bare(fault),
        };
        Ok(Step { latency, act })
    }

    /// A field that would be ignored is a mistake of the writer.
    fn check_company<E: Error>(&self) -> Result<(), E> {
        let given = [
            ("status", self.status.is_some()),
            ("headers", self.headers.is_some()),
            ("body", self.body.is_some()),
            ("retry_after_date_ms", self.retry_after_date_ms.is_some()),
            ("date_skew_ms", self.date_skew_ms.is_some()),
            ("after_bytes", self.after_bytes.is_some()),
            ("count", self.count.is_some()),
            ("bytes", self.bytes.is_some()),
            ("parts", self.parts.is_some()),
        ];
        let (whose, allowed) = match self.fault {
            None => ("an answer", ANSWER_FIELDS),
            Some(fault) => (fault.name(), fault.fields()),
        };
        for (field, present) in given {
            if present && !allowed.contains(&field) {
                let list = [&["latency_ms"], allowed].concat().join(", ");
                return Err(E::custom(format_args!(
                    "{field} has no meaning for {whose}; allowed: {list}"
                )));
            }
        }
        Ok(())
    }

    fn date<E: Error>(&self) -> Result<Date, E> {
        let skew_ms = self.date_skew_ms.unwrap_or(0);
        within("date_skew_ms", skew_ms, -FARTHEST_MS, FARTHEST_MS)?;
        let after = self.retry_after_date_ms;
        within("retry_after_date_ms", after.unwrap_or(0), 0, FARTHEST_MS)?;
        let retry_after = after.map(|ms| Duration::from_millis(ms.unsigned_abs()));
        Ok(Date { skew_ms, retry_after })
    }

    fn raw<E: Error>(self) -> Result<Act, E> {
        let parts = self.parts.unwrap_or_default();
        within("length of parts", parts.len(), 1, MOST_PARTS)?;
        Ok(Act::Raw(parts))
    }

    fn huge<E: Error>(&self, head: Head) -> Result<Act, E> {
        let count = self.count.unwrap_or(2000);
        let bytes = self.bytes.unwrap_or(100);
        within("count", count, 1, MOST_LINES)?;
        within("bytes", bytes, 1, LONGEST_LINE)?;
        within("count times bytes", count * bytes, 1, MOST_BYTES_OF_HEAD)?;
        Ok(Act::HugeHeaders { head, count, bytes })
    }
}

fn status_of<E: Error>(status: u64) -> Result<StatusCode, E> {
    u16::try_from(status)
        .ok()
        .filter(|code| *code >= 200)
        .and_then(|code| StatusCode::from_u16(code).ok())
        .ok_or_else(|| refuse("status", status, "200 to 999"))
}

fn within<T: PartialOrd + fmt::Display, E: Error>(
    field: &str,
    value: T,
    low: T,
    high: T,
) -> Result<(), E> {
    if value >= low && value <= high {
        return Ok(());
    }
    Err(refuse(field, value, format_args!("{low} to {high}")))
}
