//! What holds of a call on its way.

use stormproof::proof::StageState;
use stormproof::step::Why;
use stormproof::{Action, Reason};

use super::bulkhead::ended_leases;
use super::{equal, holds, lives};
use crate::circuit;
use crate::transition::{Live, Transition, live};
use crate::world::Move;

/// A call ends when the step says so, and only then; one is there for each start.
pub fn one_ending(t: &Transition<'_>) -> Result<(), String> {
    let (before, after) = (lives(t.before).count(), lives(t.after).count());
    let started = usize::from(matches!(t.what, Move::Start(_)));
    let ended = usize::from(t.decision().is_some());
    equal("calls under way", &(after + ended), &(before + started))?;
    equal("the host's calls", &t.world.calls.len(), &after)
}

/// A new call: deadline, circuit, bulkhead, in this order.
pub fn gates(t: &Transition<'_>) -> Result<(), String> {
    let Move::Start(request) = t.what else { return Ok(()) };
    let Some(step) = t.step else { return Err("a start without a step".into()) };
    let late = t.scene.requests[request as usize].0 == Some(0);
    let breaker = t.rules().breaker.as_ref();
    let refusal = breaker.and_then(|rules| circuit::refusal(rules, &t.before.circuit));
    let queued = lives(t.before).filter(|c| matches!(c.stage, StageState::Queued(..))).count();
    let ended = ended_leases(t.before);
    let rules = &t.rules().bulkhead;
    let most = rules.max_concurrent.unwrap_or(u32::MAX);
    let free = t.before.running - ended < most && queued == 0;
    let room = queued < rules.max_queue as usize;
    let due = if late {
        "deadline"
    } else if refusal.is_some() {
        "circuit"
    } else if free {
        "attempt"
    } else if room {
        "queue"
    } else {
        "full"
    };
    let is = match step.action {
        Action::Attempt { number: 1, .. } => "attempt",
        Action::Queue { .. } => "queue",
        Action::Finish(decision) => match decision.reason {
            Reason::DeadlineExceeded => "deadline",
            Reason::CircuitOpen => {
                let promised = decision.retry_at.map(|at| t.ahead(at));
                equal("the promise", &Some(promised), &refusal)?;
                equal("forced", &decision.forced, &promised.is_none())?;
                "circuit"
            }
            Reason::BulkheadFull => "full",
            _ => "another ending",
        },
        _ => "something else",
    };
    equal("what a start got", &is, &due)
}

/// No attempt starts at or after the deadline, no wait ends there, no attempt is let run past it.
pub fn deadline(t: &Transition<'_>) -> Result<(), String> {
    let Some(step) = t.step else { return Ok(()) };
    let Some(call) = t.world.call(step.call) else { return Ok(()) };
    let Some(Live { deadline: Some(left), .. }) = live(&call) else { return Ok(()) };
    match step.action {
        Action::Attempt { until, .. } => {
            holds(left > 0, || "an attempt starts at its deadline".into())?;
            let until = until.map(|until| t.ahead(until));
            holds(until.is_some_and(|until| until <= left), || {
                format!("cut in {until:?} of {left}")
            })
        }
        Action::Wait { until: Some(until), why, .. } if why != Why::Running && t.is_new_phase() => {
            holds(t.ahead(until) < left, || format!("a wait of {} of {left}", t.ahead(until)))
        }
        _ => Ok(()),
    }
}

/// A timer that comes too early changes nothing and gets the same id; an attempt that is still
/// running answers with when to look again.
pub fn timers(t: &Transition<'_>) -> Result<(), String> {
    let (Some(call), Move::Elapse { .. }, Some(step)) = (t.caller(), t.what, t.step) else {
        return Ok(());
    };
    let early = match call.stage {
        StageState::Running(left) | StageState::Queued(_, left) => *left != Some(0),
        StageState::Waiting(left, _) => *left > 0,
    };
    if call.deadline == Some(0) {
        let ended = t.decision().map(|decision| decision.reason);
        return equal("at the deadline", &ended, &Some(Reason::DeadlineExceeded));
    }
    if !early {
        return holds(t.is_new_phase() || t.decision().is_some(), || "a timer did nothing".into());
    }
    holds(!t.is_new_phase() && t.decision().is_none(), || "an early timer did something".into())?;
    let same = match (call.stage, step.action) {
        (StageState::Running(left), Action::Wait { until, why: Why::Running, .. })
        | (StageState::Queued(_, left), Action::Queue { until }) => {
            until.map(|until| t.ahead(until)) == *left
        }
        (StageState::Waiting(left, why), Action::Wait { until, why: told, .. }) => {
            until.map(|until| t.ahead(until)) == Some(*left) && told.code() == *why
        }
        _ => false,
    };
    holds(same, || format!("an early timer got {:?}", step.action))
}
