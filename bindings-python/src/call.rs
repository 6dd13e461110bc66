//! One call in the hands of a host that is written in Python.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use stormproof::step::{Kind, Safety, Why};
use stormproof::time::Instant;
use stormproof::{Action, Event, Outcome, Reason, Step};

use crate::attempt::{self, Attempt};
use crate::classification::Classification;
use crate::clock;
use crate::decision::Decision;
use crate::host::Host;
use crate::step::{Change, action_name, change, until};
use crate::words;

/// One call: its newest step, and what can happen next. One that is dropped is cancelled, so that
/// nothing it holds is lost.
#[pyclass(frozen, module = "stormproof._core", name = "Call")]
pub struct Call {
    host: Py<Host>,
    safety: Safety,
    key: Option<String>,
    epoch: u64,
    step: Mutex<Step>,
    /// What the context variable is reset with when the operation ends.
    token: Mutex<Option<Py<PyAny>>>,
}

impl Call {
    pub fn new(
        host: Py<Host>,
        safety: Safety,
        key: Option<String>,
        epoch: u64,
        step: Step,
    ) -> Self {
        Self { host, safety, key, epoch, step: Mutex::new(step), token: Mutex::new(None) }
    }

    fn step(&self, py: Python<'_>) -> MutexGuard<'_, Step> {
        self.step.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    fn token(&self, py: Python<'_>) -> MutexGuard<'_, Option<Py<PyAny>>> {
        self.token.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    fn newest(&self, py: Python<'_>) -> Step {
        *self.step(py)
    }

    fn put(&self, py: Python<'_>, step: Step) {
        *self.step(py) = step;
    }

    pub fn may_run(&self, py: Python<'_>) -> bool {
        matches!(self.newest(py).action, Action::Attempt { .. })
    }

    /// In a process that was forked during the call, its engine knows nothing of it.
    fn is_orphan(&self) -> bool {
        self.epoch != words::epoch()
    }

    fn on_event(&self, py: Python<'_>, event: Event) {
        let newest = self.newest(py);
        let step = if self.is_orphan() {
            orphaned(newest, event, clock::now(py))
        } else {
            self.host.get().on_event(py, newest.call, event)
        };
        self.put(py, step);
    }

    /// The same where the call stands in the queue. Answers no where it has left it already.
    fn on_event_in_line(&self, py: Python<'_>, event: Event) -> bool {
        if self.is_orphan() {
            self.on_event(py, event);
            return true;
        }
        let call = self.newest(py).call;
        let (step, heard) = self.host.get().on_event_in_line(py, call, event);
        self.put(py, step);
        heard
    }

    /// The step that another thread's poll has yielded for this call.
    fn fetch(&self, py: Python<'_>) -> bool {
        let call = self.newest(py).call;
        let fetched = self.host.get().lock(py).line.fetch(call);
        if let Some(step) = fetched {
            self.put(py, step);
        }
        fetched.is_some()
    }
}

/// How a call ends whose engine stayed in another process: with whatever its attempt ended in.
fn orphaned(step: Step, event: Event, at: Instant) -> Step {
    let (reason, outcome) = match event {
        Event::Settled(outcome) if outcome.kind == Kind::Success => {
            (Reason::Success, Some(outcome))
        }
        Event::Settled(outcome) if outcome.kind != Kind::Cancelled => {
            (Reason::Permanent, Some(outcome))
        }
        _ => (Reason::Cancelled, None),
    };
    let decision = stormproof::Decision {
        reason,
        attempts: 1,
        last_kind: outcome.map(|outcome| outcome.kind),
        last_status: outcome.map_or(0, |outcome| outcome.status),
        at,
        retry_at: None,
        forced: false,
        total_wait: 0,
        tokens: None,
    };
    Step { action: Action::Finish(decision), circuit: None, ..step }
}

#[pymethods]
impl Call {
    /// `attempt`, `wait`, `queue`, `finish` or `stale`.
    #[getter]
    fn action(&self, py: Python<'_>) -> &'static str {
        action_name(&self.newest(py).action)
    }

    /// The number of the attempt to start, 0 where none is to start.
    #[getter]
    fn number(&self, py: Python<'_>) -> u32 {
        match self.newest(py).action {
            Action::Attempt { number, .. } => number,
            _ => 0,
        }
    }

    /// When to look again, on the clock of `time.monotonic_ns()`.
    #[getter]
    fn until_ns(&self, py: Python<'_>) -> Option<u64> {
        until(&self.newest(py).action).map(Instant::as_nanos)
    }

    /// The seconds until then.
    #[getter]
    fn time_left(&self, py: Python<'_>) -> Option<f64> {
        let until = until(&self.newest(py).action)?;
        Some(until.saturating_since(clock::now(py)).as_secs_f64())
    }

    /// The seconds until a waiter in the queue has to look again, though nobody wakes it.
    #[getter]
    fn time_to_look(&self, py: Python<'_>) -> Option<f64> {
        let own = until(&self.newest(py).action);
        let poll = self.host.get().lock(py).poll_at;
        let first = match (own, poll) {
            (Some(own), Some(poll)) => Some(own.min(poll)),
            (own, poll) => own.or(poll),
        };
        let now = clock::now(py);
        first.map(|at| at.saturating_since(now).as_secs_f64())
    }

    /// Has the time of the newest step come?
    #[getter]
    fn is_due(&self, py: Python<'_>) -> bool {
        until(&self.newest(py).action).is_some_and(|until| until <= clock::now(py))
    }

    /// How many seconds a wait was planned to take.
    #[getter]
    fn planned_wait(&self, py: Python<'_>) -> Option<f64> {
        match self.newest(py).action {
            Action::Wait { planned, .. } => Some(planned.as_secs_f64()),
            _ => None,
        }
    }

    /// What a wait is for.
    #[getter]
    fn why(&self, py: Python<'_>) -> Option<&'static str> {
        match self.newest(py).action {
            Action::Wait { why, .. } => Some(why.name()),
            _ => None,
        }
    }

    /// Why the call ended.
    #[getter]
    fn decision(&self, py: Python<'_>) -> Option<Decision> {
        match self.newest(py).action {
            Action::Finish(decision) => Some(Decision(decision)),
            _ => None,
        }
    }

    /// What the newest step changed about the circuit: from, to, cause.
    #[getter]
    fn change(&self, py: Python<'_>) -> Option<Change> {
        change(&self.newest(py))
    }

    /// Whether the operation may be repeated.
    #[getter]
    fn safety(&self) -> &'static str {
        self.safety.name()
    }

    /// The attempt that the newest step starts.
    fn attempt(&self, py: Python<'_>) -> Attempt {
        let step = self.newest(py);
        let number = match step.action {
            Action::Attempt { number, .. } => number,
            _ => 0,
        };
        Attempt {
            host: Some(self.host.clone_ref(py)),
            number,
            began: clock::now(py),
            until: until(&step.action),
            key: self.key.clone(),
        }
    }

    /// The operation begins.
    pub fn enter(&self, py: Python<'_>) -> PyResult<()> {
        let token = attempt::enter(py, self.attempt(py))?;
        let before = self.token(py).replace(token);
        drop(before);
        Ok(())
    }

    /// The operation runs no more.
    fn leave(&self, py: Python<'_>) {
        let token = self.token(py).take();
        if let Some(token) = token {
            attempt::leave(py, token);
        }
    }

    /// Does the operation run?
    #[getter]
    fn entered(&self, py: Python<'_>) -> bool {
        self.token(py).is_some()
    }

    /// The operation returned a plain value: the call is over. Answers no, and does nothing, where
    /// the value or a listener needs a closer look.
    fn succeed(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> bool {
        let call = self.newest(py).call;
        let Some(step) = self.host.get().on_plain_success(py, call, self.epoch, value) else {
            return false;
        };
        self.leave(py);
        self.put(py, step);
        true
    }

    /// The operation ended.
    fn settle(&self, py: Python<'_>, outcome: &Bound<'_, Classification>) {
        self.on_event(py, Event::Settled(outcome.get().0));
    }

    /// The operation was answered with an HTTP status; answers what that is by the policy. An answer
    /// that was `raised` is no success, whatever its status.
    fn answer(
        &self,
        py: Python<'_>,
        status: u16,
        retry_after_ms: Option<u64>,
        raised: bool,
    ) -> Classification {
        let inner = self.host.get().lock(py);
        let outcome = inner.engine.classify(status, retry_after_ms, self.safety);
        drop(inner);
        let outcome = if raised { outcome.as_error() } else { outcome };
        self.on_event(py, Event::Settled(outcome));
        Classification(outcome)
    }

    /// The time of the attempt is over, and its operation has ended for that reason. Answers no
    /// where the time is not over.
    fn time_out(&self, py: Python<'_>) -> bool {
        let attempt = self.newest(py).call;
        self.on_event(py, Event::Elapsed);
        let moved_on = !matches!(
            self.newest(py).action,
            Action::Wait { why: Why::Running, .. } | Action::Stale { .. }
        );
        if moved_on && !self.is_orphan() {
            let ended = Event::Settled(Outcome::of(Kind::Cancelled));
            self.host.get().on_event(py, attempt, ended);
        }
        moved_on
    }

    /// The wait is over.
    fn wake(&self, py: Python<'_>) {
        self.on_event(py, Event::Elapsed);
    }

    /// Goes to sleep in the queue: `wake` is called when there is something to see. Answers no
    /// where there is already.
    fn park(&self, py: Python<'_>, wake: Py<PyAny>) -> bool {
        if self.is_orphan() {
            self.on_event(py, Event::Cancelled);
            return false;
        }
        let call = self.newest(py).call;
        let mut inner = self.host.get().lock(py);
        let fetched = inner.line.fetch(call);
        let before = match fetched {
            Some(_) => Some(wake),
            None => inner.line.sleep(call, wake),
        };
        drop(inner);
        drop(before);
        if let Some(step) = fetched {
            self.put(py, step);
        }
        fetched.is_none()
    }

    /// Looks what has become of the place in the queue.
    fn look(&self, py: Python<'_>) {
        if self.is_due(py) || self.is_orphan() {
            self.on_event_in_line(py, Event::Elapsed);
            return;
        }
        self.host.get().poll(py);
        self.fetch(py);
    }

    /// The caller gives up; an operation that ran has ended.
    fn cancel(&self, py: Python<'_>) {
        let step = self.newest(py);
        match step.action {
            Action::Attempt { .. } | Action::Wait { why: Why::Running, .. } => {
                self.on_event(py, Event::Settled(Outcome::of(Kind::Cancelled)));
            }
            Action::Wait { .. } => self.on_event(py, Event::Cancelled),
            Action::Queue { .. } => {
                if !self.on_event_in_line(py, Event::Cancelled) {
                    self.cancel(py);
                }
            }
            Action::Finish(_) | Action::Stale { .. } => {}
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let step = self.step.get_mut().unwrap_or_else(PoisonError::into_inner);
        if !matches!(step.action, Action::Finish(_) | Action::Stale { .. }) {
            Python::try_attach(|py| {
                // It may be an exception that drops it, and others are woken.
                let raised = PyErr::take(py);
                self.cancel(py);
                if let Some(raised) = raised {
                    raised.restore(py);
                }
            });
        }
    }
}
