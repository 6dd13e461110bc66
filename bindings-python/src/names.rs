//! Stable names in and out.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use stormproof::idempotency::KeyForm;
use stormproof::step::{Kind, Phase, Safety};
use stormproof::{Control, Reason};

/// An enum of the core whose variants have stable names.
pub trait Named: Copy + 'static {
    const WHAT: &'static str;
    const VARIANTS: &'static [Self];
    const NAMES: &'static [&'static str];

    /// The variant that a caller named.
    fn named(name: &str) -> PyResult<Self> {
        match Self::NAMES.iter().position(|known| *known == name) {
            Some(place) => Ok(Self::VARIANTS[place]),
            None => Err(PyValueError::new_err(format!(
                "{name:?} is no {}: one of {}",
                Self::WHAT,
                Self::NAMES.join(", ")
            ))),
        }
    }
}

macro_rules! named {
    ($($kind:ty, $what:literal;)+) => {
        $(impl Named for $kind {
            const WHAT: &'static str = $what;
            const VARIANTS: &'static [Self] = Self::ALL;
            const NAMES: &'static [&'static str] = Self::NAMES;
        })+
    };
}

named! {
    Kind, "kind";
    Reason, "reason";
    Phase, "phase";
    Safety, "safety";
    Control, "control";
    KeyForm, "form";
}
