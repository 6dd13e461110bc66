//! What an attempt ended in, as Python sees it.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use stormproof::Outcome;
use stormproof::step::{Kind, Phase};

use crate::names::Named;

/// What an attempt ended in: a kind, and what is known besides.
#[pyclass(frozen, module = "stormproof", name = "Classification")]
#[derive(Clone, Copy, PartialEq)]
pub struct Classification(pub Outcome);

#[pymethods]
impl Classification {
    #[new]
    #[pyo3(signature = (kind, status=0, phase="unknown", retry_after=None))]
    fn new(kind: &str, status: u16, phase: &str, retry_after: Option<f64>) -> PyResult<Self> {
        let retry_after_ms = match retry_after {
            Some(seconds) if seconds.is_nan() || seconds < 0.0 => {
                return Err(PyValueError::new_err("retry_after must not be negative"));
            }
            Some(seconds) => Some(millis(seconds)),
            None => None,
        };
        Ok(Self(Outcome {
            kind: Kind::named(kind)?,
            status,
            phase: Phase::named(phase)?,
            retry_after_ms,
        }))
    }

    /// What happened: `success`, `network`, `timeout`, `server`, `throttled`, `client`, `business`,
    /// `contract`, `unclassified`, or the name of a refusal.
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.kind.name()
    }

    /// The HTTP status, 0 where there is none.
    #[getter]
    fn status(&self) -> u16 {
        self.0.status
    }

    /// `not_sent` where the request certainly never left, else `unknown`.
    #[getter]
    fn phase(&self) -> &'static str {
        self.0.phase.name()
    }

    /// The seconds that the dependency asks to wait.
    #[getter]
    fn retry_after(&self) -> Option<f64> {
        self.0.retry_after_ms.map(|millis| millis as f64 / 1e3)
    }

    /// May an attempt that ended in this be repeated at all?
    #[getter]
    fn is_retryable(&self) -> bool {
        self.0.kind.is_retryable()
    }

    /// `success`, `transient`, `permanent` or `refused`.
    #[getter]
    fn group(&self) -> &'static str {
        group(self.0.kind)
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> (Bound<'py, PyAny>, (&'static str, u16, &'static str, Option<f64>)) {
        let this = slf.get();
        let parts = (this.kind(), this.status(), this.phase(), this.retry_after());
        (slf.get_type().into_any(), parts)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| *other.get() == *self)
    }

    fn __hash__(&self) -> u64 {
        u64::from(self.0.kind.code()) << 16 | u64::from(self.0.status)
    }

    fn __repr__(&self) -> String {
        let retry_after = self.retry_after();
        format!(
            "Classification({:?}, status={}, phase={:?}, retry_after={})",
            self.kind(),
            self.status(),
            self.phase(),
            retry_after.map_or("None".into(), |seconds| seconds.to_string())
        )
    }
}

/// Seconds as whole milliseconds, never less than asked. 4.001 is 4,001 although no double is.
fn millis(seconds: f64) -> u64 {
    let nearest = (seconds * 1e3).round();
    let exact = nearest / 1e3 == seconds;
    (if exact { nearest } else { (seconds * 1e3).ceil() }) as u64
}

/// The class of a kind.
pub fn group(kind: Kind) -> &'static str {
    match kind {
        Kind::Success => "success",
        kind if kind.is_retryable() => "transient",
        kind if kind.is_refusal() => "refused",
        _ => "permanent",
    }
}
