//! Calling an operation: the way of a call that succeeds at once, without any Python of ours.

use std::sync::OnceLock;

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use stormproof::step::Safety;
use stormproof::time::Instant;
use stormproof::{Action, Request, idempotency};

use crate::attempt::{self, Attempt};
use crate::call::Call;
use crate::host::Host;
use crate::names::Named;
use crate::tracking;
use crate::words;

/// What calls operations: a client, or a client with options.
#[pyclass(frozen, subclass, module = "stormproof._core", name = "Caller")]
pub struct Caller(OnceLock<Binding>);

/// What a caller is bound to.
struct Binding {
    host: Py<Host>,
    options: Options,
}

/// What all calls of a caller have in common.
struct Options {
    safety: Safety,
    key: Key,
    /// Nanoseconds from the start of a call.
    timeout: Option<u64>,
    deadline: Option<Instant>,
}

enum Key {
    None,
    /// A new one for each call.
    Own,
    Given(String),
}

#[pymethods]
impl Caller {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self(OnceLock::new())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.0.get().map_or(Ok(()), |binding| visit.call(&binding.host))
    }

    /// Ties the caller to its host. Spans are nanoseconds, the deadline is an instant of
    /// `time.monotonic_ns()`.
    #[pyo3(signature = (host, *, safety=None, key=None, timeout_ns=None, deadline_ns=None))]
    fn _bind(
        slf: &Bound<'_, Self>,
        host: Bound<'_, Host>,
        safety: Option<&str>,
        key: Option<String>,
        timeout_ns: Option<u64>,
        deadline_ns: Option<u64>,
    ) -> PyResult<()> {
        if key.as_deref().is_some_and(|key| !idempotency::is_key(key)) {
            return Err(PyValueError::new_err(
                "an idempotency key is 1 to 255 visible ASCII characters",
            ));
        }
        let automatic = host.get().settings.auto_key;
        let safety = match safety {
            Some(name) => Safety::named(name)?,
            None if key.is_some() => Safety::Keyed,
            // A key that is only drawn is no proof that the operation sends it.
            None => host.get().lock(slf.py()).engine.default_safety(),
        };
        let key = match key {
            Some(key) => Key::Given(key),
            None if automatic || safety == Safety::Keyed => Key::Own,
            None => Key::None,
        };
        if !matches!(key, Key::None) || host.get().settings.has_headers() {
            tracking::track_attempts();
        }
        let options = Options {
            safety,
            key,
            timeout: timeout_ns,
            deadline: deadline_ns.map(Instant::from_nanos),
        };
        let bound = Binding { host: host.unbind(), options };
        let again = slf.get().0.set(bound).is_err();
        if again {
            return Err(PyRuntimeError::new_err("already bound"));
        }
        Ok(())
    }

    /// A new call, for a host that is written in Python.
    fn _begin(&self, py: Python<'_>) -> PyResult<Call> {
        let bound = self.bound()?;
        let options = &bound.options;
        let key = options.key.draw(py)?;
        let epoch = words::epoch();
        let (step, _) = bound.host.get().start(py, |now| options.request(now))?;
        Ok(Call::new(bound.host.clone_ref(py), options.safety, key, epoch, step))
    }

    /// The same, and where it may run at once and nobody listens, its operation has begun.
    fn _enter(&self, py: Python<'_>) -> PyResult<Call> {
        let call = self._begin(py)?;
        if call.may_run(py) && !self.bound()?.host.get().is_listening() {
            call.enter(py)?;
        }
        Ok(call)
    }

    /// Calls `operation(*args, **kwargs)`: again where that is worth it, not at all where it is
    /// not.
    #[pyo3(signature = (*args, **kwargs))]
    fn call<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let bound = slf.get().bound()?;
        let host = bound.host.get();
        let Ok(operation) = args.get_item(0) else {
            return Err(PyTypeError::new_err("call() needs an operation to call"));
        };
        let rest = args.get_slice(1, args.len());
        let options = &bound.options;
        if host.is_listening() {
            return slow(py)?.run.bind(py).call1((slf, operation, rest, kwargs));
        }
        let key = options.key.draw(py)?;
        let epoch = words::epoch();
        let (step, began) = host.start(py, |now| options.request(now))?;
        let call = |key| Call::new(bound.host.clone_ref(py), options.safety, key, epoch, step);
        let Action::Attempt { until, number } = step.action else {
            let go_on = slow(py)?.go_on.bind(py);
            return go_on.call1((slf, call(key), operation, rest, kwargs));
        };
        let invoke = || match kwargs {
            None if rest.is_empty() => operation.call0(),
            kwargs => operation.call(&rest, kwargs),
        };
        let result = if key.is_none() && !tracking::is_on() {
            tracking::note(began, until);
            let result = invoke();
            tracking::strike();
            result
        } else {
            let host = Some(bound.host.clone_ref(py));
            let attempt = Attempt { host, number, began, until, key: key.clone() };
            match tracked(py, attempt, invoke) {
                Ok(result) => result,
                // Dropping it gives back what the call holds.
                Err(error) => return Err(drop_call(py, call(key), error)),
            }
        };
        if let Ok(value) = &result
            && host.on_plain_success(py, step.call, epoch, value).is_some()
        {
            return result;
        }
        let (value, error) = match result {
            Ok(value) => (Some(value), None),
            Err(error) => (None, Some(error.into_value(py))),
        };
        let resume = slow(py)?.resume.bind(py);
        resume.call1((slf, call(key), operation, rest, kwargs, value, error))
    }
}

