//! `docs/policy.md`: a document, and what it comes to.

use std::fmt;

use stormproof::policy::{Given, Section};
use stormproof::{Policy, Preset};

use crate::time::{CENTURY, MILLISECOND, SECOND, Time};

/// What stands at a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// `null`
    Null,
    /// `true`, `false`
    Flag(bool),
    /// A whole number.
    Count(u32),
    /// A duration in nanoseconds.
    Nanos(u64),
    /// A number in thousandths.
    Thousandths(u64),
    /// A name or a text.
    Name(&'static str),
}

/// A policy document: a preset, sections that are `false`, and fields.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// The name of a preset, `""` for none.
    pub preset: &'static str,
    /// `retry`, `breaker`, `budget`, `bulkhead`.
    pub off: Vec<&'static str>,
    /// The fields by their paths.
    pub fields: Vec<(&'static str, Value)>,
}

impl Document {
    /// The same for the core.
    pub fn policy(&self) -> Policy {
        let mut policy = Policy::new();
        if let Some(preset) = Preset::ALL.iter().find(|preset| preset.name() == self.preset) {
            policy = policy.preset(*preset);
        }
        for section in Section::ALL {
            if self.off.contains(&section.path()) {
                policy = policy.without(*section);
            }
        }
        for (path, value) in &self.fields {
            policy.set(
                path,
                match *value {
                    Value::Null => Given::Null,
                    Value::Flag(flag) => Given::Flag(flag),
                    Value::Count(count) => Given::Number(f64::from(count)),
                    Value::Nanos(nanos) => Given::Number(nanos as f64 / 1e6),
                    Value::Thousandths(number) => Given::Number(number as f64 / 1e3),
                    Value::Name(name) => Given::Text(name),
                },
            );
        }
        policy
    }
}

impl fmt::Display for Document {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "Document {{ preset: {:?}, off: vec!{:?}, fields: vec![",
            self.preset, self.off
        )?;
        for (path, value) in &self.fields {
            write!(out, "({path:?}, Value::{value:?}), ")?;
        }
        write!(out, "] }}")
    }
}

/// B2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Jitter {
    None,
    Full,
    Equal,
    Decorrelated,
}

/// C3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Unsafe {
    Never,
    Certain,
    Always,
}

/// What holds in the end. Spans in nanoseconds, tokens and factors in thousandths.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Settings {
    pub max_attempts: u32,
    pub base: Time,
    pub cap: Time,
    pub factor: u64,
    pub jitter: Jitter,
    pub min_delay: Time,
    pub wait_for_circuit: bool,
    pub unsafe_calls: Unsafe,
    pub retry_after_max: Time,
    pub combine_max: bool,
    pub window: Time,
    pub failure_rate: Option<u64>,
    pub minimum_calls: u32,
    pub no_success_failures: Option<u32>,
    pub failure_threshold: Option<u32>,
    pub consecutive_failures: Option<u32>,
    pub slow_call_rate: Option<u64>,
    pub slow_call_duration: Option<Time>,
    pub open_duration: Time,
    pub open_jitter: bool,
    pub open_growth: u64,
    pub open_cap: Option<Time>,
    pub honor_retry_after: bool,
    pub probes: u32,
    pub success_threshold: u32,
    pub probe_lease: Option<Time>,
    pub count_429: bool,
    pub count_deadline: bool,
    pub scope_call: bool,
    /// G1: `None` is `auto`.
    pub capacity: Option<u64>,
    pub initial: Option<u64>,
    pub cost: u64,
    pub cost_network: Option<u64>,
    pub cost_timeout: Option<u64>,
    pub cost_server: Option<u64>,
    pub cost_throttled: Option<u64>,
    pub refill_per_success: u64,
    pub refill_per_second: u64,
    pub budget_on: bool,
    pub max_concurrent: Option<u32>,
    pub max_queue: u32,
    pub queue_timeout: Option<Time>,
    pub release_at_timeout: bool,
    pub abandoned_lease: Time,
    pub attempt_timeout: Option<Time>,
    pub overall_timeout: Option<Time>,
    pub max_calls: u32,
}

const RULES: [&str; 5] = [
    "breaker.failureRate",
    "breaker.noSuccessFailures",
    "breaker.failureThreshold",
    "breaker.consecutiveFailures",
    "breaker.slowCallRate",
];

impl Settings {
    /// The figures of the table, over them those of the preset, over them those of the document.
    pub fn of(document: &Document) -> Self {
        let mut settings = Self::table();
        settings.name_fields(&preset(document.preset));
        settings.name_fields(&document.fields);
        for section in &document.off {
            match *section {
                "retry" => settings.max_attempts = 1,
                "breaker" => settings.switch_rules_off(),
                "budget" => settings.budget_on = false,
                _ => settings.max_concurrent = None,
            }
        }
        settings
    }

