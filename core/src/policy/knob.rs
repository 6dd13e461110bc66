//! The table of knobs. Everything that is known of a knob stands here, once.

use core::time::Duration;

use super::Policy;
use super::setting::{Setting, Value};
use crate::backoff::Jitter;
use crate::breaker::{MAX_FAILURE_THRESHOLD, Scope};
use crate::bulkhead::Release;
use crate::classify::UnsafeCalls;
use crate::idempotency::KeyForm;
use crate::retry_after::Combine;
use crate::step::Safety;
use crate::time::{CENTURY, Nanos};

/// What a knob takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// A whole number from the first to the second.
    Count(u64, u64),
    /// A duration in nanoseconds from the first to the second.
    Span(u64, u64),
    /// A number in thousandths from the first to the second.
    Thousandths(u64, u64),
    /// The same, or `"auto"`.
    ThousandthsOrAuto(u64, u64),
    /// `true` or `false`.
    Flag,
    /// One of these names.
    Choice(&'static [&'static str]),
    /// A text; where `true`, one that can name a header.
    Text(bool),
}

/// One knob.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its path in the policy document.
    pub path: &'static str,
    /// What it takes.
    pub domain: Domain,
    /// May it be `null`?
    pub nullable: bool,
    pub(crate) default: Value,
}

impl Row {
    /// The value that holds where nothing is set: nanoseconds, thousandths, a count, a truth value
    /// as 0 or 1, or the number of a name. `None` is `null`, or `"auto"` where the knob takes it.
    pub fn default(&self) -> Option<u64> {
        self.default.some()
    }
}

const fn needs(domain: Domain) -> (Domain, bool) {
    (domain, false)
}

const fn or_null(domain: Domain) -> (Domain, bool) {
    (domain, true)
}

const fn count(min: u64, max: u64) -> Domain {
    Domain::Count(min, max)
}

const fn span_from(min: Nanos) -> Domain {
    Domain::Span(min, CENTURY)
}

const fn of(value: u64) -> Value {
    Value::Of(value)
}

const fn ms(millis: u64) -> Value {
    Value::Of(millis * 1_000_000)
}

const ON: Value = Value::Of(1);
const OFF: Value = Value::Of(0);
const NULL: Value = Value::None;
/// Tokens beyond this are no budget.
const MOST_TOKENS: u64 = 1_000_000_000;
const MANY: u64 = 1_000_000;

/// A typed setter: `(T)` for a knob that always has a value, `[T]` for one that may be none.
macro_rules! setter {
    ({$($doc:tt)+} $knob:ident []) => {};
    ({$($doc:tt)+} $knob:ident [$setter:ident ($type:ty)]) => {
        $($doc)+
        #[must_use]
        pub fn $setter(self, value: $type) -> Self {
            self.with(Knob::$knob, Setting::from(value))
        }
    };
    ({$($doc:tt)+} $knob:ident [$setter:ident [$type:ty]]) => {
        $($doc)+
        #[must_use]
        pub fn $setter(self, value: impl Into<Option<$type>>) -> Self {
            let value: Option<$type> = value.into();
            self.with(Knob::$knob, Setting::from(value))
        }
    };
}