/// Runs an operation whose attempt can be asked for. Fails where that cannot be arranged.
fn tracked<T>(py: Python<'_>, attempt: Attempt, invoke: impl FnOnce() -> T) -> PyResult<T> {
    let token = attempt::enter(py, attempt)?;
    let result = invoke();
    attempt::leave(py, token);
    Ok(result)
}

fn drop_call(py: Python<'_>, call: Call, error: PyErr) -> PyErr {
    match Bound::new(py, call) {
        Ok(call) => drop(call),
        Err(again) => return again,
    }
    error
}

impl Caller {
    fn bound(&self) -> PyResult<&Binding> {
        self.0.get().ok_or_else(|| PyRuntimeError::new_err("__init__ of the client was not called"))
    }
}

impl Options {
    fn request(&self, now: Instant) -> Request {
        let own =
            self.timeout.map(|timeout| Instant::from_nanos(now.as_nanos().saturating_add(timeout)));
        let deadline = match (own, self.deadline) {
            (Some(own), Some(deadline)) => Some(own.min(deadline)),
            (own, deadline) => own.or(deadline),
        };
        Request { safety: self.safety, deadline, cancelled: false }
    }
}

impl Key {
    /// The key of a new call.
    #[inline]
    fn draw(&self, py: Python<'_>) -> PyResult<Option<String>> {
        match self {
            Self::None => Ok(None),
            Self::Given(key) => Ok(Some(key.clone())),
            Self::Own => {
                let random = py.import("os")?.call_method1("urandom", (16,))?;
                random.call_method0("hex")?.extract().map(Some)
            }
        }
    }
}

/// The blocking host, for all that is not an immediate success.
struct Slow {
    run: Py<PyAny>,
    go_on: Py<PyAny>,
    resume: Py<PyAny>,
}

fn slow(py: Python<'_>) -> PyResult<&'static Slow> {
    static SLOW: PyOnceLock<Slow> = PyOnceLock::new();
    SLOW.get_or_try_init(py, || {
        let module = py.import("stormproof._blocking")?;
        let function = |name: &str| module.getattr(name).map(Bound::unbind);
        Ok(Slow { run: function("run")?, go_on: function("go_on")?, resume: function("resume")? })
    })
}
