//! The ways to fail that are no HTTP answer.

use serde::Deserialize;

/// The name of a fault, as scripts, scenarios and the timeline spell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Fault {
    /// RST once the request is read, before any byte of an answer.
    #[serde(alias = "reset")]
    ResetBefore,
    /// The head and some bytes of the body, then RST.
    ResetInside,
    /// FIN without an answer.
    CloseBefore,
    /// The head and some bytes of the body, then FIN.
    CutBody,
    /// The head, then FIN; the server goes on reading and never closes first.
    HalfClosed,
    /// Bytes that are not HTTP, then FIN.
    Garbage,
    /// Nothing at all, until the client goes away.
    Hang,
    /// A whole answer under thousands of header lines.
    HugeHeaders,
    /// Any bytes, once or again and again, quickly or slowly; then FIN.
    Raw,
}

impl Fault {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ResetBefore => "reset_before",
            Self::ResetInside => "reset_inside",
            Self::CloseBefore => "close_before",
            Self::CutBody => "cut_body",
            Self::HalfClosed => "half_closed",
            Self::Garbage => "garbage",
            Self::Hang => "hang",
            Self::HugeHeaders => "huge_headers",
            Self::Raw => "raw",
        }
    }

    /// The fields that mean something beside `fault` and `latency_ms`.
    pub(crate) fn fields(self) -> &'static [&'static str] {
        match self {
            Self::ResetInside | Self::CutBody => &["status", "headers", "after_bytes"],
            Self::HalfClosed => &["status", "headers"],
            Self::HugeHeaders => &["status", "headers", "count", "bytes"],
            Self::Raw => &["parts"],
            Self::ResetBefore | Self::CloseBefore | Self::Garbage | Self::Hang => &[],
        }
    }
}
