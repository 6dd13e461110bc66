//! What goes into the engine and what comes out: the page that both bindings encode.

use core::time::Duration;

use crate::time::Instant;

/// Names one phase of one call. Renewed whenever the call changes phase, and never reused.
///
/// 52 bits (slot below generation), so that it crosses as one `f64`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(u64);

impl CallId {
    /// The id that no call ever has.
    pub const NONE: Self = Self(0);
    pub(crate) const SLOT_BITS: u32 = 20;

    pub(crate) const fn new(slot: u32, generation: u32) -> Self {
        Self(((generation as u64) << Self::SLOT_BITS) | slot as u64)
    }

    /// The id that crossed a language boundary as `bits`. Any number is allowed: one that names no
    /// phase gets [`Action::Stale`].
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The number to hand across a language boundary.
    pub const fn to_bits(self) -> u64 {
        self.0
    }

    pub(crate) const fn slot(self) -> u32 {
        (self.0 & ((1 << Self::SLOT_BITS) - 1)) as u32
    }

    pub(crate) const fn generation(self) -> u64 {
        self.0 >> Self::SLOT_BITS
    }
}

/// Declares an enum whose variants have stable numbers and names, equal in all hosts.
macro_rules! stable_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $number:literal $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum $name { $($(#[$doc])* $variant = $number,)* }

        impl core::fmt::Display for $name {
            fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                out.write_str(self.name())
            }
        }

        impl $name {
            /// Every variant, by number.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Every stable name, by number.
            pub const NAMES: &'static [&'static str] = &[$($text),*];

            /// The stable number.
            pub const fn code(self) -> u8 {
                self as u8
            }

            /// The variant with this stable number.
            pub const fn from_code(code: u8) -> Option<Self> {
                match code {
                    $($number => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// The stable name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }
        }
    };
}
pub(crate) use stable_enum;

stable_enum! {
    /// What an attempt ended in.
    Kind {
        /// The dependency did what it was asked.
        Success = 0 "success",
        /// The connection failed or broke.
        Network = 1 "network",
        /// No answer in time.
        Timeout = 2 "timeout",
        /// The dependency answered that it is unwell (5xx and its kin).
        Server = 3 "server",
        /// The dependency asks to be called less.
        Throttled = 4 "throttled",
        /// The request was at fault. Status 0: it was never sent (an invalid URL).
        Client = 5 "client",
        /// The dependency answered with a refusal of its own domain.
        Business = 6 "business",
        /// The answer arrived whole and could not be understood.
        Contract = 7 "contract",
        /// An error that no rule recognises.
        Unclassified = 8 "unclassified",
        /// Refused by stormproof: the circuit is open.
        CircuitOpen = 9 "circuit_open",
        /// Refused by stormproof: no permit and no place in the queue.
        BulkheadFull = 10 "bulkhead_full",
        /// Refused by stormproof: queued for too long.
        QueueTimeout = 11 "queue_timeout",
        /// Refused by stormproof: no time left.
        DeadlineExceeded = 12 "deadline_exceeded",
        /// The caller gave up.
        Cancelled = 13 "cancelled",
    }
}

impl Kind {
    /// May an attempt that ended in this be repeated at all? The one place that knows.
    ///
    /// Whether it *is* repeated depends on safety, attempts, deadline, circuit and budget as well.
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::Network | Self::Timeout | Self::Server | Self::Throttled)
    }

    /// Did stormproof itself, or the caller, end the attempt?
    pub const fn is_refusal(self) -> bool {
        self.code() >= Self::CircuitOpen.code()
    }
}

stable_enum! {
    /// How far the request of a failed attempt got.
    Phase {
        /// It may have reached the dependency.
        Unknown = 0 "unknown",
        /// It certainly never left.
        NotSent = 1 "not_sent",
    }
}

stable_enum! {
    /// Whether an operation may be repeated.
    Safety {
        /// Repeating it has no further effect (GET, PUT, DELETE, or said so).
        Idempotent = 0 "idempotent",
        /// It carries an idempotency key.
        Keyed = 1 "keyed",
        /// Repeating it may act twice.
        Unsafe = 2 "unsafe",
        /// It cannot be repeated: its body can be sent only once.
        Once = 3 "once",
    }
}

