//! What holds of permits and of the queue.

use stormproof::bulkhead::Release;
use stormproof::proof::{CallState, StageState, State};
use stormproof::{Action, Step};

use super::{equal, holds, lives};
use crate::rules::TICK;
use crate::transition::Transition;
use crate::world::Move;

/// Permits belong to attempts, one each.
pub fn permits(t: &Transition<'_>) -> Result<(), String> {
    let running =
        lives(t.after).filter(|call| matches!(call.stage, StageState::Running(_))).count();
    let behind = |by_now: bool| {
        let holds = |call: &&CallState| match call {
            CallState::Abandoned { holds_permit, lease, .. } => {
                *holds_permit && (by_now || *lease > 0)
            }
            CallState::Live { .. } => false,
        };
        t.after.calls.iter().filter(holds).count()
    };
    equal("permits out", &(t.after.running as usize), &(running + behind(true)))?;
    let snapshot = t.world.engine.snapshot(t.world.now());
    equal("running", &(snapshot.running as usize), &(running + behind(false)))?;
    let most = t.rules().bulkhead.max_concurrent.unwrap_or(u32::MAX);
    holds(t.after.running <= most, || format!("{} permits of {most} are out", t.after.running))
}

/// Whoever is polled stood first; nobody else moves ahead of another.
pub fn queue(t: &Transition<'_>) -> Result<(), String> {
    let places = |state: &State| {
        let mut places: Vec<u32> = lives(state)
            .filter_map(|call| match call.stage {
                StageState::Queued(place, _) => Some(*place),
                _ => None,
            })
            .collect();
        places.sort_unstable();
        places
    };
    let after = places(t.after);
    equal("the places", &after, &(0..after.len() as u32).collect())?;
    if let (Move::Poll { .. }, Some(_)) = (t.what, &t.step) {
        let stood = t.caller().map(|call| matches!(call.stage, StageState::Queued(0, _)));
        equal("the polled call stood first", &stood, &Some(true))?;
    }
    let entered_alone = t.is_attempt() && !matches!(t.what, Move::Poll { .. });
    holds(!entered_alone || places(t.before).is_empty(), || "a queue was overtaken".into())
}

/// An attempt that its call leaves behind keeps its permit, until it ends or its lease does.
pub fn left_behind(t: &Transition<'_>) -> Result<(), String> {
    let count = |state: &State| {
        let behind = |call: &&CallState| matches!(call, CallState::Abandoned { .. });
        state.calls.iter().filter(behind).count()
    };
    let cut = t.end().is_some() && !matches!(t.what, Move::Settle { .. });
    if cut {
        let rules = &t.rules().bulkhead;
        let lease = rules.abandoned_lease * TICK;
        let holds_permit = rules.release == Release::Settled;
        let found = t.after.calls.iter().any(|call| {
            matches!(call, CallState::Abandoned { lease: l, holds_permit: h, .. } if *l == lease && *h == holds_permit)
        });
        holds(found, || "a cut attempt is not remembered".into())?;
    }
    if let (Move::Late { .. }, Some(Step { action: Action::Stale { late }, .. })) = (t.what, t.step)
    {
        let known = matches!(t.subject, Some(CallState::Abandoned { lease, .. }) if lease > 0);
        equal("late", &late, &known)?;
        equal("the circuit after a late result", &t.after.circuit, &t.before.circuit)?;
        holds(count(t.after) < count(t.before), || "a late result stays".into())?;
    }
    Ok(())
}

/// Permits whose leases are over though nobody has looked since.
pub fn ended_leases(state: &State) -> u32 {
    let ended = |call: &&CallState| {
        matches!(call, CallState::Abandoned { lease: 0, holds_permit: true, .. })
    };
    state.calls.iter().filter(ended).count() as u32
}
