//! What the body of an answer is made of.

use crate::invalid::refuse;
use bytes::Bytes;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;
use std::fmt;
use std::time::Duration;

/// 1 GiB; a body is streamed, so this bounds time rather than memory.
const LARGEST: u64 = 1 << 30;
/// The most bytes of one chunk.
pub(crate) const LARGEST_CHUNK: usize = 1 << 20;
const USUAL_CHUNK: usize = 64 << 10;
const LONGEST_PAUSE_MS: u64 = 600_000;

/// Where the bytes come from.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    Empty,
    Text(Bytes),
    Json(Bytes),
    /// The body of the request, with its content type.
    Echo,
    Pattern(Pattern),
}

/// `bytes` letters of the repeated alphabet, `chunk` at a time, one chunk `every` so often.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pattern {
    pub(crate) bytes: u64,
    pub(crate) chunk: usize,
    pub(crate) every: Duration,
}

impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Body;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a body: text, {\"json\": ...}, {\"echo\": true} or {\"bytes\": n, ...}")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Body, E> {
        Ok(Body::Text(Bytes::copy_from_slice(text.as_bytes())))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Body, A::Error> {
        Fields::deserialize(MapAccessDeserializer::new(map))?.body()
    }
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    bytes: Option<u64>,
    chunk: Option<usize>,
    every_ms: Option<u64>,
    echo: Option<bool>,
    #[serde(default, deserialize_with = "present")]
    json: Option<Value>,
}

impl Fields {
    fn body<E: Error>(self) -> Result<Body, E> {
        let paced = self.chunk.is_some() || self.every_ms.is_some();
        match (self.bytes, self.echo, self.json) {
            (Some(bytes), None, None) => pattern(bytes, self.chunk, self.every_ms),
            (None, Some(true), None) if !paced => Ok(Body::Echo),
            (None, None, Some(json)) if !paced => Ok(Body::Json(json.to_string().into())),
            _ => Err(E::custom(
                "a body is one of {\"json\": ...}, {\"echo\": true}, \
                 {\"bytes\": n, \"chunk\": n, \"every_ms\": n}",
            )),
        }
    }
}

fn pattern<E: Error>(bytes: u64, chunk: Option<usize>, every_ms: Option<u64>) -> Result<Body, E> {
    let chunk = chunk.unwrap_or(USUAL_CHUNK);
    let every_ms = every_ms.unwrap_or(0);
    if bytes > LARGEST {
        return Err(refuse("bytes", bytes, format_args!("0 to {LARGEST}")));
    }
    if !(1..=LARGEST_CHUNK).contains(&chunk) {
        return Err(refuse("chunk", chunk, format_args!("1 to {LARGEST_CHUNK}")));
    }
    if every_ms > LONGEST_PAUSE_MS {
        return Err(refuse("every_ms", every_ms, format_args!("0 to {LONGEST_PAUSE_MS}")));
    }
    let every = Duration::from_millis(every_ms);
    Ok(Body::Pattern(Pattern { bytes, chunk, every }))
}

/// Tells `"json": null` from no `json` at all.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}
