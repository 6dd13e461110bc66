//! The engine with a clock, random words and the line of those who wait.
//!
//! The lock is held around a decision and never while Python code may run: not for a call, not for
//! an allocation, not for the end of an object.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyException, PyKeyboardInterrupt};
use pyo3::ffi;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyMapping, PyType};
use stormproof::time::Instant;
use stormproof::{Action, CallId, Control, Engine, Event, Outcome, Policy, Request, Step};

use crate::clock;
use crate::decision::Decision;
use crate::fault;
use crate::line::{Line, Wakes};
use crate::names::Named;
use crate::policy::{self, Spelling};
use crate::settings::Settings;
use crate::stats::Stats;
use crate::step::{Change, change};
use crate::words::{self, Words};

/// What one client shares between its threads and loops.
#[pyclass(frozen, module = "stormproof._core", name = "Host")]
pub struct Host {
    inner: Mutex<Inner>,
    epoch: AtomicU64,
    policy: Policy,
    pub settings: Settings,
    listening: AtomicBool,
    closed: AtomicBool,
}

pub struct Inner {
    pub engine: Engine,
    words: Words,
    pub line: Line,
    pub poll_at: Option<Instant>,
    /// Classes whose instances are no answers of a library: known without asking Python again.
    plain: [Option<Py<PyType>>; 4],
}

#[pymethods]
impl Host {
    /// A host of the policy that a mapping describes: Python's names and seconds, or the
    /// document's own and milliseconds.
    #[new]
    #[pyo3(signature = (fields, *, document=false, seed=None))]
    fn new(fields: &Bound<'_, PyMapping>, document: bool, seed: Option<u64>) -> PyResult<Self> {
        let spelling = if document { Spelling::Document } else { Spelling::Python };
        let policy = policy::read(fields, spelling)?;
        let settings = Settings::read(fields, spelling)?;
        let engine =
            Engine::new(&policy).map_err(|error| fault::raise(fields, &error, spelling))?;
        Ok(Self {
            inner: Mutex::new(Inner {
                engine,
                words: Words::new(fields.py(), seed)?,
                line: Line::default(),
                poll_at: None,
                plain: [const { None }; 4],
            }),
            epoch: AtomicU64::new(words::epoch()),
            policy,
            settings,
            listening: AtomicBool::new(false),
            closed: AtomicBool::new(false),
        })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // A lock that is held is held by somebody who uses the host.
        let Ok(inner) = self.inner.try_lock() else {
            return Ok(());
        };
        inner.plain.iter().flatten().try_for_each(|class| visit.call(class))
    }

    fn __clear__(&self) {
        let plain = self.inner.try_lock().map(|mut inner| std::mem::take(&mut inner.plain));
        drop(plain);
    }

    /// What the dependency is called.
    #[getter]
    fn name(&self) -> &str {
        &self.settings.name
    }

    /// Does somebody listen to events?
    #[getter(listening)]
    pub fn is_listening(&self) -> bool {
        self.listening.load(Ordering::Relaxed)
    }

    #[setter(listening)]
    fn set_listening(&self, listening: bool) {
        self.listening.store(listening, Ordering::Relaxed);
    }

    /// No call starts from now on.
    fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// An order to the circuit; answers what changed.
    fn control(&self, py: Python<'_>, order: &str) -> PyResult<Option<Change>> {
        let order = Control::named(order)?;
        let step = self.decide(py, |inner, now, _| inner.engine.control(now, order));
        Ok(change(&step))
    }

    fn snapshot(&self, py: Python<'_>) -> Stats {
        let inner = self.lock(py);
        let now = clock::now(py);
        Stats { snapshot: inner.engine.snapshot(now), now }
    }

    /// One plain sentence that says why a call ended as it did.
    fn explain(&self, py: Python<'_>, decision: &Bound<'_, Decision>) -> String {
        let decision = &decision.get().0;
        self.lock(py).engine.explain(decision, &self.settings.name)
    }