    fn table() -> Self {
        let ms = |millis: Time| millis * MILLISECOND;
        Self {
            max_attempts: 4,
            base: ms(100),
            cap: ms(20_000),
            factor: 2_000,
            jitter: Jitter::Full,
            min_delay: 0,
            wait_for_circuit: false,
            unsafe_calls: Unsafe::Certain,
            retry_after_max: 60 * SECOND,
            combine_max: false,
            window: 10 * SECOND,
            failure_rate: Some(800),
            minimum_calls: 20,
            no_success_failures: Some(5),
            failure_threshold: None,
            consecutive_failures: None,
            slow_call_rate: None,
            slow_call_duration: None,
            open_duration: 5 * SECOND,
            open_jitter: true,
            open_growth: 1_000,
            open_cap: None,
            honor_retry_after: true,
            probes: 1,
            success_threshold: 2,
            probe_lease: None,
            count_429: false,
            count_deadline: true,
            scope_call: false,
            capacity: None,
            initial: None,
            cost: 1_000,
            cost_network: None,
            cost_timeout: None,
            cost_server: None,
            cost_throttled: None,
            refill_per_success: 100,
            refill_per_second: 10,
            budget_on: true,
            max_concurrent: None,
            max_queue: 100,
            queue_timeout: None,
            release_at_timeout: false,
            abandoned_lease: 60 * SECOND,
            attempt_timeout: Some(10 * SECOND),
            overall_timeout: Some(30 * SECOND),
            max_calls: 1 << 20,
        }
    }

    fn switch_rules_off(&mut self) {
        self.failure_rate = None;
        self.no_success_failures = None;
        self.failure_threshold = None;
        self.consecutive_failures = None;
        self.slow_call_rate = None;
    }

