//! What a host tells an engine, and what it gets.

use alloc::boxed::Box;
use alloc::string::String;

use stormproof::step::Safety;
use stormproof::time::Instant;
use stormproof::{CallId, Control, Decision, Engine, Event, Outcome, Request, Snapshot, Step};

/// What the dependency is called in explanations.
pub const NAME: &str = "payments";

/// One thing that a host tells or asks.
#[derive(Clone, Copy, Debug)]
pub enum Input {
    /// A new call. Without a safety that of the policy holds.
    Start {
        /// May it be repeated?
        safety: Option<Safety>,
        /// The caller's own deadline.
        deadline: Option<Instant>,
        /// The caller has given up already.
        cancelled: bool,
    },
    /// An operation ended in an outcome that the host names.
    Settled(CallId, Outcome),
    /// An operation was answered with an HTTP status.
    Answered {
        /// Under which id it was started.
        call: CallId,
        /// The status.
        status: u16,
        /// The wait that was asked for with it.
        retry_after_ms: Option<u64>,
        /// May the call be repeated?
        safety: Option<Safety>,
    },
    /// A timer fired.
    Elapsed(CallId),
    /// A caller gave up.
    Cancelled(CallId),
    /// Is it anybody's turn?
    Poll,
    /// An order to the circuit.
    Control(Control),
    /// How does the client stand?
    Snapshot,
    /// Why did the call end that ended just now?
    Explain(Decision),
}

/// What came back.
#[derive(Clone, Debug)]
pub enum Answer {
    /// What to do; a poll may yield nothing.
    Step(Option<Step>),
    /// How the client stands.
    Snapshot(Box<Snapshot>),
    /// A sentence.
    Text(String),
}

impl Input {
    /// Asks the engine.
    pub fn put(self, engine: &mut Engine, now: Instant, word: u64) -> Answer {
        let safety = |given: Option<Safety>| given.unwrap_or(engine.default_safety());
        let (id, event) = match self {
            Self::Start { safety: given, deadline, cancelled } => {
                let request = Request { safety: safety(given), deadline, cancelled };
                return Answer::Step(Some(engine.start(now, request)));
            }
            Self::Poll => return Answer::Step(engine.poll_ready(now, word)),
            Self::Control(order) => return Answer::Step(Some(engine.control(now, order))),
            Self::Snapshot => return Answer::Snapshot(Box::new(engine.snapshot(now))),
            Self::Explain(decision) => return Answer::Text(engine.explain(&decision, NAME)),
            Self::Settled(call, outcome) => (call, Event::Settled(outcome)),
            Self::Answered { call, status, retry_after_ms, safety: given } => {
                let outcome = engine.classify(status, retry_after_ms, safety(given));
                (call, Event::Settled(outcome))
            }
            Self::Elapsed(call) => (call, Event::Elapsed),
            Self::Cancelled(call) => (call, Event::Cancelled),
        };
        Answer::Step(Some(engine.on_event(now, id, event, word)))
    }
}
