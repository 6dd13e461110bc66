//! A hash over every step that an engine took.

use stormproof::time::Instant;
use stormproof::{Action, Decision, Step};

/// FNV-1a, 64 bits.
pub struct Trail(u64);

impl Default for Trail {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Trail {
    pub fn hash(&self) -> u64 {
        self.0
    }

    /// Adds what the engine answered; `None` is the nothing of a poll.
    pub fn add(&mut self, step: Option<&Step>) {
        let line = step.map_or_else(|| "none".into(), line);
        for byte in line.bytes().chain([b'\n']) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

fn line(step: &Step) -> String {
    let (until, detail, decision) = match &step.action {
        Action::Attempt { until, number } => (*until, number.to_string(), "-".into()),
        Action::Wait { until, why, .. } => (*until, why.name().to_owned(), "-".into()),
        Action::Queue { until } => (*until, "-".into(), "-".into()),
        Action::Finish(ended) => (None, "-".into(), decision(ended)),
        Action::Stale { late } => (None, u8::from(*late).to_string(), "-".into()),
    };
    let change = step.circuit.map_or_else(
        || "-".into(),
        |change| {
            let (from, to) = (change.from.name(), change.to.name());
            format!("{from}>{to}:{}", change.cause.name())
        },
    );
    format!(
        "{} {} {} {} {} {detail} {change} {decision}",
        name(&step.action),
        step.call.to_bits(),
        step.previous.to_bits(),
        instant(step.poll_at),
        instant(until),
    )
}

fn decision(ended: &Decision) -> String {
    let or_dash = |value: Option<u64>| value.map_or_else(|| "-".into(), |value| value.to_string());
    format!(
        "{},{},{},{},{},{},{},{}",
        ended.reason.name(),
        ended.attempts,
        ended.last_kind.map_or("-", |kind| kind.name()),
        ended.last_status,
        instant(ended.retry_at),
        u8::from(ended.forced),
        ended.total_wait,
        or_dash(ended.tokens),
    )
}

fn instant(instant: Option<Instant>) -> String {
    instant.map_or_else(|| "-".into(), |instant| instant.as_nanos().to_string())
}

/// What an action is called in the vectors.
pub fn name(action: &Action) -> &'static str {
    match action {
        Action::Attempt { .. } => "attempt",
        Action::Wait { .. } => "wait",
        Action::Queue { .. } => "queue",
        Action::Finish(_) => "finish",
        Action::Stale { .. } => "stale",
    }
}
