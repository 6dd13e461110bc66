//! What is wrong with a policy.

use alloc::string::String;
use core::fmt::{self, Write};

use crate::step::stable_enum;
use crate::text::is_printable;

stable_enum! {
    /// The kind of fault, equal in all hosts.
    ErrorCode {
        /// No knob has this name.
        UnknownField = 0 "unknown_field",
        /// The value is of another type than the knob.
        WrongType = 1 "wrong_type",
        /// The value lies outside the knob's range.
        OutOfRange = 2 "out_of_range",
        /// The value is finer than the knob's unit.
        TooFine = 3 "too_fine",
        /// The text is none of the names that the knob knows.
        UnknownName = 4 "unknown_name",
        /// The value contradicts that of another knob.
        Contradiction = 5 "contradiction",
        /// The document is not JSON, or not an object.
        BadDocument = 6 "bad_document",
        /// The file cannot be read.
        UnreadableFile = 7 "unreadable_file",
    }
}

/// A policy that no client is built from: which field, what stands there, and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError {
    /// The kind of fault.
    pub code: ErrorCode,
    /// The path of the field in the policy document, such as `retry.baseMs`.
    pub field: String,
    /// What stands there, where the core can spell it; a host that was given the value knows it.
    pub value: Option<String>,
    /// What is allowed there.
    pub allowed: String,
}

impl fmt::Display for PolicyError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, field, value, allowed } = self;
        let field = Printable(field);
        let allowed = Printable(allowed);
        let value = Printable(value.as_deref().unwrap_or("this value"));
        match code {
            ErrorCode::UnknownField => write!(out, "{field} is not a field of a policy; {allowed}"),
            ErrorCode::BadDocument | ErrorCode::UnreadableFile => write!(out, "{value}: {allowed}"),
            _ => write!(out, "{field}: {value} is not allowed; allowed: {allowed}"),
        }
    }
}

impl core::error::Error for PolicyError {}

/// A document may come from anywhere: what it says must not forge lines of a log.
struct Printable<'a>(&'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|character| match character {
            printable if is_printable(printable) => out.write_char(printable),
            other => write!(out, "{}", other.escape_unicode()),
        })
    }
}
