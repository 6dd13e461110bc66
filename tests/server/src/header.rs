//! Header lines as JSON: `["name", "text"]`, or `["name", {"base64": "..."}]` for bytes
//! that are no text.

use crate::invalid::refuse;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{CONTENT_LENGTH, HeaderName, HeaderValue, TRANSFER_ENCODING};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Value, json};
use std::fmt;

/// One line that a step adds to its head.
#[derive(Debug, Clone, serde::Deserialize)]
pub(crate) struct Line(Name, Content);

impl Line {
    pub(crate) fn name(&self) -> &HeaderName {
        &self.0.0
    }

    pub(crate) fn value(&self) -> &HeaderValue {
        &self.1.0
    }
}

/// A received value as JSON, in the shape that a step would send it.
pub(crate) fn shown(value: &HeaderValue) -> Value {
    match std::str::from_utf8(value.as_bytes()) {
        Ok(text) => Value::from(text),
        Err(_) => json!({"base64": STANDARD.encode(value.as_bytes())}),
    }
}

#[derive(Debug, Clone)]
struct Name(HeaderName);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        match HeaderName::from_bytes(text.as_bytes()) {
            // A wrong length is a fault of its own: the HTTP library would not send it.
            Ok(CONTENT_LENGTH | TRANSFER_ENCODING) => Err(refuse(
                "header name",
                format_args!("{text:?}"),
                "any but the two that frame the body (see cut_body, reset_inside)",
            )),
            Ok(name) => Ok(Self(name)),
            Err(_) => Err(refuse("header name", format_args!("{text:?}"), "a token of RFC 9110")),
        }
    }
}

#[derive(Debug, Clone)]
struct Content(HeaderValue);

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ContentReader)
    }
}

struct ContentReader;

impl<'de> Visitor<'de> for ContentReader {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a header value: text, or {\"base64\": \"...\"}")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Content, E> {
        content(text.as_bytes())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Content, A::Error> {
        let Encoded { base64 } = Encoded::deserialize(MapAccessDeserializer::new(map))?;
        let bytes = STANDARD
            .decode(&base64)
            .map_err(|_| refuse("base64", format_args!("{base64:?}"), "padded base64"))?;
        content(&bytes)
    }
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Encoded {
    base64: String,
}

fn content<E: Error>(bytes: &[u8]) -> Result<Content, E> {
    HeaderValue::from_bytes(bytes).map(Content).map_err(|_| {
        refuse(
            "header value",
            format_args!("{:?}", bytes.escape_ascii().to_string()),
            "tabs and the bytes 32 to 255 without 127",
        )
    })
}
