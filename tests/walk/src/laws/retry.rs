//! What holds of the decision to try again.

use stormproof::breaker::Scope;
use stormproof::proof::CircuitPhase;
use stormproof::step::{Circuit, Kind, Phase, Safety, Why};
use stormproof::{Outcome, Reason};

use super::{equal, holds};
use crate::circuit::{Verdict, verdict};
use crate::rules::TICK;
use crate::transition::{End, Live, Transition, live, own_delay};

/// After a failed attempt, the first reason that holds ends the call; if none does it waits.
pub fn endings(t: &Transition<'_>) -> Result<(), String> {
    let (Some(call), Some(End::Outcome(outcome))) = (t.caller(), t.end()) else { return Ok(()) };
    let due = match outcome.kind {
        Kind::Success => Some(Reason::Success),
        Kind::Cancelled => Some(Reason::Cancelled),
        Kind::Network | Kind::Timeout | Kind::Server | Kind::Throttled => {
            refusal(t, &call, &outcome)
        }
        _ => Some(Reason::Permanent),
    };
    equal("the ending", &t.decision().map(|decision| decision.reason), &due)?;
    holds(due.is_some() || t.planned().is_some(), || "neither an end nor a wait".into())
}

fn refusal(t: &Transition<'_>, call: &Live<'_>, outcome: &Outcome) -> Option<Reason> {
    let rules = t.rules();
    let asked = outcome.retry_after_ms.map(|millis| millis * 1_000_000);
    let once = is_once(outcome);
    let sent = outcome.phase == Phase::Unknown;
    let certain = !sent || once || outcome.kind == Kind::Throttled;
    let repeatable = match call.safety {
        Safety::Idempotent | Safety::Keyed => true,
        Safety::Unsafe => certain || outcome.status == 503 && asked.is_some(),
        Safety::Once => false,
    };
    if !repeatable {
        return Some(Reason::UnsafeToRetry);
    }
    let whole_calls = rules.breaker.is_some_and(|breaker| breaker.scope == Scope::Call);
    let probing = whole_calls && call.pass.is_some_and(|pass| pass.is_probe);
    if call.attempts >= rules.max_attempts || probing || once && call.retried_once {
        return Some(Reason::AttemptsExhausted);
    }
    if asked.is_some_and(|asked| asked > rules.retry_after_max * TICK) {
        return Some(Reason::RetryAfterTooLong);
    }
    let own = own_delay(rules, call.attempts, t.word());
    let wait = own.max(asked.map_or(0, |asked| asked + spread(t, call, asked)));
    let left = call.deadline.unwrap_or(u64::MAX);
    if wait >= left {
        return Some(Reason::DeadlineTooNear);
    }
    // Where whole calls count, this attempt has told the circuit nothing.
    let circuit = if whole_calls { &t.before.circuit } else { &t.after.circuit };
    match (&circuit.phase, circuit.refuses_nobody) {
        (CircuitPhase::Open { left: open }, false)
            if *open > wait && (!rules.wait_for_circuit || open + own >= left) =>
        {
            return Some(Reason::CircuitOpen);
        }
        (CircuitPhase::Forced(Circuit::ForcedOpen), _) => {
            return Some(Reason::CircuitOpen);
        }
        _ => {}
    }
    let level = t.before.tokens.filter(|_| rules.budget.is_some())?;
    (level < 1_000 * TOKEN).then_some(Reason::BudgetExhausted)
}

/// A wait is the own delay of the retry's number, or what the server asks for, or lasts until the
/// circuit may be asked and the own delay more.
pub fn delays(t: &Transition<'_>) -> Result<(), String> {
    let (Some((planned, why)), Some(call)) = (t.planned(), t.caller()) else { return Ok(()) };
    let own = own_delay(t.rules(), call.attempts, t.word());
    let due = match (why, t.end()) {
        (Why::Backoff, _) => own,
        (Why::RetryAfter, Some(End::Outcome(outcome))) => {
            let asked = outcome.retry_after_ms.ok_or("nobody asked for a wait")? * 1_000_000;
            let widest = (asked / 4).max(asked.min(1_000_000_000));
            let room = call.deadline.map_or(widest, |left| (left - 1).saturating_sub(asked));
            let spread = if t.word() == 0 { 0 } else { widest.min(room) };
            holds(asked + spread > own, || "the own delay is the longer".into())?;
            asked + spread
        }
        (Why::Circuit, _) => match &t.after.circuit.phase {
            CircuitPhase::Open { left } => left + own,
            _ => own.max(1_000_000),
        },
        _ => return Err(format!("a wait for {why}")),
    };
    equal("the wait", &planned, &due)
}

/// What a call remembers of its retries: the ceiling of their number, the last own delay, and
/// whether one of them followed a 421 or 425.
pub fn memory(t: &Transition<'_>) -> Result<(), String> {
    let (Some(_), Some(before), Some(step)) = (t.planned(), t.caller(), t.step) else {
        return Ok(());
    };
    let call = t.world.call(step.call).ok_or("a call that waits is gone")?;
    let after = live(&call).ok_or("a call that waits was left behind")?;
    let own = |word| own_delay(t.rules(), before.attempts, word);
    equal("the growth", &after.growth, &(own(u64::MAX), own(t.word()), true))?;
    let once = match t.end() {
        Some(End::Outcome(outcome)) => is_once(&outcome),
        _ => false,
    };
    equal("retried once", &after.retried_once, &(before.retried_once || once))
}

fn is_once(outcome: &Outcome) -> bool {
    matches!((outcome.kind, outcome.status), (Kind::Server, 421 | 425))
}

fn spread(t: &Transition<'_>, call: &Live<'_>, asked: u64) -> u64 {
    let widest = (asked / 4).max(asked.min(1_000_000_000));
    let room = call.deadline.map_or(widest, |left| left.saturating_sub(1).saturating_sub(asked));
    if t.word() == 0 { 0 } else { widest.min(room) }
}

/// A token is taken with the retry, comes back if the retry is not sent or its answer shows life;
/// successes and time refill.
pub fn tokens(t: &Transition<'_>) -> Result<(), String> {
    let (Some(rules), Some(mut due)) = (&t.rules().budget, t.before.tokens) else { return Ok(()) };
    let capacity = rules.capacity * TOKEN;
    let add = |due: &mut u64, tokens: u64| *due = (*due + tokens).min(capacity);
    add(&mut due, t.span * rules.per_second);
    let token = t.caller().and_then(|call| call.token);
    if let (Some(End::Outcome(outcome)), Some(_)) = (t.end(), t.caller()) {
        let alive = verdict(&outcome) == Verdict::Healthy;
        if let Some((cost, true)) = token
            && alive
        {
            add(&mut due, cost * TOKEN);
        }
        if outcome.kind == Kind::Success {
            add(&mut due, rules.per_success * TOKEN);
        }
        if t.planned().is_some() {
            holds(due >= 1_000 * TOKEN, || format!("a retry with {due} left"))?;
            due -= 1_000 * TOKEN;
        }
        let empty = t.decision().is_some_and(|d| d.reason == Reason::BudgetExhausted);
        holds(!empty || due < 1_000 * TOKEN, || format!("{due} is enough for a retry"))?;
    } else if let (Some((cost, false)), Some(_)) = (token, t.decision()) {
        add(&mut due, cost * TOKEN);
    }
    equal("the budget", &t.after.tokens, &Some(due))
}

/// A thousandth of a token.
const TOKEN: u64 = 1_000_000_000;
