//! Decisions in plain words.

use alloc::string::String;

use crate::policy::Plan;
use crate::step::{Decision, Kind, Reason};
use crate::text::Text;

/// One plain sentence, and where an attempt failed another that says how.
pub(crate) fn explain(plan: &Plan, decision: &Decision, name: &str) -> String {
    let mut text = String::new();
    why(&mut text, plan, decision, name);
    if decision.reason != Reason::Success {
        last_attempt(&mut text, plan, decision, name);
    }
    text
}

fn why(text: &mut String, plan: &Plan, decision: &Decision, name: &str) {
    match decision.reason {
        Reason::Success => success(text, plan, decision),
        Reason::Permanent if decision.last_kind == Some(Kind::Unclassified) => {
            text.text(
                "Not retried: no rule recognises the error, so nothing says that it will pass.",
            );
        }
        Reason::Permanent => {
            _ = text.text("Not retried: a repetition would not change the answer.")
        }
        Reason::UnsafeToRetry => {
            text.text("Not retried: the request may have acted, and must not act twice.");
        }
        Reason::AttemptsExhausted if decision.attempts >= plan.max_attempts => {
            text.text("Given up: all attempts were made.");
        }
        Reason::AttemptsExhausted => {
            _ = text.text("Given up: this answer allows no further attempt.")
        }
        Reason::BudgetExhausted => budget(text, plan, decision),
        Reason::RetryAfterTooLong | Reason::DeadlineTooNear => wait(text, plan, decision, name),
        Reason::DeadlineExceeded => _ = text.text("Given up: the deadline passed."),
        Reason::CircuitOpen => circuit(text, decision, name),
        Reason::BulkheadFull => {
            _ = text.text("Refused: no permit and no place in the queue is free.")
        }
        Reason::QueueTimeout => _ = text.text("Refused: no permit came free in time."),
        Reason::Cancelled => _ = text.text("Cancelled by the caller."),
    }
}

fn success(text: &mut String, plan: &Plan, decision: &Decision) {
    text.text("Succeeded at attempt ").number(decision.attempts.into()).text(" of ");
    text.number(plan.max_attempts.into());
    if decision.total_wait > 0 {
        text.text(", after ").span(decision.total_wait).text(" s of waiting");
    }
    text.text(".");
}

fn wait(text: &mut String, plan: &Plan, decision: &Decision, name: &str) {
    if decision.reason == Reason::DeadlineTooNear {
        text.text("Not retried: the next attempt would start");
        wait_left(text, decision, " in ");
        text.text(", at or after the deadline.");
    } else {
        text.text("Not retried: ").text(name).text(" asks for a wait");
        wait_left(text, decision, " of ");
        text.text(", and ").span(plan.retry_after_max).text(" s are allowed.");
    }
}

fn circuit(text: &mut String, decision: &Decision, name: &str) {
    text.text("Refused: the circuit of ").text(name);
    if decision.forced {
        text.text(" is forced open.");
    } else {
        text.text(" is open");
        wait_left(text, decision, " for another ");
        text.text(".");
    }
}

fn budget(text: &mut String, plan: &Plan, decision: &Decision) {
    let cost = decision.last_kind.map_or(0, |kind| plan.costs.of(kind));
    text.text("Not retried: the retry budget holds ");
    text.thousandths(decision.tokens.unwrap_or(0)).text(" tokens, and a retry costs ");
    text.thousandths(cost);
    if let Some(budget) = &plan.budget {
        text.text(" (a success brings ").thousandths(budget.refill_per_success);
        text.text(", a second ").thousandths(budget.refill_per_second).text(")");
    }
    text.text(".");
}

fn wait_left(text: &mut String, decision: &Decision, before: &str) {
    if let Some(retry_at) = decision.retry_at {
        let left = retry_at.since(decision.at);
        text.text(before).span(left).text(" s");
    }
}

fn last_attempt(text: &mut String, plan: &Plan, decision: &Decision, name: &str) {
    let Some(kind) = decision.last_kind else {
        if decision.attempts == 0 {
            text.text(" No attempt was made.");
        }
        return;
    };
    text.text(" Attempt ").number(decision.attempts.into()).text(" of ");
    text.number(plan.max_attempts.into()).text(" got ");
    match (decision.last_status, kind) {
        (0, Kind::Network) => text.text("a network failure"),
        (0, Kind::Timeout) => text.text("no answer in time"),
        (0, Kind::Unclassified) => text.text("an error that no rule recognises"),
        (0, kind) => text.text("\"").text(kind.name()).text("\""),
        (status, _) => text.number(status.into()),
    };
    text.text(" from ").text(name).text(".");
}
