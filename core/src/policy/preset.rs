//! Figures for common cases. A preset changes only what it names.

use super::knob::Knob;
use super::setting::Value;
use crate::classify::UnsafeCalls;
use crate::retry_after::Combine;
use crate::step::{Safety, stable_enum};

stable_enum! {
    /// A named set of figures.
    Preset {
        /// The defaults of the table.
        Default = 0 "default",
        /// The figures of the articles that this project comes from.
        Article = 1 "article",
        /// Processes that live for under about ten calls: a full bucket at every start is itself
        /// the storm.
        Ephemeral = 2 "ephemeral",
        /// Somebody waits for the answer.
        Interactive = 3 "interactive",
        /// Nobody waits for the answer.
        Background = 4 "background",
        /// Writes that must not happen twice.
        Payment = 5 "payment",
    }
}

const fn ms(millis: u64) -> Value {
    Value::Of(millis * 1_000_000)
}

const fn of(count: u64) -> Value {
    Value::Of(count)
}

const fn tokens(count: u64) -> Value {
    Value::Of(count * 1_000)
}

const ON: Value = Value::Of(1);
const OFF: Value = Value::Of(0);

const ARTICLE: &[(Knob, Value)] = &[
    (Knob::Capacity, tokens(100)),
    (Knob::RefillPerSuccess, tokens(1)),
    (Knob::RefillPerSecond, tokens(0)),
    (Knob::RollingWindow, ms(10_000)),
    (Knob::FailureThreshold, of(5)),
    (Knob::SuccessThreshold, of(2)),
    (Knob::OpenDuration, ms(30_000)),
    (Knob::OpenJitter, OFF),
    (Knob::HonorRetryAfter, OFF),
    (Knob::Count429, ON),
    (Knob::RetryAfterCombine, of(Combine::Max as u64)),
    (Knob::MaxAttempts, of(4)),
    (Knob::Base, ms(100)),
    (Knob::Cap, ms(20_000)),
    (Knob::AttemptTimeout, ms(5_000)),
    (Knob::OverallTimeout, ms(15_000)),
    (Knob::MaxConcurrent, of(10)),
];

const EPHEMERAL: &[(Knob, Value)] =
    &[(Knob::Initial, tokens(1)), (Knob::FailureRate, of(800)), (Knob::NoSuccessFailures, of(3))];

const INTERACTIVE: &[(Knob, Value)] = &[
    (Knob::MaxAttempts, of(3)),
    (Knob::Base, ms(50)),
    (Knob::Cap, ms(500)),
    (Knob::AttemptTimeout, ms(1_000)),
    (Knob::OverallTimeout, ms(3_000)),
];

const BACKGROUND: &[(Knob, Value)] = &[
    (Knob::MaxAttempts, of(8)),
    (Knob::Base, ms(1_000)),
    (Knob::Cap, ms(60_000)),
    (Knob::AttemptTimeout, ms(30_000)),
    (Knob::OverallTimeout, ms(600_000)),
    (Knob::RetryAfterMax, ms(300_000)),
    (Knob::WaitForCircuit, ON),
    (Knob::Capacity, tokens(10)),
];

const PAYMENT: &[(Knob, Value)] = &[
    (Knob::Unsafe, of(UnsafeCalls::Never as u64)),
    (Knob::DefaultSafety, of(Safety::Unsafe as u64)),
    (Knob::Base, ms(200)),
    (Knob::Cap, ms(5_000)),
    (Knob::AttemptTimeout, ms(5_000)),
    (Knob::OverallTimeout, ms(15_000)),
    (Knob::MaxConcurrent, of(10)),
    (Knob::MaxQueue, of(20)),
    (Knob::QueueTimeout, ms(2_000)),
];

impl Preset {
    /// The figure that the preset names for this knob, in the form of
    /// [`Row::default`](super::Row::default).
    pub fn figure(self, knob: Knob) -> Option<u64> {
        self.value(knob).and_then(Value::some)
    }

    pub(super) fn value(self, knob: Knob) -> Option<Value> {
        let named = match self {
            Self::Default => &[],
            Self::Article => ARTICLE,
            Self::Ephemeral => EPHEMERAL,
            Self::Interactive => INTERACTIVE,
            Self::Background => BACKGROUND,
            Self::Payment => PAYMENT,
        };
        named.iter().find(|(named, _)| *named == knob).map(|(_, value)| *value)
    }
}
