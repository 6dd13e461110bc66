//! Random policies: every field of `docs/policy.md`, with common and extreme values.

use stormproof_model::Value::{Count, Flag, Name, Nanos, Null, Thousandths};
use stormproof_model::settings::Jitter;
use stormproof_model::time::CENTURY;
use stormproof_model::{Document, Settings, Value};

const fn ms(millis: u64) -> Value {
    Nanos(millis * 1_000_000)
}

const AGE: Value = Nanos(CENTURY as u64);
const ON: Value = Flag(true);
const OFF: Value = Flag(false);

/// A field and what may stand there; what shrinks best comes first.
type Field = (&'static str, &'static [Value]);

#[rustfmt::skip]
const FIELDS: &[Field] = &[
    ("retry.maxAttempts", &[Count(4), Count(1), Count(2), Count(3), Count(10), Count(1_000_000)]),
    ("retry.baseMs", &[ms(100), Nanos(0), Nanos(1), Nanos(7), ms(1), ms(1_000), AGE]),
    ("retry.capMs", &[ms(20_000), ms(150), ms(100), Nanos(1), ms(1_000), AGE, Null]),
    ("retry.factor", &[Thousandths(2_000), Thousandths(1_000), Thousandths(1_001), Thousandths(1_500), Thousandths(10_000), Thousandths(1_000_000)]),
    ("retry.jitter", &[Name("none"), Name("full"), Name("equal"), Name("decorrelated")]),
    ("retry.minDelayMs", &[Nanos(0), Nanos(1), ms(50), ms(150)]),
    ("retry.waitForCircuit", &[ON, OFF]),
    ("retry.unsafe", &[Name("certain"), Name("never"), Name("always")]),
    ("retryAfter.maxMs", &[ms(60_000), Nanos(0), ms(1), ms(2_000), AGE]),
    ("retryAfter.combine", &[Name("max"), Name("spread")]),
    ("breaker.rollingWindowMs", &[ms(10_000), Nanos(1_000), Nanos(1_009), ms(100), ms(1_000), AGE]),
    ("breaker.failureRate", &[Thousandths(500), Thousandths(1), Thousandths(334), Thousandths(800), Thousandths(1_000), Null]),
    ("breaker.minimumCalls", &[Count(2), Count(1), Count(3), Count(5), Count(20), Count(1_000_000)]),
    ("breaker.noSuccessFailures", &[Count(2), Count(1), Count(3), Count(1_000_000), Null]),
    ("breaker.failureThreshold", &[Count(1), Count(2), Count(3), Count(5), Count(1_024), Null]),
    ("breaker.consecutiveFailures", &[Count(1), Count(2), Count(3), Count(1_000_000), Null]),
    ("breaker.slowCallRate", &[Thousandths(500), Thousandths(1), Thousandths(1_000), Null]),
    ("breaker.slowCallDurationMs", &[ms(100), Nanos(1), ms(1_000), AGE, Null]),
    ("breaker.openDurationMs", &[ms(1_000), Nanos(1), Nanos(3), ms(1), ms(100), ms(5_000), AGE]),
    ("breaker.openJitter", &[OFF, ON]),
    ("breaker.openGrowth", &[Thousandths(2_000), Thousandths(1_000), Thousandths(1_500), Thousandths(1_000_000)]),
    ("breaker.openCapMs", &[ms(3_000), Nanos(1), ms(1_000), ms(100_000), AGE, Null]),
    ("breaker.honorRetryAfter", &[OFF, ON]),
    ("breaker.probes", &[Count(1), Count(2), Count(3), Count(1_000)]),
    ("breaker.successThreshold", &[Count(1), Count(2), Count(3), Count(1_000_000)]),
    ("breaker.probeLeaseMs", &[ms(100), Nanos(1), ms(1_000), AGE, Null]),
    ("breaker.count429", &[ON, OFF]),
    ("breaker.countDeadline", &[OFF, ON]),
    ("breaker.scope", &[Name("call"), Name("attempt")]),
    ("budget.capacity", &[Thousandths(1_000), Thousandths(0), Thousandths(1), Thousandths(2_500), Thousandths(100_000), Thousandths(1_000_000_000), Name("auto")]),
    ("budget.initial", &[Thousandths(0), Thousandths(1), Thousandths(1_000), Thousandths(7_000), Null]),
    ("budget.cost", &[Thousandths(1_000), Thousandths(0), Thousandths(1), Thousandths(3_000), Thousandths(1_000_000_000)]),
    ("budget.costNetwork", &[Thousandths(500), Thousandths(0), Null]),
    ("budget.costTimeout", &[Thousandths(2_000), Thousandths(0), Null]),
    ("budget.costServer", &[Thousandths(1_500), Thousandths(0), Null]),
    ("budget.costThrottled", &[Thousandths(300), Thousandths(0), Null]),
    ("budget.refillPerSuccess", &[Thousandths(100), Thousandths(0), Thousandths(1), Thousandths(1_000), Thousandths(1_000_000_000)]),
    ("budget.refillPerSecond", &[Thousandths(10), Thousandths(0), Thousandths(1), Thousandths(1_000), Thousandths(1_000_000_000)]),
    ("bulkhead.maxConcurrent", &[Count(1), Count(2), Count(3), Count(1_000_000), Null]),
    ("bulkhead.maxQueue", &[Count(1), Count(0), Count(2), Count(3), Count(1_000_000)]),
    ("bulkhead.queueTimeoutMs", &[ms(100), Nanos(1), ms(1_000), AGE, Null]),
    ("bulkhead.release", &[Name("timeout"), Name("settled")]),
    ("bulkhead.abandonedLeaseMs", &[ms(500), Nanos(1), ms(50), AGE]),
    ("attemptTimeoutMs", &[ms(100), Nanos(1), ms(1_000), AGE, Null]),
    ("overallTimeoutMs", &[ms(1_000), Nanos(1), ms(250), AGE, Null]),
    ("safety", &[Name("unsafe"), Name("once"), Name("keyed")]),
    ("maxCalls", &[Count(1), Count(2), Count(3), Count(4), Null]),
    ("idempotency.auto", &[ON, OFF]),
    ("idempotency.form", &[Name("ietf"), Name("raw")]),
    ("idempotency.header", &[Name("X-Key")]),
    ("propagate.timeLeftHeader", &[Name("X-Left"), Null]),
    ("propagate.attemptHeader", &[Name("X-Attempt"), Null]),
    ("name", &[Name("payments")]),
];