macro_rules! knobs {
    ($($(#[doc = $doc:literal])+ $knob:ident $(, $setter:ident $type:tt)?, $path:literal, $domain:expr, $default:expr;)+) => {
        /// Every knob of a policy.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Knob { $($(#[doc = $doc])+ $knob,)+ }

        impl Knob {
            /// Every knob, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$knob),+];
            pub(crate) const COUNT: usize = Self::ALL.len();
            const ROWS: [Row; Self::COUNT] = [$({
                let (domain, nullable) = $domain;
                Row { path: $path, domain, nullable, default: $default }
            }),+];
            const DOCS: [&'static str; Self::COUNT] = [$(concat!($($doc, "\n"),+)),+];

            /// What is known of the knob.
            pub fn row(self) -> &'static Row {
                &Self::ROWS[self as usize]
            }

            /// What the knob is for: its unit, its default and the reason for it.
            pub fn doc(self) -> &'static str {
                Self::DOCS[self as usize]
            }
        }

        impl Policy {
            $(setter!({$(#[doc = $doc])+} $knob [$($setter $type)?]);)+
        }
    };
}

knobs! {
    /// How many times an operation is tried at most, the first try included. Default 4: three
    /// retries ride out a gap of about 0.3 s; longer gaps need a larger base.
    MaxAttempts, max_attempts(u32), "retry.maxAttempts", needs(count(1, MANY)), of(4);
    /// The ceiling of the delay before the first retry. Default 100 ms.
    Base, base(Duration), "retry.baseMs", needs(span_from(0)), ms(100);
    /// No own delay is longer than this. Default 20 s; `null`: 100 years.
    Cap, cap[Duration], "retry.capMs", or_null(span_from(0)), ms(20_000);
    /// By what the ceiling grows from retry to retry. Default 2.
    Factor, factor(f64), "retry.factor", needs(Domain::Thousandths(1_000, 1_000_000)), of(2_000);
    /// How delays are spread below the ceiling. Default `full`: anything from 0 to the ceiling.
    Jitter, jitter(Jitter), "retry.jitter", needs(Domain::Choice(Jitter::NAMES)), of(Jitter::Full as u64);
    /// The lower end of the interval of `full` jitter. Default 0.
    MinDelay, min_delay(Duration), "retry.minDelayMs", needs(span_from(0)), ms(0);
    /// Does a retry that the circuit refuses sleep until the circuit may be asked, instead of
    /// ending the call? Default no.
    WaitForCircuit, wait_for_circuit(bool), "retry.waitForCircuit", needs(Domain::Flag), OFF;
    /// When an unsafe call is repeated: `never`, when the request `certain`ly had no effect
    /// (default), `always`.
    Unsafe, unsafe_calls(UnsafeCalls), "retry.unsafe", needs(Domain::Choice(UnsafeCalls::NAMES)), of(UnsafeCalls::Certain as u64);
    /// The longest Retry-After that is waited for; a longer one ends the call. Default 60 s.
    RetryAfterMax, retry_after_max(Duration), "retryAfter.maxMs", needs(span_from(0)), ms(60_000);
    /// How Retry-After meets the own delay: what was asked plus a `spread` (default), or the `max`
    /// of the two.
    RetryAfterCombine, combine(Combine), "retryAfter.combine", needs(Domain::Choice(Combine::NAMES)), of(Combine::Spread as u64);
    /// The window in which outcomes count. Default 10 s.
    RollingWindow, rolling_window(Duration), "breaker.rollingWindowMs", needs(span_from(1_000)), ms(10_000);
    /// Opens at this part of failures among the outcomes of the window, once there are
    /// `minimumCalls`. Default 0.8 unless another rule is named; `null`: off.
    FailureRate, failure_rate[f64], "breaker.failureRate", or_null(Domain::Thousandths(1, 1_000)), of(800);
    /// How many outcomes the window must hold before a rate can open the circuit. Default 20.
    MinimumCalls, minimum_calls(u32), "breaker.minimumCalls", needs(count(1, MANY)), of(20);
    /// Opens at this many failures in a window without any healthy outcome. Default 5 unless
    /// another rule is named; `null`: off.
    NoSuccessFailures, no_success_failures[u32], "breaker.noSuccessFailures", or_null(count(1, MANY)), of(5);
    /// Opens at this many failures within the window, counted exactly; a success does not wipe
    /// them. Off unless named.
    FailureThreshold, failure_threshold[u32], "breaker.failureThreshold", or_null(count(1, MAX_FAILURE_THRESHOLD)), NULL;
    /// Opens at this many failures in a row, none of them followed by a gap as long as the window.
    /// Off unless named.
    ConsecutiveFailures, consecutive_failures[u32], "breaker.consecutiveFailures", or_null(count(1, MANY)), NULL;
    /// Opens at this part of slow outcomes, once there are `minimumCalls`. Off unless named.
    SlowCallRate, slow_call_rate[f64], "breaker.slowCallRate", or_null(Domain::Thousandths(1, 1_000)), NULL;
    /// An attempt that takes this long is slow. Needed by `slowCallRate`.
    SlowCallDuration, slow_call_duration[Duration], "breaker.slowCallDurationMs", or_null(span_from(1)), NULL;
    /// How long an open circuit refuses. Default 5 s.
    OpenDuration, open_duration(Duration), "breaker.openDurationMs", needs(span_from(1)), ms(5_000);
    /// Adds up to half of the open time at random, so that a fleet does not probe in one instant.
    /// Default yes.
    OpenJitter, open_jitter(bool), "breaker.openJitter", needs(Domain::Flag), ON;
    /// By what the open time grows with each opening that no closing came between. Default 1.
    OpenGrowth, open_growth(f64), "breaker.openGrowth", needs(Domain::Thousandths(1_000, 1_000_000)), of(1_000);
    /// The longest that a growing open time gets. Default 10 × `openDurationMs`, at most
    /// 100 years.
    OpenCap, open_cap[Duration], "breaker.openCapMs", or_null(span_from(1)), NULL;
    /// Does the Retry-After of the answer that opens the circuit lengthen the open time? Default
    /// yes.
    HonorRetryAfter, honor_retry_after(bool), "breaker.honorRetryAfter", needs(Domain::Flag), ON;
    /// How many probes a half-open circuit lets go at once. Default 1.
    Probes, probes(u32), "breaker.probes", needs(count(1, 1_000)), of(1);
    /// How many probes must succeed to close the circuit. Default 2.
    SuccessThreshold, success_threshold(u32), "breaker.successThreshold", needs(count(1, MANY)), of(2);
    /// How long a probe holds its slot. Default `openDurationMs`; with `openGrowth` above 1 the
    /// longer of that and `attemptTimeoutMs`.
    ProbeLease, probe_lease[Duration], "breaker.probeLeaseMs", or_null(span_from(1)), NULL;
    /// Is being throttled a failure to the breaker? Default no: who throttles is alive.
    Count429, count_429(bool), "breaker.count429", needs(Domain::Flag), OFF;
    /// Is an attempt that the deadline cuts off a failure to the breaker? Default yes.
    CountDeadline, count_deadline(bool), "breaker.countDeadline", needs(Domain::Flag), ON;
    /// What is admitted and counted: every `attempt` (default) or whole `call`s.
    BreakerScope, scope(Scope), "breaker.scope", needs(Domain::Choice(Scope::NAMES)), of(Scope::Attempt as u64);
    /// The tokens that the retry budget can hold. Default `auto`: a fifth of the calls of the last
    /// 10 s, at least 5 and at most 1,000.
    Capacity, capacity(f64), "budget.capacity", needs(Domain::ThousandthsOrAuto(0, MOST_TOKENS)), Value::Auto;
    /// The tokens that it holds at first. Default: all it can hold, and 5 for `auto`.
    Initial, initial[f64], "budget.initial", or_null(Domain::Thousandths(0, MOST_TOKENS)), NULL;
    /// What a retry costs. Default 1.
    Cost, cost(f64), "budget.cost", needs(Domain::Thousandths(0, MOST_TOKENS)), of(1_000);
    /// What a retry after a `network` failure costs. Default: `cost`.
    CostNetwork, cost_network[f64], "budget.costNetwork", or_null(Domain::Thousandths(0, MOST_TOKENS)), NULL;
    /// What a retry after a `timeout` costs. Default: `cost`.
    CostTimeout, cost_timeout[f64], "budget.costTimeout", or_null(Domain::Thousandths(0, MOST_TOKENS)), NULL;
    /// What a retry after a `server` failure costs. Default: `cost`.
    CostServer, cost_server[f64], "budget.costServer", or_null(Domain::Thousandths(0, MOST_TOKENS)), NULL;
    /// What a retry after being `throttled` costs. Default: `cost`.
    CostThrottled, cost_throttled[f64], "budget.costThrottled", or_null(Domain::Thousandths(0, MOST_TOKENS)), NULL;
    /// What a success brings back. Default 0.1.
    RefillPerSuccess, refill_per_success(f64), "budget.refillPerSuccess", needs(Domain::Thousandths(0, MOST_TOKENS)), of(100);
    /// What a second brings back, so that a drained bucket is not empty for ever. Default 0.01.
    RefillPerSecond, refill_per_second(f64), "budget.refillPerSecond", needs(Domain::Thousandths(0, MOST_TOKENS)), of(10);
    /// How many attempts run at once at most. Default `null`: endless. Size it so that the sum over
    /// all processes stays below 0.2 × the requests that the dependency can answer in one
    /// `attemptTimeoutMs`.
    MaxConcurrent, max_concurrent[u32], "bulkhead.maxConcurrent", or_null(count(1, MANY)), NULL;
    /// How many calls wait for a permit at most. Default 100; 0 refuses at once.
    MaxQueue, max_queue(u32), "bulkhead.maxQueue", needs(count(0, MANY)), of(100);
    /// How long a call waits for a permit at most. Default `null`: until its deadline.
    QueueTimeout, queue_timeout[Duration], "bulkhead.queueTimeoutMs", or_null(span_from(1)), NULL;
    /// When the permit of an attempt that timed out comes back: when the operation really ends
    /// (`settled`, default) or when the `timeout` fires.
    Release, release(Release), "bulkhead.release", needs(Domain::Choice(Release::NAMES)), of(Release::Settled as u64);
    /// When the permit of an abandoned attempt that never ends comes back all the same. Default
    /// 60 s.
    AbandonedLease, abandoned_lease(Duration), "bulkhead.abandonedLeaseMs", needs(span_from(1)), ms(60_000);
    /// How long one attempt may take. Default 10 s; `null`: no limit.
    AttemptTimeout, attempt_timeout[Duration], "attemptTimeoutMs", or_null(span_from(1)), ms(10_000);
    /// How long a call may take with its queueing, attempts and waits. Default 30 s; `null`: no
    /// limit.
    OverallTimeout, overall_timeout[Duration], "overallTimeoutMs", or_null(span_from(1)), ms(30_000);
    /// Whether an operation that nothing else is known of may be repeated. Default `idempotent`.
    DefaultSafety, safety(Safety), "safety", needs(Domain::Choice(Safety::NAMES)), of(Safety::Idempotent as u64);
    /// How many calls may be under way at once, abandoned attempts included. Default `null`:
    /// 1,048,576. Further calls are refused with `bulkhead_full`.
    MaxCalls, max_calls[u32], "maxCalls", or_null(count(1, 1 << 20)), NULL;
    /// Does every call of an HTTP client whose method is not idempotent carry a key of its own?
    /// Default no: a server that ignores the header must not turn a POST into a retryable call.
    IdempotencyAuto, idempotency_auto(bool), "idempotency.auto", needs(Domain::Flag), OFF;
    /// How the key is written: `raw` (default) or `ietf`, in quotes.
    IdempotencyForm, idempotency_form(KeyForm), "idempotency.form", needs(Domain::Choice(KeyForm::NAMES)), of(KeyForm::Raw as u64);
    /// The header that carries the key. Default `Idempotency-Key`.
    IdempotencyHeader, "idempotency.header", needs(Domain::Text(true)), NULL;
    /// The header that tells the dependency the milliseconds left. Default `null`: none is sent.
    TimeLeftHeader, "propagate.timeLeftHeader", or_null(Domain::Text(true)), NULL;
    /// The header that tells the dependency the number of the attempt. Default `null`: none is sent.
    AttemptHeader, "propagate.attemptHeader", or_null(Domain::Text(true)), NULL;
    /// What the dependency is called in events and explanations.
    Name, "name", needs(Domain::Text(false)), NULL;
}

impl Knob {
    /// The knob at this path of a policy document.
    pub fn at(path: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|knob| knob.row().path == path)
    }
}

macro_rules! choices {
    ($($choice:ty),+) => {
        $(impl From<$choice> for Setting {
            fn from(choice: $choice) -> Self {
                Self::Choice(choice.code())
            }
        })+
    };
}

choices!(Jitter, UnsafeCalls, Combine, Scope, Release, Safety, KeyForm);

/// A part of a policy that `false` switches off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Section {
    /// One attempt, no retry.
    Retry,
    /// A circuit that only a person opens.
    Breaker,
    /// Retries are free.
    Budget,
    /// Any number of attempts at once.
    Bulkhead,
}

impl Section {
    /// Every section.
    pub const ALL: &'static [Self] = &[Self::Retry, Self::Breaker, Self::Budget, Self::Bulkhead];

    /// Its path in the policy document.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::Breaker => "breaker",
            Self::Budget => "budget",
            Self::Bulkhead => "bulkhead",
        }
    }
}