    /// Instances of this class are no answers of a library.
    fn add_plain(&self, py: Python<'_>, class: Bound<'_, PyType>) {
        let mut inner = self.lock(py);
        if inner.is_plain(class.as_type_ptr()) {
            return;
        }
        inner.plain.rotate_right(1);
        let before = inner.plain[0].replace(class.unbind());
        drop(inner);
        drop(before);
    }
}

impl Host {
    #[cold]
    fn is_closed(&self, py: Python<'_>) -> PyResult<PyErr> {
        let class = py.import("stormproof._errors")?.getattr("ClosedError")?;
        let message = format!("the client {:?} is closed", self.settings.name);
        Ok(PyErr::from_value(class.call1((message,))?))
    }

    /// Starts a call, now.
    #[inline]
    pub fn start(
        &self,
        py: Python<'_>,
        request: impl FnOnce(Instant) -> Request,
    ) -> PyResult<(Step, Instant)> {
        if self.closed.load(Ordering::Relaxed) {
            return Err(self.is_closed(py)?);
        }
        let mut inner = self.lock(py);
        let now = clock::now(py);
        let step = inner.engine.start(now, request(now));
        let wakes = inner.hand_over(now, &step);
        drop(inner);
        wake(py, wakes);
        Ok((step, now))
    }

    /// Something happened to a call.
    pub fn on_event(&self, py: Python<'_>, call: CallId, event: Event) -> Step {
        self.decide(py, |inner, now, word| inner.engine.on_event(now, call, event, word))
    }

    /// The operation succeeded. Answers nothing, and does nothing, where the value or a listener
    /// needs a closer look.
    #[inline]
    pub fn on_plain_success(
        &self,
        py: Python<'_>,
        call: CallId,
        epoch: u64,
        value: &Bound<'_, PyAny>,
    ) -> Option<Step> {
        if self.is_listening() {
            return None;
        }
        let mut inner = self.lock(py);
        if epoch != words::epoch() || !inner.is_plain(value.get_type_ptr()) {
            return None;
        }
        let now = clock::now(py);
        let word = inner.words.next();
        let step = inner.engine.on_event(now, call, Event::Settled(Outcome::SUCCESS), word);
        let wakes = inner.hand_over(now, &step);
        drop(inner);
        wake(py, wakes);
        Some(step)
    }

    /// One decision, after which everybody whose turn has come hears of it.
    pub fn decide(
        &self,
        py: Python<'_>,
        event: impl FnOnce(&mut Inner, Instant, u64) -> Step,
    ) -> Step {
        let mut inner = self.lock(py);
        let now = clock::now(py);
        let word = inner.words.next();
        let step = event(&mut inner, now, word);
        let wakes = inner.hand_over(now, &step);
        drop(inner);
        wake(py, wakes);
        step
    }

    /// Looks whether somebody's turn has come by time alone.
    pub fn poll(&self, py: Python<'_>) {
        let mut inner = self.lock(py);
        let now = clock::now(py);
        let mut wakes = Wakes::new();
        let armed = inner.poll_at;
        inner.poll(now, armed, &mut wakes);
        drop(inner);
        wake(py, Some(wakes));
    }

    /// Something happened to a call in the queue. Where a poll has moved it on already, that step
    /// is what counts, and the answer is no.
    pub fn on_event_in_line(&self, py: Python<'_>, call: CallId, event: Event) -> (Step, bool) {
        let mut inner = self.lock(py);
        if let Some(step) = inner.line.fetch(call) {
            return (step, false);
        }
        let now = clock::now(py);
        let word = inner.words.next();
        let step = inner.engine.on_event(now, call, event, word);
        let stays = matches!(step.action, Action::Queue { .. }) && step.call == call;
        let slept_by = if stays { None } else { inner.line.leave(call) };
        let wakes = inner.hand_over(now, &step);
        drop(inner);
        drop(slept_by);
        wake(py, wakes);
        (step, true)
    }

