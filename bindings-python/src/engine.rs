//! The engine without a clock, for hosts with their own run loop and for tests.

use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyMapping;
use stormproof::step::Safety;
use stormproof::time::Instant;
use stormproof::{CallId, Control, Engine as CoreEngine, Event, Outcome, Request};

use crate::classification::Classification;
use crate::decision::Decision;
use crate::fault;
use crate::names::Named;
use crate::policy::{self, Spelling};
use crate::stats::Stats;
use crate::step::Step;
use crate::words::Words;

/// Decides for all calls to one dependency. Every instant is a number of nanoseconds.
///
/// `policy` is a policy document as a mapping (milliseconds). A word that is not given is drawn.
#[pyclass(frozen, module = "stormproof._core", name = "Engine")]
pub struct Engine(Mutex<Inner>);

struct Inner {
    engine: CoreEngine,
    words: Words,
}

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (policy, *, seed=None))]
    fn new(policy: &Bound<'_, PyMapping>, seed: Option<u64>) -> PyResult<Self> {
        let checked = policy::read(policy, Spelling::Document)?;
        let engine = CoreEngine::new(&checked)
            .map_err(|error| fault::raise(policy, &error, Spelling::Document))?;
        let words = Words::new(policy.py(), seed)?;
        Ok(Self(Mutex::new(Inner { engine, words })))
    }

    /// A new call.
    #[pyo3(signature = (now, *, safety=None, deadline=None, cancelled=false))]
    fn start(
        &self,
        py: Python<'_>,
        now: u64,
        safety: Option<&str>,
        deadline: Option<u64>,
        cancelled: bool,
    ) -> PyResult<Step> {
        let named = safety.map(Safety::named).transpose()?;
        Ok(self.with(py, |inner| {
            let request = Request {
                safety: named.unwrap_or(inner.engine.default_safety()),
                deadline: deadline.map(Instant::from_nanos),
                cancelled,
            };
            Step(inner.engine.start(Instant::from_nanos(now), request))
        }))
    }

    /// The operation of an attempt ended.
    #[pyo3(signature = (now, call, outcome, *, word=None))]
    fn settle(
        &self,
        py: Python<'_>,
        now: u64,
        call: u64,
        outcome: &Bound<'_, Classification>,
        word: Option<u64>,
    ) -> Step {
        self.on_event(py, now, call, Event::Settled(outcome.get().0), word)
    }

    /// The host's timer for the call's `until` fired.
    #[pyo3(signature = (now, call, *, word=None))]
    fn elapsed(&self, py: Python<'_>, now: u64, call: u64, word: Option<u64>) -> Step {
        self.on_event(py, now, call, Event::Elapsed, word)
    }

    /// The caller gave up.
    #[pyo3(signature = (now, call, *, word=None))]
    fn cancel(&self, py: Python<'_>, now: u64, call: u64, word: Option<u64>) -> Step {
        self.on_event(py, now, call, Event::Cancelled, word)
    }

    /// One waiting call whose turn has come.
    #[pyo3(signature = (now, *, word=None))]
    fn poll_ready(&self, py: Python<'_>, now: u64, word: Option<u64>) -> Option<Step> {
        self.with(py, |inner| {
            let word = word.unwrap_or_else(|| inner.words.next());
            inner.engine.poll_ready(Instant::from_nanos(now), word).map(Step)
        })
    }

    /// When `poll_ready` may yield something without a further event; asked after a poll that
    /// yields nothing.
    fn poll_at(&self, py: Python<'_>, now: u64) -> Option<u64> {
        self.with(py, |inner| inner.engine.poll_at(Instant::from_nanos(now)).map(Instant::as_nanos))
    }

    /// An order to the circuit: `force_open`, `force_closed`, `metrics_only` or `reset`.
    fn control(&self, py: Python<'_>, now: u64, order: &str) -> PyResult<Step> {
        let order = Control::named(order)?;
        Ok(self.with(py, |inner| Step(inner.engine.control(Instant::from_nanos(now), order))))
    }

    /// How the client stands. Changes nothing.
    fn snapshot(&self, py: Python<'_>, now: u64) -> Stats {
        let now = Instant::from_nanos(now);
        self.with(py, |inner| Stats { snapshot: inner.engine.snapshot(now), now })
    }

    /// What an answer with this HTTP status is. `retry_after_ms` is in milliseconds.
    #[pyo3(signature = (status, retry_after_ms=None, safety=None))]
    fn classify(
        &self,
        py: Python<'_>,
        status: u16,
        retry_after_ms: Option<u64>,
        safety: Option<&str>,
    ) -> PyResult<Classification> {
        let named = safety.map(Safety::named).transpose()?;
        Ok(self.with(py, |inner| {
            let safety = named.unwrap_or(inner.engine.default_safety());
            Classification(inner.engine.classify(status, retry_after_ms, safety))
        }))
    }

    /// One plain sentence that says why a call ended as it did.
    fn explain(&self, py: Python<'_>, decision: &Bound<'_, Decision>, name: &str) -> String {
        self.with(py, |inner| inner.engine.explain(&decision.get().0, name))
    }
}

impl Engine {
    fn on_event(
        &self,
        py: Python<'_>,
        now: u64,
        call: u64,
        event: Event,
        word: Option<u64>,
    ) -> Step {
        self.with(py, |inner| {
            let word = word.unwrap_or_else(|| inner.words.next());
            let now = Instant::from_nanos(now);
            Step(inner.engine.on_event(now, CallId::from_bits(call), event, word))
        })
    }

    fn with<T>(&self, py: Python<'_>, work: impl FnOnce(&mut Inner) -> T) -> T {
        // The core does not panic, so a poisoned lock guards sound data.
        let mut inner =
            self.0.lock_py_attached(py).unwrap_or_else(std::sync::PoisonError::into_inner);
        work(&mut inner)
    }
}

/// What the outcome of an HTTP answer is by the default table.
#[pyfunction]
#[pyo3(signature = (status, retry_after_ms=None, safety="idempotent"))]
pub fn classify_status(
    status: u16,
    retry_after_ms: Option<u64>,
    safety: &str,
) -> PyResult<Classification> {
    static TABLE: std::sync::OnceLock<Option<CoreEngine>> = std::sync::OnceLock::new();
    let table = TABLE.get_or_init(|| CoreEngine::new(&stormproof::Policy::new()).ok());
    let safety = Safety::named(safety)?;
    let outcome = table
        .as_ref()
        .map_or(Outcome::SUCCESS, |table| table.classify(status, retry_after_ms, safety));
    Ok(Classification(outcome))
}
