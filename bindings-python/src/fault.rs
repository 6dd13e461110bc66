//! Faults of a policy, raised as `stormproof.PolicyError`.

use pyo3::prelude::*;
use pyo3::types::{PyMapping, PyString};
use stormproof::policy::Document;
use stormproof::{ErrorCode, PolicyError};

use crate::policy::{Spelling, look_up};
use crate::spelling::{python_path, python_text};

/// The error of a document that was given as a mapping.
pub fn raise(fields: &Bound<'_, PyMapping>, error: &PolicyError, spelling: Spelling) -> PyErr {
    let py = fields.py();
    let given = match error.code {
        ErrorCode::Contradiction => None,
        _ => look_up(fields, &error.field, spelling),
    };
    let shown = given.as_ref().and_then(|value| value.repr().ok());
    let mut spelled = error.clone();
    if let Some(shown) = shown {
        spelled.value = Some(shown.to_string_lossy().into_owned());
    }
    if spelling == Spelling::Python {
        spelled.field = match error.code {
            ErrorCode::UnknownField => error.field.clone(),
            _ => python_path(&error.field),
        };
        spelled.allowed = python_text(&error.allowed);
    }
    let value = match (given, &spelled.value) {
        (Some(value), _) => value,
        (None, Some(text)) => PyString::new(py, text).into_any(),
        (None, None) => py.None().into_bound(py),
    };
    new(py, &spelled.to_string(), error, &value, &spelled.allowed)
}

/// Raises what is wrong with a document that is given as a text, if anything is.
#[pyfunction]
pub fn document_error(py: Python<'_>, text: &str) -> PyResult<()> {
    let Err(error) = Document::from_json(text) else {
        return Ok(());
    };
    let value = error.value.clone().into_pyobject(py)?;
    Err(new(py, &error.to_string(), &error, &value, &error.allowed))
}

fn new(
    py: Python<'_>,
    message: &str,
    error: &PolicyError,
    value: &Bound<'_, PyAny>,
    allowed: &str,
) -> PyErr {
    let fields = (message, error.code.name(), &error.field, value, allowed);
    py.import("stormproof._errors")
        .and_then(|module| module.getattr("PolicyError"))
        .and_then(|class| class.call1(fields))
        .map_or_else(|error| error, PyErr::from_value)
}
