//! The engine's answer to one event, as Python sees it.

use pyo3::prelude::*;
use stormproof::time::Instant;
use stormproof::{Action, Step as CoreStep};

use crate::decision::Decision;

/// The engine's answer to one event. Instants are nanoseconds.
#[pyclass(frozen, module = "stormproof._core", name = "Step")]
pub struct Step(pub CoreStep);

/// From, to, cause.
pub type Change = (&'static str, &'static str, &'static str);

pub fn action_name(action: &Action) -> &'static str {
    match action {
        Action::Attempt { .. } => "attempt",
        Action::Wait { .. } => "wait",
        Action::Queue { .. } => "queue",
        Action::Finish(_) => "finish",
        Action::Stale { .. } => "stale",
    }
}

pub fn until(action: &Action) -> Option<Instant> {
    match action {
        Action::Attempt { until, .. } | Action::Wait { until, .. } | Action::Queue { until } => {
            *until
        }
        Action::Finish(_) | Action::Stale { .. } => None,
    }
}

pub fn change(step: &CoreStep) -> Option<Change> {
    let change = step.circuit?;
    Some((change.from.name(), change.to.name(), change.cause.name()))
}

#[pymethods]
impl Step {
    /// `attempt`, `wait`, `queue`, `finish` or `stale`.
    #[getter]
    fn action(&self) -> &'static str {
        action_name(&self.0.action)
    }

    /// The id that the call has from now on.
    #[getter]
    fn call(&self) -> u64 {
        self.0.call.to_bits()
    }

    /// The id that the call had before; 0 for a new call.
    #[getter]
    fn previous(&self) -> u64 {
        self.0.previous.to_bits()
    }

    /// When to report that the time has come.
    #[getter]
    fn until(&self) -> Option<u64> {
        until(&self.0.action).map(Instant::as_nanos)
    }

    /// The number of the attempt to start.
    #[getter]
    fn number(&self) -> Option<u32> {
        match self.0.action {
            Action::Attempt { number, .. } => Some(number),
            _ => None,
        }
    }

    /// What a wait is for: `backoff`, `retry_after`, `circuit` or `running`.
    #[getter]
    fn why(&self) -> Option<&'static str> {
        match self.0.action {
            Action::Wait { why, .. } => Some(why.name()),
            _ => None,
        }
    }

    /// How long a wait was planned; 0 where the step only repeats `until`.
    #[getter]
    fn planned(&self) -> Option<u64> {
        match self.0.action {
            // No wait is as long as 584 years.
            Action::Wait { planned, .. } => Some(planned.as_nanos() as u64),
            _ => None,
        }
    }

    /// The id belonged to an attempt that was abandoned and has now ended.
    #[getter]
    fn late(&self) -> bool {
        matches!(self.0.action, Action::Stale { late: true })
    }

    /// Why the call ended.
    #[getter]
    fn decision(&self) -> Option<Decision> {
        match self.0.action {
            Action::Finish(decision) => Some(Decision(decision)),
            _ => None,
        }
    }

    /// When polling may yield something without a further event.
    #[getter]
    fn poll_at(&self) -> Option<u64> {
        self.0.poll_at.map(Instant::as_nanos)
    }

    /// The circuit changed its state in this step: from, to, cause.
    #[getter]
    fn circuit(&self) -> Option<Change> {
        change(&self.0)
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}
