//! The run loop for Rust hosts, blocking and async. Clock, randomness and sleep are arguments.
//!
//! A [`Client`] shares one [`Engine`] between threads and tasks. It starts no thread, needs no
//! runtime and reads no clock of its own; only a thread that waits for a permit waits on a condition
//! variable.
//!
//! ```
//! use std::time::{Duration, Instant as Clock};
//! use stormproof::step::{Kind, Request};
//! use stormproof::time::Instant;
//! use stormproof::{Outcome, Policy, drive::Client};
//!
//! let origin = Clock::now();
//! let now = move || Instant::from_nanos(origin.elapsed().as_nanos() as u64);
//! let word = || 0; // a random number; see the example `rust` for a real generator
//! let client = Client::new(&Policy::new().base(Duration::from_millis(1)), now, word)?;
//!
//! let mut answers = [Err("unwell"), Ok("paid")].into_iter();
//! let paid = client.call_blocking(
//!     Request::default(),
//!     std::thread::sleep,
//!     |_attempt| answers.next().unwrap(),
//!     |result| match result {
//!         Ok(_) => Outcome::SUCCESS,
//!         Err(_) => Outcome::of(Kind::Server).with_status(503),
//!     },
//! );
//! assert_eq!(paid.unwrap().value, "paid");
//! # Ok::<(), stormproof::PolicyError>(())
//! ```

mod blocking;
mod future;
mod waiters;

use core::fmt;
use core::task::Waker;
use core::time::Duration;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use self::waiters::Waiters;
use crate::engine::Engine;
use crate::error::PolicyError;
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::step::{CallId, Control, Decision, Event, Kind, Outcome, Request, Step};
use crate::time::Instant;

/// The operation of an attempt that was cut has ended by it: its permit comes back.
const DROPPED: Event = Event::Settled(Outcome::of(Kind::Cancelled));

/// One dependency, for any number of threads and tasks.
///
/// `now` reads a monotonic clock, `word` draws a random number. The lock is held only while the
/// engine decides, never while an operation runs.
pub struct Client<Now, Word> {
    now: Now,
    word: Word,
    state: Mutex<State>,
    handed_over: Condvar,
}

#[derive(Debug)]
struct State {
    engine: Engine,
    waiters: Waiters,
    poll_at: Option<Instant>,
}

impl State {
    /// A task has to poll when it is time: whoever was told so waits no longer, or the time is new.
    fn wake_poller(&mut self) {
        if self.poll_at.is_some() {
            self.waiters.wake_one();
        }
    }
}

/// What an operation is told of the attempt that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// 1 for the first.
    pub number: u32,
    /// How long the attempt may take; `None`: as long as it likes.
    pub time_left: Option<Duration>,
}

/// What a call ended with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer<T> {
    /// What the operation answered last; not a success where the decision says so.
    pub value: T,
    /// Why the call ended, with the numbers behind it.
    pub decision: Decision,
}

/// Why a call has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError<E> {
    /// The last error of the dependency, unchanged; `None` where no attempt ended in one.
    pub error: Option<E>,
    /// Why the call ended, with the numbers behind it.
    pub decision: Decision,
}

impl<Now, Word> fmt::Debug for Client<Now, Word> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Client").field("state", &self.state).finish_non_exhaustive()
    }
}

impl<E: fmt::Display> fmt::Display for CallError<E> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = self.decision.reason.name();
        match &self.error {
            Some(error) if !self.decision.is_own_error() => write!(out, "{error} ({reason})"),
            Some(error) => write!(out, "{reason}; before that: {error}"),
            None => write!(out, "{reason}"),
        }
    }
}

impl<E: std::error::Error + 'static> std::error::Error for CallError<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.as_ref().map(|error| error as _)
    }
}

impl<Now: Fn() -> Instant, Word: Fn() -> u64> Client<Now, Word> {
    /// A client for one dependency.
    ///
    /// # Errors
    ///
    /// The first figure of the policy that cannot be.
    pub fn new(policy: &Policy, now: Now, word: Word) -> Result<Self, PolicyError> {
        let state =
            State { engine: Engine::new(policy)?, waiters: Waiters::default(), poll_at: None };
        Ok(Self { now, word, state: Mutex::new(state), handed_over: Condvar::new() })
    }

    /// How the client stands.
    pub fn snapshot(&self) -> Snapshot {
        let now = (self.now)();
        self.lock().engine.snapshot(now)
    }

    /// What an answer with this HTTP status is, by the policy's table.
    pub fn classify(&self, status: u16, retry_after_ms: Option<u64>, request: &Request) -> Outcome {
        self.lock().engine.classify(status, retry_after_ms, request.safety)
    }

    /// One plain sentence that says why a call ended as it did.
    pub fn explain(&self, decision: &Decision, name: &str) -> String {
        self.lock().engine.explain(decision, name)
    }

    /// An order to the circuit.
    pub fn control(&self, control: Control) {
        self.locked(|state| {
            let now = (self.now)();
            let step = state.engine.control(now, control);
            self.hand_over(state, step);
        });
    }

    fn start(&self, request: Request) -> Step {
        self.locked(|state| {
            let now = (self.now)();
            let step = state.engine.start(now, request);
            self.hand_over(state, step)
        })
    }

    fn on_event(&self, call: CallId, event: Event) -> Step {
        self.locked(|state| self.on_event_locked(state, call, event))
    }

    fn on_event_locked(&self, state: &mut State, call: CallId, event: Event) -> Step {
        let now = (self.now)();
        let step = state.engine.on_event(now, call, event, (self.word)());
        self.hand_over(state, step)
    }

    /// Remembers when to poll, polls if it is time, and tells somebody who waits if it will be.
    fn hand_over(&self, state: &mut State, step: Step) -> Step {
        let before = state.poll_at;
        state.poll_at = step.poll_at;
        self.poll(state);
        if state.poll_at != before && state.poll_at.is_some() {
            self.handed_over.notify_all();
            state.wake_poller();
        }
        step
    }

    /// Hands permits to waiting calls as long as there are any.
    fn poll(&self, state: &mut State) {
        let now = (self.now)();
        let before = state.poll_at;
        while state.poll_at.is_some_and(|poll_at| now >= poll_at) {
            match state.engine.poll_ready(now, (self.word)()) {
                Some(step) => {
                    state.poll_at = step.poll_at;
                    state.waiters.hand(step);
                    self.handed_over.notify_all();
                }
                None => state.poll_at = state.engine.poll_at(now),
            }
        }
        if state.poll_at != before {
            state.wake_poller();
        }
    }

    fn attempt(&self, number: u32, until: Option<Instant>) -> Attempt {
        let time_left = until.map(|until| until.saturating_since((self.now)()));
        Attempt { number, time_left }
    }

    fn locked<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        let answer = work(&mut state);
        Self::unlock(state);
        answer
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Only clock and words are the user's under the lock, and the engine does not panic: where
        // they do, its last decision stands.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Frees the lock, then wakes those whose turn has come.
    fn unlock(mut state: MutexGuard<'_, State>) {
        let woken = state.waiters.woken();
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }
}

/// The end of a call: what its operation answered last stands, unless stormproof itself ended it.
fn ended<T, E>(decision: Decision, last: Option<Result<T, E>>) -> Result<Answer<T>, CallError<E>> {
    match last {
        Some(Ok(value)) if !decision.is_own_error() => Ok(Answer { value, decision }),
        Some(Err(error)) => Err(CallError { error: Some(error), decision }),
        Some(Ok(_)) | None => Err(CallError { error: None, decision }),
    }
}