stable_enum! {
    /// Why a call ended.
    Reason {
        /// The dependency did what it was asked.
        Success = 0 "success",
        /// The outcome is not one that a repetition could change.
        Permanent = 1 "permanent",
        /// The request may have acted, and may not act twice.
        UnsafeToRetry = 2 "unsafe_to_retry",
        /// The last attempt allowed was made.
        AttemptsExhausted = 3 "attempts_exhausted",
        /// The retry budget holds less than a retry costs.
        BudgetExhausted = 4 "budget_exhausted",
        /// The dependency asks for a longer wait than the policy accepts.
        RetryAfterTooLong = 5 "retry_after_too_long",
        /// The next attempt would start at or after the deadline.
        DeadlineTooNear = 6 "deadline_too_near",
        /// The deadline passed.
        DeadlineExceeded = 7 "deadline_exceeded",
        /// The circuit refuses.
        CircuitOpen = 8 "circuit_open",
        /// No permit and no place in the queue.
        BulkheadFull = 9 "bulkhead_full",
        /// Queued for longer than the policy accepts.
        QueueTimeout = 10 "queue_timeout",
        /// The caller gave up.
        Cancelled = 11 "cancelled",
    }
}

impl Reason {
    /// Does the call end with stormproof's own error (or the caller's reason) instead of the
    /// dependency's last one?
    pub const fn is_own_error(self) -> bool {
        self.code() >= Self::DeadlineExceeded.code()
    }
}

stable_enum! {
    /// What a wait is for.
    Why {
        /// The policy's own delay.
        Backoff = 0 "backoff",
        /// The dependency's Retry-After is the longer part.
        RetryAfter = 1 "retry_after",
        /// The circuit may not be asked before.
        Circuit = 2 "circuit",
        /// Not a wait: the attempt is still running, look again then.
        Running = 3 "running",
    }
}

stable_enum! {
    /// The state of a circuit as seen from outside.
    Circuit {
        /// Everybody passes; outcomes are counted.
        Closed = 0 "closed",
        /// Nobody passes.
        Open = 1 "open",
        /// A few probes pass.
        HalfOpen = 2 "half_open",
        /// Nobody passes until somebody says otherwise.
        ForcedOpen = 3 "forced_open",
        /// Everybody passes and nothing is counted until somebody says otherwise.
        ForcedClosed = 4 "forced_closed",
    }
}

stable_enum! {
    /// Why a circuit changed its state.
    ChangeCause {
        /// Too large a part of the outcomes were failures.
        FailureRate = 0 "failure_rate",
        /// Failures and no sign of life.
        NoSuccess = 1 "no_success",
        /// Too many failures within the window.
        FailureThreshold = 2 "failure_threshold",
        /// Too many failures in a row.
        ConsecutiveFailures = 3 "consecutive_failures",
        /// Too large a part of the outcomes were slow.
        SlowCallRate = 4 "slow_call_rate",
        /// The open time has passed.
        OpenTimeOver = 5 "open_time_over",
        /// A probe failed.
        ProbeFailed = 6 "probe_failed",
        /// Enough probes succeeded.
        ProbesSucceeded = 7 "probes_succeeded",
        /// Somebody said so.
        Manual = 8 "manual",
    }
}

stable_enum! {
    /// An order from outside to the circuit. Each starts a new generation with clean counters.
    Control {
        /// Refuse everybody until further notice.
        ForceOpen = 0 "force_open",
        /// Admit everybody and count nothing until further notice.
        ForceClosed = 1 "force_closed",
        /// Run the automatic machine and refuse nobody.
        MetricsOnly = 2 "metrics_only",
        /// Closed, automatic, as new.
        Reset = 3 "reset",
    }
}

/// What an attempt ended in, as the host reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What happened.
    pub kind: Kind,
    /// The HTTP status, 0 where there is none.
    pub status: u16,
    /// How far the request got; matters for `network` and `timeout`.
    pub phase: Phase,
    /// The wait that the dependency asked for, in milliseconds ([`retry_after`](crate::retry_after)).
    pub retry_after_ms: Option<u64>,
}

impl Outcome {
    /// The dependency did what it was asked.
    pub const SUCCESS: Self = Self::of(Kind::Success);

