//! What a user puts at a knob.

use core::time::Duration;

use super::knob::{Domain, Knob};
use crate::step::stable_enum;
use crate::text::is_printable;

stable_enum! {
    /// The unit in which a document's durations are given.
    TimeUnit {
        /// As in TypeScript and in JSON.
        Milliseconds = 0 "ms",
        /// As in Python.
        Seconds = 1 "s",
    }
}

/// What a user puts at a knob, as it comes: checked when the policy is built, not before.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Setting {
    /// Nothing: the default holds.
    #[default]
    Unset,
    /// `null`: none.
    Null,
    /// A truth value; `false` at a section's name switches the section off.
    Flag(bool),
    /// A number in the knob's own unit.
    Number(f64),
    /// A duration.
    Span(Duration),
    /// One of the names that the knob knows, by number.
    Choice(u8),
    /// A text that the knob does not take.
    UnknownName,
    /// A text that is fit for the knob.
    Text,
    /// A value of a type that fits no knob.
    WrongType,
}

/// A checked value. "None" is a value of its own, not a large number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    None,
    Auto,
    Of(u64),
}

impl Value {
    pub fn some(self) -> Option<u64> {
        match self {
            Self::Of(value) => Some(value),
            Self::None | Self::Auto => None,
        }
    }
}

/// A value as a host found it in a document.
#[derive(Clone, Copy, Debug)]
pub enum Given<'a> {
    /// `null`
    Null,
    /// `true`, `false`
    Flag(bool),
    /// A number in the document's unit.
    Number(f64),
    /// A text.
    Text(&'a str),
    /// An object, given at its own path before its fields.
    Object,
    /// Anything else.
    Other,
}

impl Setting {
    pub(super) fn from_document(knob: Knob, given: Given<'_>) -> Self {
        match given {
            Given::Null => Self::Null,
            Given::Flag(flag) => Self::Flag(flag),
            Given::Number(number) => Self::Number(number),
            Given::Text(text) => Self::from_text(knob, text),
            Given::Object | Given::Other => Self::WrongType,
        }
    }

    fn from_text(knob: Knob, text: &str) -> Self {
        let names = match knob.row().domain {
            Domain::Choice(names) => names,
            Domain::ThousandthsOrAuto(..) => &["auto"],
            Domain::Text(false) if is_label(text) => return Self::Text,
            Domain::Text(true) if is_token(text) => return Self::Text,
            Domain::Text(_) => return Self::UnknownName,
            _ => return Self::WrongType,
        };
        match names.iter().position(|name| *name == text) {
            Some(place) => Self::Choice(place as u8),
            None => Self::UnknownName,
        }
    }
}

/// What stands in logs and explanations must neither break their lines nor fill them.
pub(super) const LONGEST_LABEL: usize = 200;

fn is_label(text: &str) -> bool {
    (1..=LONGEST_LABEL).contains(&text.chars().count()) && text.chars().all(is_printable)
}

/// RFC 9110 §5.6.2
fn is_token(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(fits)
}

impl From<bool> for Setting {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<u32> for Setting {
    fn from(number: u32) -> Self {
        Self::Number(f64::from(number))
    }
}

impl From<f64> for Setting {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<Duration> for Setting {
    fn from(span: Duration) -> Self {
        Self::Span(span)
    }
}

impl<T: Into<Setting>> From<Option<T>> for Setting {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
