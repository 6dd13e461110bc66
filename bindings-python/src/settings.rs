//! The settings of a policy that the engine has no use for.

use pyo3::prelude::*;
use pyo3::types::PyMapping;
use stormproof::idempotency::{self, KeyForm};

use crate::names::Named;
use crate::policy::{Spelling, look_up};

/// Names and headers.
pub struct Settings {
    pub name: String,
    pub key_header: String,
    pub key_form: KeyForm,
    /// Does every call carry a key?
    pub auto_key: bool,
    pub time_left_header: Option<String>,
    pub attempt_header: Option<String>,
}

impl Settings {
    /// Does every attempt tell the dependency something?
    pub fn has_headers(&self) -> bool {
        self.time_left_header.is_some() || self.attempt_header.is_some()
    }

    /// Reads what the core has checked.
    pub fn read(fields: &Bound<'_, PyMapping>, spelling: Spelling) -> PyResult<Self> {
        let text = |path| -> PyResult<Option<String>> {
            match look_up(fields, path, spelling) {
                Some(value) if !value.is_none() => value.extract().map(Some),
                _ => Ok(None),
            }
        };
        let auto = look_up(fields, "idempotency.auto", spelling);
        let form = text("idempotency.form")?;
        Ok(Self {
            name: text("name")?.unwrap_or_else(|| "the dependency".into()),
            key_header: text("idempotency.header")?.unwrap_or_else(|| idempotency::HEADER.into()),
            key_form: form.map_or(Ok(KeyForm::Raw), |form| KeyForm::named(&form))?,
            auto_key: auto.map_or(Ok(false), |auto| auto.is_truthy())?,
            time_left_header: text("propagate.timeLeftHeader")?,
            attempt_header: text("propagate.attemptHeader")?,
        })
    }
}