    /// Section 16: a value at any rule switches off those that nobody named.
    fn name_fields(&mut self, fields: &[(&'static str, Value)]) {
        if fields.iter().any(|(path, value)| RULES.contains(path) && *value != Value::Null) {
            self.switch_rules_off();
        }
        for (path, value) in fields {
            self.put(path, *value);
        }
    }

    fn put(&mut self, path: &str, value: Value) {
        let flag = value == Value::Flag(true);
        let number = match value {
            Value::Count(count) => Some(u64::from(count)),
            Value::Nanos(number) | Value::Thousandths(number) => Some(number),
            _ => None,
        };
        let whole = number.map(|number| number as u32);
        let span = number.map(Time::from);
        match path {
            "retry.maxAttempts" => self.max_attempts = whole.unwrap_or(1),
            "retry.baseMs" => self.base = span.unwrap_or(0),
            "retry.capMs" => self.cap = span.unwrap_or(CENTURY),
            "retry.factor" => self.factor = number.unwrap_or(0),
            "retry.jitter" => {
                self.jitter = match value {
                    Value::Name("none") => Jitter::None,
                    Value::Name("full") => Jitter::Full,
                    Value::Name("equal") => Jitter::Equal,
                    _ => Jitter::Decorrelated,
                }
            }
            "retry.minDelayMs" => self.min_delay = span.unwrap_or(0),
            "retry.waitForCircuit" => self.wait_for_circuit = flag,
            "retry.unsafe" => {
                self.unsafe_calls = match value {
                    Value::Name("never") => Unsafe::Never,
                    Value::Name("certain") => Unsafe::Certain,
                    _ => Unsafe::Always,
                }
            }
            "retryAfter.maxMs" => self.retry_after_max = span.unwrap_or(0),
            "retryAfter.combine" => self.combine_max = value == Value::Name("max"),
            "breaker.rollingWindowMs" => self.window = span.unwrap_or(0),
            "breaker.failureRate" => self.failure_rate = number,
            "breaker.minimumCalls" => self.minimum_calls = whole.unwrap_or(0),
            "breaker.noSuccessFailures" => self.no_success_failures = whole,
            "breaker.failureThreshold" => self.failure_threshold = whole,
            "breaker.consecutiveFailures" => self.consecutive_failures = whole,
            "breaker.slowCallRate" => self.slow_call_rate = number,
            "breaker.slowCallDurationMs" => self.slow_call_duration = span,
            "breaker.openDurationMs" => self.open_duration = span.unwrap_or(0),
            "breaker.openJitter" => self.open_jitter = flag,
            "breaker.openGrowth" => self.open_growth = number.unwrap_or(0),
            "breaker.openCapMs" => self.open_cap = span,
            "breaker.honorRetryAfter" => self.honor_retry_after = flag,
            "breaker.probes" => self.probes = whole.unwrap_or(0),
            "breaker.successThreshold" => self.success_threshold = whole.unwrap_or(0),
            "breaker.probeLeaseMs" => self.probe_lease = span,
            "breaker.count429" => self.count_429 = flag,
            "breaker.countDeadline" => self.count_deadline = flag,
            "breaker.scope" => self.scope_call = value == Value::Name("call"),
            "budget.capacity" => self.capacity = number,
            "budget.initial" => self.initial = number,
            "budget.cost" => self.cost = number.unwrap_or(0),
            "budget.costNetwork" => self.cost_network = number,
            "budget.costTimeout" => self.cost_timeout = number,
            "budget.costServer" => self.cost_server = number,
            "budget.costThrottled" => self.cost_throttled = number,
            "budget.refillPerSuccess" => self.refill_per_success = number.unwrap_or(0),
            "budget.refillPerSecond" => self.refill_per_second = number.unwrap_or(0),
            "bulkhead.maxConcurrent" => self.max_concurrent = whole,
            "bulkhead.maxQueue" => self.max_queue = whole.unwrap_or(0),
            "bulkhead.queueTimeoutMs" => self.queue_timeout = span,
            "bulkhead.release" => self.release_at_timeout = value == Value::Name("timeout"),
            "bulkhead.abandonedLeaseMs" => self.abandoned_lease = span.unwrap_or(0),
            "attemptTimeoutMs" => self.attempt_timeout = span,
            "overallTimeoutMs" => self.overall_timeout = span,
            "maxCalls" => self.max_calls = whole.unwrap_or(1 << 20),
            // What a host does with its requests; no decision of the engine.
            "safety"
            | "name"
            | "idempotency.auto"
            | "idempotency.form"
            | "idempotency.header"
            | "propagate.timeLeftHeader"
            | "propagate.attemptHeader" => {}
            _ => panic!("`{path}` is no field of docs/policy.md"),
        }
    }

    /// K3: how long a probe holds its slot.
    pub fn lease(&self) -> Time {
        match (self.probe_lease, self.attempt_timeout) {
            (Some(lease), _) => lease,
            (None, Some(timeout)) if self.open_growth > 1_000 => self.open_duration.max(timeout),
            _ => self.open_duration,
        }
    }
}

/// Section 14 and `docs/policy.md`.
fn preset(name: &str) -> Vec<(&'static str, Value)> {
    use Value::{Count, Flag, Name, Thousandths};
    let ms = |millis: u64| Value::Nanos(millis * 1_000_000);
    match name {
        "article" => vec![
            ("retry.maxAttempts", Count(4)),
            ("retry.baseMs", ms(100)),
            ("retry.capMs", ms(20_000)),
            ("retryAfter.combine", Name("max")),
            ("breaker.rollingWindowMs", ms(10_000)),
            ("breaker.failureThreshold", Count(5)),
            ("breaker.openDurationMs", ms(30_000)),
            ("breaker.openJitter", Flag(false)),
            ("breaker.honorRetryAfter", Flag(false)),
            ("breaker.successThreshold", Count(2)),
            ("breaker.count429", Flag(true)),
            ("budget.capacity", Thousandths(100_000)),
            ("budget.refillPerSuccess", Thousandths(1_000)),
            ("budget.refillPerSecond", Thousandths(0)),
            ("bulkhead.maxConcurrent", Count(10)),
            ("attemptTimeoutMs", ms(5_000)),
            ("overallTimeoutMs", ms(15_000)),
        ],
        "ephemeral" => vec![
            ("breaker.failureRate", Thousandths(800)),
            ("breaker.noSuccessFailures", Count(3)),
            ("budget.initial", Thousandths(1_000)),
        ],
        "interactive" => vec![
            ("retry.maxAttempts", Count(3)),
            ("retry.baseMs", ms(50)),
            ("retry.capMs", ms(500)),
            ("attemptTimeoutMs", ms(1_000)),
            ("overallTimeoutMs", ms(3_000)),
        ],
        "background" => vec![
            ("retry.maxAttempts", Count(8)),
            ("retry.baseMs", ms(1_000)),
            ("retry.capMs", ms(60_000)),
            ("retry.waitForCircuit", Flag(true)),
            ("retryAfter.maxMs", ms(300_000)),
            ("budget.capacity", Thousandths(10_000)),
            ("attemptTimeoutMs", ms(30_000)),
            ("overallTimeoutMs", ms(600_000)),
        ],
        "payment" => vec![
            ("retry.baseMs", ms(200)),
            ("retry.capMs", ms(5_000)),
            ("retry.unsafe", Name("never")),
            ("bulkhead.maxConcurrent", Count(10)),
            ("bulkhead.maxQueue", Count(20)),
            ("bulkhead.queueTimeoutMs", ms(2_000)),
            ("attemptTimeoutMs", ms(5_000)),
            ("overallTimeoutMs", ms(15_000)),
            ("safety", Name("unsafe")),
        ],
        _ => Vec::new(),
    }
}
