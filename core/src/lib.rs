//! Survive the fall of what you depend on, and do not knock it down again.
//!
//! One [`Engine`] per dependency decides: retry or not, how long to wait, may this call go, who is
//! next. It is sans-IO: it has no clock, no randomness, no sockets and no callbacks. The host hands
//! in what happened, the time and a random number, and does what the [`Step`] says.
//!
//! # The run loop
//!
//! 1. [`Engine::start`] a call. Do what the step says:
//!    - [`Action::Attempt`]: start the operation; go to 2.
//!    - [`Action::Wait`], [`Action::Queue`]: set a timer for `until`; go to 2.
//!    - [`Action::Finish`]: the call is over; hand its value or error to the caller.
//! 2. Something happens: the operation ends ([`Event::Settled`]), the timer fires
//!    ([`Event::Elapsed`]) or the caller gives up ([`Event::Cancelled`]). Report it with
//!    [`Engine::on_event`] under the id of the newest step of that call, and do what the step says.
//! 3. Whenever the clock reaches the newest step's [`poll_at`](Step::poll_at), call
//!    [`Engine::poll_ready`] until it answers `None`: it hands a free permit to a waiting call, whose
//!    id until now was [`previous`](Step::previous). After `None`, [`Engine::poll_at`] says when to
//!    poll again.
//! 4. An attempt that was cut may still run. When it ends, report it under the id that it was
//!    started with: its permit comes back and nothing else changes.
//!
//! ```
//! use stormproof::{Action, Engine, Event, Outcome, Policy, step::Kind, time::Instant};
//!
//! let mut engine = Engine::new(&Policy::new())?;
//! let at = Instant::from_millis;
//! let word = 1 << 63; // a random number; here the middle of every interval
//!
//! let step = engine.start(at(0), Default::default());
//! assert!(matches!(step.action, Action::Attempt { number: 1, .. }));
//!
//! let unwell = Outcome::of(Kind::Server).with_status(503);
//! let step = engine.on_event(at(20), step.call, Event::Settled(unwell), word);
//! let Action::Wait { until: Some(until), .. } = step.action else { panic!("{step:?}") };
//! assert_eq!(until, at(70));
//!
//! let step = engine.on_event(until, step.call, Event::Elapsed, word);
//! assert!(matches!(step.action, Action::Attempt { number: 2, .. }));
//! let step = engine.on_event(at(90), step.call, Event::Settled(Outcome::SUCCESS), word);
//! let Action::Finish(decision) = step.action else { panic!("{step:?}") };
//! assert_eq!(engine.explain(&decision, "payments"), "Succeeded at attempt 2 of 4, after 0.05 s of waiting.");
//! # Ok::<(), stormproof::PolicyError>(())
//! ```
//!
//! Every machine is usable alone as well: [`CircuitBreaker`], [`RetryBudget`], [`Bulkhead`],
//! [`Backoff`], built from the same [`Policy`].
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod backoff;
pub mod breaker;
pub mod budget;
pub mod bulkhead;
pub mod classify;
#[cfg(feature = "std")]
pub mod drive;
mod engine;
mod error;
mod explain;
mod fifo;
mod http_date;
pub mod idempotency;
pub mod jitter;
pub mod policy;
#[cfg(feature = "proof")]
#[doc(hidden)]
pub mod proof;
pub mod retry_after;
mod slots;
pub mod snapshot;
pub mod step;
mod text;
pub mod time;
mod window;

pub use backoff::{Backoff, Jitter};
pub use breaker::CircuitBreaker;
pub use budget::RetryBudget;
pub use bulkhead::Bulkhead;
pub use engine::Engine;
pub use error::{ErrorCode, PolicyError};
pub use policy::{Policy, Preset};
pub use snapshot::Snapshot;
pub use step::{Action, CallId, Control, Decision, Event, Outcome, Reason, Request, Step};

#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../../README.md")]
struct Readme;
