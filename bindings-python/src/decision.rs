//! Why a call ended, as Python sees it.

use pyo3::prelude::*;
use stormproof::step::Kind;
use stormproof::time::Instant;
use stormproof::{Decision as CoreDecision, Reason};

use crate::clock::seconds;
use crate::names::Named;

/// Why a call ended, with the numbers behind it.
#[pyclass(frozen, module = "stormproof", name = "Decision")]
#[derive(Clone, Copy, PartialEq)]
pub struct Decision(pub CoreDecision);

/// What a decision is pickled as: reason, attempts, last kind, last status, at, retry at, forced,
/// total wait, thousandths of tokens.
type Parts =
    (&'static str, u32, Option<&'static str>, u16, u64, Option<u64>, bool, u64, Option<u64>);

#[pymethods]
impl Decision {
    #[staticmethod]
    #[allow(clippy::too_many_arguments)]
    fn _of(
        reason: &str,
        attempts: u32,
        last_kind: Option<&str>,
        last_status: u16,
        at: u64,
        retry_at: Option<u64>,
        forced: bool,
        total_wait: u64,
        tokens: Option<u64>,
    ) -> PyResult<Self> {
        Ok(Self(CoreDecision {
            reason: Reason::named(reason)?,
            attempts,
            last_kind: last_kind.map(Kind::named).transpose()?,
            last_status,
            at: Instant::from_nanos(at),
            retry_at: retry_at.map(Instant::from_nanos),
            forced,
            total_wait,
            tokens,
        }))
    }

    /// The reason code, equal in all hosts.
    #[getter]
    fn reason(&self) -> &'static str {
        self.0.reason.name()
    }

    /// Does the call end with stormproof's own error instead of the dependency's last one?
    #[getter]
    fn own_error(&self) -> bool {
        self.0.is_own_error()
    }

    /// How many attempts were started.
    #[getter]
    fn attempts(&self) -> u32 {
        self.0.attempts
    }

    /// What the last attempt ended in; `None` where none ended.
    #[getter]
    fn last_kind(&self) -> Option<&'static str> {
        self.0.last_kind.map(Kind::name)
    }

    /// The HTTP status of the last attempt that ended, 0 where there is none.
    #[getter]
    fn last_status(&self) -> u16 {
        self.0.last_status
    }

    /// In how many seconds from the end of the call it makes sense to come back, where that is
    /// known.
    #[getter]
    fn retry_after(&self) -> Option<f64> {
        let decision = &self.0;
        decision.retry_at.map(|at| at.saturating_since(decision.at).as_secs_f64())
    }

    /// The circuit was forced by hand.
    #[getter]
    fn forced(&self) -> bool {
        self.0.forced
    }

    /// The planned waits of the call in seconds, without queueing.
    #[getter]
    fn total_wait(&self) -> f64 {
        seconds(self.0.total_wait)
    }

    /// What the retry budget held; `None` where it is off.
    #[getter]
    fn tokens(&self) -> Option<f64> {
        self.0.tokens.map(|tokens| tokens as f64 / 1e3)
    }

    /// When the call ended, on the clock of `time.monotonic_ns()`.
    #[getter]
    fn at_ns(&self) -> u64 {
        self.0.at.as_nanos()
    }

    /// When it makes sense to come back, on the same clock.
    #[getter]
    fn retry_at_ns(&self) -> Option<u64> {
        self.0.retry_at.map(Instant::as_nanos)
    }

    /// The planned waits in nanoseconds.
    #[getter]
    fn total_wait_ns(&self) -> u64 {
        self.0.total_wait
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Parts)> {
        let decision = &slf.get().0;
        let parts = (
            decision.reason.name(),
            decision.attempts,
            decision.last_kind.map(Kind::name),
            decision.last_status,
            decision.at.as_nanos(),
            decision.retry_at.map(Instant::as_nanos),
            decision.forced,
            decision.total_wait,
            decision.tokens,
        );
        Ok((slf.get_type().getattr("_of")?, parts))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| *other.get() == *self)
    }

    fn __hash__(&self) -> u64 {
        self.0.at.as_nanos() ^ u64::from(self.0.reason.code())
    }

    fn __repr__(&self) -> String {
        let decision = &self.0;
        format!(
            "<Decision {}: attempts={}, last_kind={}, total_wait={}>",
            decision.reason.name(),
            decision.attempts,
            decision.last_kind.map_or("None", Kind::name),
            seconds(decision.total_wait)
        )
    }
}
