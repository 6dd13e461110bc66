//! What a step or a snapshot should be, field by field.

use serde_json::{Value as Json, json};
use stormproof::step::{Kind, Why};
use stormproof::time::Instant;
use stormproof::{Action, CallId, Decision, Snapshot, Step};

use crate::calls::Calls;
use crate::run::instant;
use crate::suite::Faults;
use crate::trail;

/// What came out: a value that compares as it is, or nanoseconds that are written as milliseconds.
enum Got {
    Plain(Json),
    Nanos(Option<u64>),
    /// The step has no such field.
    Nothing,
}

use Got::{Nanos, Nothing, Plain};

fn at(instant: Option<Instant>) -> Got {
    Nanos(instant.map(Instant::as_nanos))
}

fn plain(value: impl Into<Json>) -> Got {
    Plain(value.into())
}

fn tokens(thousandths: Option<u64>) -> Got {
    Plain(thousandths.map_or(Json::Null, |tokens| json!(tokens as f64 / 1000.0)))
}

/// Compares the fields that are expected with those that are there.
fn compare(expected: &Json, got: impl Fn(&str) -> Got) -> Faults {
    let mut faults = Faults::new();
    for (field, want) in expected.as_object().into_iter().flatten() {
        let (same, found) = match got(field) {
            Plain(found) => (equal(want, &found), found.to_string()),
            Nanos(found) => {
                let want = instant(want).ok().map(Instant::as_nanos);
                let millis = |nanos| format!("{}", nanos as f64 / 1e6);
                (want == found, found.map_or("null".into(), millis))
            }
            Nothing => (false, "no such field".into()),
        };
        if !same {
            faults.push(format!("{field}: expected {want}, got {found}"));
        }
    }
    faults
}

/// 1 and 1.0 are the same number.
fn equal(want: &Json, found: &Json) -> bool {
    match (want.as_f64(), found.as_f64()) {
        (Some(want), Some(found)) => want == found,
        _ => want == found,
    }
}

pub fn step(step: Option<&Step>, named: CallId, calls: &Calls, expected: &Json) -> Faults {
    let Some(step) = step else {
        return compare(expected, |field| match field {
            "action" => plain("none"),
            _ => Nothing,
        });
    };
    let (mut until, mut number, mut why, mut late, mut end) = (Nothing, None, None, None, None);
    match &step.action {
        Action::Attempt { until: cut, number: n } => (until, number) = (at(*cut), Some(*n)),
        Action::Wait { until: end, why: cause, .. } => (until, why) = (at(*end), Some(cause)),
        Action::Queue { until: end } => until = at(*end),
        Action::Finish(decision) => end = Some(decision),
        Action::Stale { late: it } => late = Some(*it),
    }
    let mut faults = compare(expected, |field| match field {
        "action" => plain(trail::name(&step.action)),
        "until" => match until {
            Nanos(until) => Nanos(until),
            _ => Nothing,
        },
        "number" => number.map_or(Nothing, plain),
        "why" => why.map_or(Nothing, |why: &Why| plain(why.name())),
        "late" => late.map_or(Nothing, plain),
        "poll_at" => at(step.poll_at),
        "circuit" => Plain(step.circuit.map_or(Json::Null, |change| {
            json!([change.from.name(), change.to.name(), change.cause.name()])
        })),
        "call" => plain(calls.name_of(step.call).unwrap_or("nobody")),
        "same_id" => plain(step.call == named),
        _ => end.map_or(Nothing, |decision| decided(decision, field)),
    });
    if !faults.is_empty() {
        faults.push(format!("the whole step: {step:?}"));
    }
    faults
}

fn decided(decision: &Decision, field: &str) -> Got {
    match field {
        "reason" => plain(decision.reason.name()),
        "own_error" => plain(decision.is_own_error()),
        "attempts" => plain(decision.attempts),
        "last_kind" => plain(decision.last_kind.map(Kind::name)),
        "last_status" => plain(decision.last_status),
        "retry_at" => at(decision.retry_at),
        "forced" => plain(decision.forced),
        "total_wait" => Nanos(Some(decision.total_wait)),
        "tokens" => tokens(decision.tokens),
        _ => Nothing,
    }
}

pub fn snapshot(snapshot: &Snapshot, expected: &Json) -> Faults {
    let counters = &snapshot.counters;
    let by_kind = |counts: &[u64], field: &str| {
        let named = expected[field].as_object().into_iter().flatten();
        Plain(
            named
                .map(|(name, _)| {
                    let kind = Kind::NAMES.iter().position(|known| known == name);
                    (name.clone(), json!(kind.map(|kind| counts[kind])))
                })
                .collect(),
        )
    };
    compare(expected, |field| match field {
        "circuit" => plain(snapshot.circuit.name()),
        "open_until" => at(snapshot.open_until),
        "tokens" => tokens(snapshot.tokens),
        "capacity" => tokens(snapshot.capacity),
        "running" => plain(snapshot.running),
        "queued" => plain(snapshot.queued),
        "abandoned" => plain(snapshot.abandoned),
        "calls" => plain(counters.calls),
        "attempts" => plain(counters.attempts),
        "retries" => plain(counters.retries),
        "successes" => plain(counters.successes),
        "retry_after_adopted" => plain(counters.retry_after_adopted),
        "total_wait" => Nanos(Some(counters.total_wait)),
        "late_results" => plain(counters.late_results),
        "failures" => by_kind(&counters.failures, field),
        "refusals" => by_kind(&counters.refusals, field),
        _ => Nothing,
    })
}
