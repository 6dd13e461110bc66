//! A step as it goes out: a response for the HTTP library, or an order to the socket.

use crate::body::Body;
use crate::connection::{Ending, Order};
use crate::fault::Fault;
use crate::flow::{Flow, PatternFlow, letters, whole};
use crate::raw::Part;
use crate::step::{Act, Date, Head, Step};
use bytes::Bytes;
use http_body_util::Either;
use hyper::Response;
use hyper::header::{CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use std::fmt::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What a cut body promises beyond the bytes that come.
const PROMISED_BYTES: usize = 1000;
const GARBAGE: &[u8] = b"\x16\x03\x00\xff this is not HTTP \x80\x81\xfe\r\n\r\n\0\0\0\0\r\n";

/// The outcome of a step.
pub(crate) enum Reply {
    Respond(Response<Flow>),
    Leave(Order),
}

/// A request whose body has come in whole.
pub(crate) struct Received {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// Builds what `step` answers to `request`. The latency is the caller's to wait for.
pub(crate) fn reply(step: &Step, request: &Received) -> Reply {
    match &step.act {
        Act::Answer { head, body, date } => Reply::Respond(answer(head, body, *date, request)),
        Act::HugeHeaders { head, count, bytes } => Reply::Respond(huge(head, *count, *bytes)),
        Act::Bare(fault) => Reply::Leave(bare(*fault)),
        Act::Partial { fault, head, after_bytes } => {
            Reply::Leave(partial(*fault, head, *after_bytes))
        }
        Act::Raw(parts) => Reply::Leave(Order { parts: parts.clone(), ending: Ending::Close }),
    }
}

fn answer(head: &Head, body: &Body, date: Date, request: &Received) -> Response<Flow> {
    let (flow, kind) = match body {
        Body::Empty => (whole(Bytes::new()), None),
        Body::Text(text) => (whole(text.clone()), Some(fixed("text/plain; charset=utf-8"))),
        Body::Json(json) => (whole(json.clone()), Some(fixed("application/json"))),
        Body::Echo => (whole(request.body.clone()), request.headers.get(CONTENT_TYPE).cloned()),
        Body::Pattern(pattern) => {
            (Either::Right(PatternFlow::new(*pattern)), Some(fixed("text/plain; charset=utf-8")))
        }
    };
    let mut response = Response::new(flow);
    *response.status_mut() = head.status;
    let headers = response.headers_mut();
    for line in &head.lines {
        headers.append(line.name(), line.value().clone());
    }
    if let Some(kind) = kind {
        headers.entry(CONTENT_TYPE).or_insert(kind);
    }
    let now = second(date.skew_ms);
    headers.entry(DATE).or_insert(http_date(now));
    if let Some(after) = date.retry_after {
        let seconds = after.as_millis().div_ceil(1000) as u64;
        headers.append(RETRY_AFTER, http_date(now + Duration::from_secs(seconds)));
    }
    response
}

fn huge(head: &Head, count: usize, bytes: usize) -> Response<Flow> {
    let mut response = Response::new(whole(Bytes::new()));
    *response.status_mut() = head.status;
    let headers = response.headers_mut();
    for line in &head.lines {
        headers.append(line.name(), line.value().clone());
    }
    let filler = HeaderValue::from_maybe_shared(letters(0, bytes)).expect("letters are a value");
    for index in 0..count {
        let name = HeaderName::try_from(format!("x-filler-{index}")).expect("a token");
        headers.append(name, filler.clone());
    }
    response
}

fn bare(fault: Fault) -> Order {
    let (parts, ending) = match fault {
        Fault::ResetBefore => (Vec::new(), Ending::Reset),
        Fault::CloseBefore => (Vec::new(), Ending::Close),
        Fault::Garbage => (vec![Part::once(GARBAGE)], Ending::Close),
        _ => (Vec::new(), Ending::Silence),
    };
    Order { parts, ending }
}

fn partial(fault: Fault, head: &Head, after_bytes: usize) -> Order {
    let reason = head.status.canonical_reason().unwrap_or("");
    let mut text = format!("HTTP/1.1 {} {reason}\r\n", head.status.as_str());
    let date = httpdate::fmt_http_date(second(0));
    // Writing to a string cannot fail.
    let _ = write!(text, "date: {date}\r\ncontent-length: {}\r\n", after_bytes + PROMISED_BYTES);
    let mut bytes = text.into_bytes();
    for line in &head.lines {
        bytes.extend_from_slice(line.name().as_str().as_bytes());
        bytes.extend_from_slice(b": ");
        bytes.extend_from_slice(line.value().as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend((0..after_bytes).map(|index| b'a' + (index % 26) as u8));
    let ending = match fault {
        Fault::ResetInside => Ending::Reset,
        Fault::HalfClosed => Ending::HalfClose,
        _ => Ending::Close,
    };
    Order { parts: vec![Part::once(bytes)], ending }
}

/// The whole second at which a clock that is `skew_ms` ahead stands.
fn second(skew_ms: i64) -> SystemTime {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let skew = Duration::from_millis(skew_ms.unsigned_abs());
    let skewed = if skew_ms < 0 { now.saturating_sub(skew) } else { now + skew };
    UNIX_EPOCH + Duration::from_secs(skewed.as_secs())
}

fn http_date(time: SystemTime) -> HeaderValue {
    HeaderValue::try_from(httpdate::fmt_http_date(time)).expect("an HTTP date is ASCII")
}

fn fixed(value: &'static str) -> HeaderValue {
    HeaderValue::from_static(value)
}
