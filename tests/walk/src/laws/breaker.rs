//! What holds of the circuit.

use stormproof::Outcome;
use stormproof::breaker::Scope;
use stormproof::proof::{CircuitPhase, CircuitState};
use stormproof::step::Kind;

use super::{equal, holds, lives};
use crate::circuit;
use crate::rules::TICK;
use crate::transition::{End, Transition};

/// Attempts in flight whose leases run are at most `probes`, and hold exactly the probe slots.
pub fn probes(t: &Transition<'_>) -> Result<(), String> {
    let (Some(rules), CircuitPhase::HalfOpen { leases, .. }) =
        (&t.rules().breaker, &t.after.circuit.phase)
    else {
        return Ok(());
    };
    let mut held: Vec<u64> = lives(t.after)
        .filter_map(|call| call.pass)
        .filter(|pass| pass.is_current && pass.lease > 0)
        .map(|pass| pass.lease)
        .collect();
    held.sort_unstable();
    let mut leases = leases.clone();
    leases.sort_unstable();
    equal("the leases", &leases, &held)?;
    holds(held.len() <= rules.probes as usize, || format!("{} probes run", held.len()))
}

/// Open-until never moves while the circuit is open.
pub fn open_time(t: &Transition<'_>) -> Result<(), String> {
    match (&t.before.circuit.phase, &t.after.circuit.phase) {
        (CircuitPhase::Open { left: before }, CircuitPhase::Open { left: after }) => {
            equal("the time left", after, &before.saturating_sub(t.span))
        }
        _ => Ok(()),
    }
}

/// The circuit becomes what the rules make of it.
pub fn circuit(t: &Transition<'_>) -> Result<(), String> {
    let Some(rules) = &t.rules().breaker else { return Ok(()) };
    let mut due = circuit::aged(rules, &t.before.circuit, t.span);
    if let Some(control) = t.control() {
        due = circuit::ordered(rules, control);
    }
    if let (Some(call), Some(outcome)) = (t.caller(), report(t))
        && let Some(pass) = call.pass
    {
        let asked_max = t.rules().retry_after_max * TICK;
        due = circuit::reported(rules, &due, pass, &outcome, asked_max, t.word());
    }
    let goes_on = rules.scope == Scope::Call
        && t.caller().and_then(|call| call.pass).is_some_and(|pass| pass.is_current);
    if t.is_attempt() && !goes_on {
        due = circuit::admitted(rules, &due);
    }
    equal("the circuit", &t.after.circuit, &due)?;
    let said = t.step.and_then(|step| step.circuit).is_some();
    let changed = |circuit: &CircuitState| std::mem::discriminant(&circuit.phase);
    let (before, after) = (changed(&t.before.circuit), changed(&t.after.circuit));
    holds(said || before == after || t.control().is_some(), || "a change is not told".into())
}

/// What the circuit hears of the move.
fn report(t: &Transition<'_>) -> Option<Outcome> {
    let scope = t.rules().breaker.as_ref()?.scope;
    let neutral = Outcome::of(Kind::Cancelled);
    let own_error = t.decision().is_some_and(|decision| decision.is_own_error());
    match (t.end(), scope) {
        (Some(End::Deadline), _) => Some(Outcome::of(Kind::Timeout)),
        (Some(End::Cancelled), _) => Some(neutral),
        (Some(End::Outcome(outcome)), Scope::Attempt) => Some(outcome),
        (Some(End::Outcome(_)), Scope::Call) if own_error => Some(neutral),
        (Some(End::Outcome(outcome)), Scope::Call) => t.decision().map(|_| outcome),
        (None, Scope::Call) => t.decision().map(|_| neutral),
        (None, Scope::Attempt) => None,
    }
}
