//! Header values in and out.

use pyo3::prelude::*;
use stormproof::idempotency::{self, KeyForm};
use stormproof::retry_after::Fields;

use crate::names::Named;

/// The wait in milliseconds that the fields of a response ask for.
#[pyfunction]
#[pyo3(signature = (retry_after=None, date=None, retry_after_ms=None, x_ms_retry_after_ms=None, *, wall_ms))]
pub fn retry_after_ms(
    retry_after: Option<&[u8]>,
    date: Option<&[u8]>,
    retry_after_ms: Option<&[u8]>,
    x_ms_retry_after_ms: Option<&[u8]>,
    wall_ms: u64,
) -> Option<u64> {
    let fields = Fields { retry_after_ms, x_ms_retry_after_ms, retry_after, date };
    fields.delay_ms(wall_ms)
}

/// May the method be repeated without further effect?
#[pyfunction]
pub fn is_idempotent_method(method: &str) -> bool {
    stormproof::classify::is_idempotent_method(method.as_bytes())
}

/// Is this an idempotency key: 1 to 255 visible ASCII characters?
#[pyfunction]
pub fn is_key(key: &str) -> bool {
    idempotency::is_key(key)
}

/// The header's value for an idempotency key; `None` where it is no key.
#[pyfunction]
#[pyo3(signature = (key, form="raw"))]
pub fn key_header_value(key: &str, form: &str) -> PyResult<Option<String>> {
    Ok(idempotency::header_value(key, KeyForm::named(form)?))
}