    /// An outcome with neither status nor Retry-After, whose phase is unknown.
    pub const fn of(kind: Kind) -> Self {
        Self { kind, status: 0, phase: Phase::Unknown, retry_after_ms: None }
    }

    /// The same with a status.
    pub const fn with_status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// The same with a wait that the dependency asked for.
    pub const fn with_retry_after_ms(self, millis: u64) -> Self {
        Self { retry_after_ms: Some(millis), ..self }
    }

    /// The same where an error carried it: an operation that fails has not succeeded, whatever a
    /// policy thinks of the status.
    pub const fn as_error(self) -> Self {
        match self.kind {
            Kind::Success => Self { kind: Kind::Client, ..self },
            _ => self,
        }
    }

    /// The same for a request that certainly never left.
    pub const fn not_sent(self) -> Self {
        Self { phase: Phase::NotSent, ..self }
    }
}

/// What a caller wants of a new call.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// May the operation be repeated?
    pub safety: Safety,
    /// The caller's own deadline; the policy's `overall_timeout` holds besides.
    pub deadline: Option<Instant>,
    /// The caller has given up already: nothing is started.
    pub cancelled: bool,
}

impl Default for Request {
    fn default() -> Self {
        Self { safety: Safety::Idempotent, deadline: None, cancelled: false }
    }
}

/// What happened to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The operation of an attempt ended.
    Settled(Outcome),
    /// The host's timer for the call's `until` fired. A hint: the engine reads the clock itself.
    Elapsed,
    /// The caller gave up. The operation may still run.
    Cancelled,
}

/// What the host has to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Start the operation now. Report [`Event::Elapsed`] at `until`, and the outcome whenever it comes.
    Attempt {
        /// When this attempt is cut, if ever.
        until: Option<Instant>,
        /// 1 for the first.
        number: u32,
    },
    /// Report [`Event::Elapsed`] at `until`.
    Wait {
        /// When to look again; `None` only for a running attempt that nothing will cut.
        until: Option<Instant>,
        /// What the wait is for.
        why: Why,
        /// How long it was planned, for those who watch; zero where the step only repeats `until`.
        planned: Duration,
    },
    /// The call stands in the queue: report [`Event::Elapsed`] at `until`, and poll.
    Queue {
        /// When the place in the queue is lost, if ever.
        until: Option<Instant>,
    },
    /// The call is over.
    Finish(Decision),
    /// The id names no phase any more: nothing changed.
    Stale {
        /// The id belonged to an attempt that was abandoned and has now ended.
        late: bool,
    },
}

/// Why a call ended, with the numbers behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Why.
    pub reason: Reason,
    /// How many attempts were started.
    pub attempts: u32,
    /// What the last attempt ended in, if one ended.
    pub last_kind: Option<Kind>,
    /// The HTTP status of the last attempt that ended, 0 where there is none.
    pub last_status: u16,
    /// When the call ended.
    pub at: Instant,
    /// When it makes sense to come back, where that is known.
    pub retry_at: Option<Instant>,
    /// The circuit was forced by hand.
    pub forced: bool,
    /// The planned waits of the call, in nanoseconds, without queueing.
    pub total_wait: u64,
    /// What the retry budget held, in thousandths of a token; `None` where it is off.
    pub tokens: Option<u64>,
}

impl Decision {
    /// Does the call end with stormproof's own error instead of the dependency's last one?
    pub const fn is_own_error(&self) -> bool {
        self.reason.is_own_error()
    }
}

/// A change of the circuit's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The state before.
    pub from: Circuit,
    /// The state after.
    pub to: Circuit,
    /// Why.
    pub cause: ChangeCause,
}

/// The engine's answer to one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The id that the call has from now on. A finished call keeps the last one it had.
    pub call: CallId,
    /// The id that the call had before; [`CallId::NONE`] for a new call.
    pub previous: CallId,
    /// What to do.
    pub action: Action,
    /// When [`poll_ready`](crate::Engine::poll_ready) may yield something without a further event.
    /// Replaces the value of every step before.
    pub poll_at: Option<Instant>,
    /// The circuit changed its state in this step.
    pub circuit: Option<Change>,
}