    #[inline]
    pub fn lock(&self, py: Python<'_>) -> MutexGuard<'_, Inner> {
        if self.epoch.load(Ordering::Relaxed) != words::epoch() {
            self.begin_anew(py);
        }
        self.locked(py)
    }

    #[inline]
    fn locked(&self, py: Python<'_>) -> MutexGuard<'_, Inner> {
        // The core does not panic, so a poisoned lock guards sound data.
        self.inner.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    #[cold]
    /// A forked process shares nothing with its parent: not the random words, and not the permits
    /// of threads that it does not have.
    fn begin_anew(&self, py: Python<'_>) {
        let (Ok(words), Ok(engine)) = (Words::new(py, None), Engine::new(&self.policy)) else {
            return;
        };
        let mut inner = self.locked(py);
        if self.epoch.load(Ordering::Relaxed) == words::epoch() {
            // Another thread was faster, and its calls are under way.
            return;
        }
        inner.words = words;
        inner.engine = engine;
        inner.poll_at = None;
        let line = std::mem::take(&mut inner.line);
        self.epoch.store(words::epoch(), Ordering::Relaxed);
        drop(inner);
        drop(line);
    }
}

impl Inner {
    /// What follows from a step for the others.
    #[inline]
    fn hand_over(&mut self, now: Instant, step: &Step) -> Option<Wakes> {
        let nobody_waits = step.poll_at.is_none() && self.poll_at.is_none();
        if nobody_waits && !matches!(step.action, Action::Queue { .. }) {
            return None;
        }
        Some(self.hand_over_to_waiters(now, step))
    }

    #[cold]
    fn hand_over_to_waiters(&mut self, now: Instant, step: &Step) -> Wakes {
        let mut wakes = Wakes::new();
        if let Action::Queue { .. } = step.action {
            self.line.join(step.call);
        }
        let armed = std::mem::replace(&mut self.poll_at, step.poll_at);
        if self.poll_at.is_some() {
            self.poll(now, armed, &mut wakes);
        }
        wakes
    }

    /// Hands over while there is somebody whose turn has come. Whoever sleeps has set an alarm at
    /// `armed`.
    fn poll(&mut self, now: Instant, armed: Option<Instant>, wakes: &mut Wakes) {
        while self.poll_at.is_some_and(|at| at <= now) {
            let word = self.words.next();
            match self.engine.poll_ready(now, word) {
                Some(step) => {
                    self.poll_at = step.poll_at;
                    self.line.deliver(step, wakes);
                }
                None => self.poll_at = self.engine.poll_at(now),
            }
        }
        let is_earlier = |at: Instant| armed.is_none_or(|armed| at < armed);
        if self.poll_at.is_some_and(is_earlier) {
            self.line.rouse(wakes);
        }
    }

    #[inline]
    fn is_plain(&self, class: *const ffi::PyTypeObject) -> bool {
        self.plain.iter().flatten().any(|plain| plain.as_ptr().cast_const().cast() == class)
    }
}

#[inline]
pub fn wake(py: Python<'_>, wakes: Option<Wakes>) {
    for wake in wakes.into_iter().flatten() {
        // It fails where a loop was closed with its tasks: their calls end with them.
        if let Err(error) = wake.call0(py)
            && !error.is_instance_of::<PyException>(py)
        {
            let _ = wake.call0(py);
            put_off(py, error);
        }
    }
}

/// What a signal handler raised while somebody else was woken is not for that to swallow.
#[cold]
fn put_off(py: Python<'_>, error: PyErr) {
    let again = error.is_instance_of::<PyKeyboardInterrupt>(py)
        && py.import("_thread").is_ok_and(|thread| thread.call_method0("interrupt_main").is_ok());
    if !again {
        error.write_unraisable(py, None);
    }
}
