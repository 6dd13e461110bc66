//! What a running operation can know of its attempt.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use stormproof::idempotency;
use stormproof::time::Instant;

use crate::clock;
use crate::host::Host;
use crate::tracking;

/// One try of a call, as its operation sees it.
#[pyclass(frozen, module = "stormproof", name = "Attempt")]
pub struct Attempt {
    /// `None` where there are no headers to send.
    pub host: Option<Py<Host>>,
    pub number: u32,
    pub began: Instant,
    pub until: Option<Instant>,
    pub key: Option<String>,
}

#[pymethods]
impl Attempt {
    /// 1 for the first try.
    #[getter]
    fn number(&self) -> u32 {
        self.number
    }

    /// The seconds left for this attempt, to be handed to whatever blocks; `None`: no limit.
    #[getter]
    fn timeout(&self, py: Python<'_>) -> Option<f64> {
        let until = self.until?;
        Some(until.saturating_since(clock::now(py)).as_secs_f64())
    }

    /// The key of the call, the same for all its attempts; `None` where it has none.
    #[getter]
    fn idempotency_key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// The headers to send with this attempt: the idempotency key where the call has one, time
    /// left and number of the attempt where the policy names headers for them.
    #[getter]
    fn headers(&self, py: Python<'_>) -> BTreeMap<&str, String> {
        let mut headers = BTreeMap::new();
        let Some(host) = &self.host else {
            return headers;
        };
        let settings = &host.get().settings;
        let key = self.key.as_deref();
        if let Some(value) = key.and_then(|key| idempotency::header_value(key, settings.key_form)) {
            headers.insert(settings.key_header.as_str(), value);
        }
        if let (Some(name), Some(until)) = (&settings.time_left_header, self.until) {
            let left = until.saturating_since(clock::now(py));
            headers.insert(name, left.as_millis().to_string());
        }
        if let Some(name) = &settings.attempt_header {
            headers.insert(name, self.number.to_string());
        }
        headers
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let timeout = self.timeout(py);
        let timeout = timeout.map_or("None".into(), |seconds| format!("{seconds:.3}"));
        format!("<Attempt {}: timeout={timeout}>", self.number)
    }
}

/// The methods of the context variable.
struct Context {
    set: Py<PyAny>,
    reset: Py<PyAny>,
    get: Py<PyAny>,
}

static CONTEXT: PyOnceLock<Context> = PyOnceLock::new();

fn context(py: Python<'_>) -> PyResult<&Context> {
    CONTEXT.get_or_try_init(py, || {
        let class = py.import("_contextvars")?.getattr("ContextVar")?;
        let variable = class.call1(("stormproof.attempt",))?;
        Ok(Context {
            set: variable.getattr("set")?.unbind(),
            reset: variable.getattr("reset")?.unbind(),
            get: variable.getattr("get")?.unbind(),
        })
    })
}

/// The attempt that runs now, in this thread or task; `None` outside of all attempts.
#[pyfunction]
#[pyo3(name = "attempt")]
pub fn current(py: Python<'_>) -> PyResult<Py<PyAny>> {
    let told = context(py)?.get.call1(py, (py.None(),))?;
    let Some(noted) = tracking::noted() else {
        return Ok(told);
    };
    match told.bind(py).cast::<Attempt>() {
        Ok(inner) if inner.get().began > noted.began => Ok(told),
        _ => Ok(Bound::new(py, noted)?.into_any().unbind()),
    }
}

/// The attempt begins to run; what it answers is for [`leave`].
pub fn enter(py: Python<'_>, attempt: Attempt) -> PyResult<Py<PyAny>> {
    context(py)?.set.call1(py, (Bound::new(py, attempt)?,))
}

/// The attempt runs no more.
pub fn leave(py: Python<'_>, token: Py<PyAny>) {
    // It fails in another context than the one that was entered, where nothing is to be undone.
    if let Ok(context) = context(py) {
        let _ = context.reset.call1(py, (token,));
    }
}