/// Fields that lead somewhere together.
const THEMES: &[&[&str]] = &[
    &[],
    &["breaker.failureThreshold", "breaker.openDurationMs"],
    &["bulkhead.maxConcurrent", "attemptTimeoutMs"],
    &["budget.capacity", "budget.refillPerSuccess"],
    &[
        "breaker.failureThreshold",
        "breaker.openDurationMs",
        "breaker.probes",
        "breaker.successThreshold",
        "breaker.probeLeaseMs",
    ],
    &["breaker.failureThreshold", "breaker.openDurationMs", "breaker.scope", "retry.baseMs"],
    &[
        "breaker.noSuccessFailures",
        "breaker.openDurationMs",
        "bulkhead.maxConcurrent",
        "retry.waitForCircuit",
        "retry.baseMs",
    ],
    &["breaker.failureRate", "breaker.minimumCalls", "breaker.rollingWindowMs"],
    &[
        "breaker.consecutiveFailures",
        "breaker.openDurationMs",
        "breaker.openGrowth",
        "breaker.openCapMs",
    ],
    &[
        "breaker.slowCallRate",
        "breaker.slowCallDurationMs",
        "breaker.minimumCalls",
        "breaker.probes",
    ],
    &[
        "bulkhead.maxConcurrent",
        "bulkhead.maxQueue",
        "bulkhead.queueTimeoutMs",
        "bulkhead.abandonedLeaseMs",
        "maxCalls",
    ],
    &["retry.jitter", "retry.baseMs", "retry.capMs", "retry.factor", "retry.maxAttempts"],
];

const PRESETS: [&str; 6] = ["", "article", "ephemeral", "interactive", "background", "payment"];
const SECTIONS: [&str; 4] = ["retry", "breaker", "budget", "bulkhead"];

/// Numbers that choose a policy; 0 is the plainest.
pub type Choice = (u8, u8, u8, Vec<(u8, u8)>);

/// The policy that the numbers choose.
pub fn document((preset, theme, off, fields): &Choice) -> Document {
    let mut document = Document::default();
    if *preset >= 128 {
        document.preset = PRESETS[usize::from(*preset) % PRESETS.len()];
    }
    if *off >= 160 {
        let bits = off % 16;
        document.off = (0..4).filter(|bit| bits & 1 << bit != 0).map(|bit| SECTIONS[bit]).collect();
    }
    let theme = THEMES[usize::from(*theme) % THEMES.len()];
    for (place, (_, value)) in theme.iter().zip(fields) {
        let field = FIELDS.iter().find(|(path, _)| path == place).expect("a theme names fields");
        put(&mut document, field, *value);
    }
    for (field, value) in fields.iter().skip(theme.len()) {
        put(&mut document, &FIELDS[usize::from(*field) % FIELDS.len()], *value);
    }
    without_contradictions(&mut document);
    document
}

fn put(document: &mut Document, (path, values): &Field, value: u8) {
    if document
        .off
        .iter()
        .any(|section| path.strip_prefix(section).is_some_and(|rest| rest.starts_with('.')))
    {
        return;
    }
    remove(document, path);
    document.fields.push((path, values[usize::from(value) % values.len()]));
}

fn remove(document: &mut Document, path: &str) {
    document.fields.retain(|(other, _)| *other != path);
}

/// What `docs/policy.md` calls a contradiction gives way.
fn without_contradictions(document: &mut Document) {
    let settings = Settings::of(document);
    if settings.cap < settings.base {
        remove(document, "retry.capMs");
        document.fields.push(("retry.capMs", AGE));
    }
    let settings = Settings::of(document);
    if settings.min_delay > settings.cap || settings.jitter != Jitter::Full {
        remove(document, "retry.minDelayMs");
    }
    if settings.slow_call_rate.is_some() && settings.slow_call_duration.is_none() {
        remove(document, "breaker.slowCallDurationMs");
        document.fields.push(("breaker.slowCallDurationMs", ms(100)));
    }
    if settings.open_cap.is_some_and(|cap| cap < settings.open_duration) {
        remove(document, "breaker.openCapMs");
    }
    let initial = settings.initial.unwrap_or(0);
    if settings.capacity.is_some_and(|capacity| capacity < initial) {
        remove(document, "budget.initial");
        let preset = Settings::of(document).initial.unwrap_or(0);
        if settings.capacity.is_some_and(|capacity| capacity < preset) {
            document.fields.push(("budget.initial", Null));
        }
    }
}
