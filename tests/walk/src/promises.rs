//! What must hold in every state, whatever happens next.

use stormproof::proof::{CallState, CircuitPhase, StageState, State};
use stormproof::step::Circuit;
use stormproof::time::Instant;
use stormproof::{Action, CallId, Event, Outcome, Reason, Request};

use crate::rules::TICK;
use crate::transition::live;
use crate::world::World;

/// What the state breaks, if anything.
pub fn check(world: &World, state: &State) -> Result<(), String> {
    snapshot_tells_the_state(world, state).map_err(|text| format!("K7 V2 snapshot: {text}"))?;
    stale_ids_change_nothing(world).map_err(|text| format!("L2 stale ids: {text}"))?;
    cancelled_starts_take_nothing(world).map_err(|text| format!("E9 cancelled start: {text}"))?;
    refusals_are_exact(world).map_err(|text| format!("L12 promise: {text}"))?;
    polls_come_when_told(world).map_err(|text| format!("E2 poll_at: {text}"))
}

/// The same world after somebody has looked at the clock: leases that are over have been ended.
fn touched(world: &World) -> World {
    let mut world = world.clone();
    world.engine.on_event(world.now(), CallId::NONE, Event::Elapsed, 0);
    world
}

fn snapshot_tells_the_state(world: &World, state: &State) -> Result<(), String> {
    let snapshot = world.engine.snapshot(world.now());
    let touched = touched(world);
    let calls = touched.engine.state(touched.now()).calls;
    let behind = |call: &&CallState| matches!(call, CallState::Abandoned { .. });
    let abandoned = calls.iter().filter(behind).count();
    let queued = |call: &&CallState| {
        let live = live(call);
        live.is_some_and(|live| matches!(live.stage, StageState::Queued(..)))
    };
    let told = (snapshot.abandoned as usize, snapshot.queued as usize, snapshot.tokens);
    let due = (
        abandoned,
        state.calls.iter().filter(queued).count(),
        state.tokens.map(|tokens| tokens / 1_000_000_000),
    );
    if told != due {
        return Err(format!("it tells {told:?}, due is {due:?}"));
    }
    let circuit = match &state.circuit.phase {
        CircuitPhase::Closed { .. } => Circuit::Closed,
        CircuitPhase::Open { left } if *left > 0 => Circuit::Open,
        CircuitPhase::Open { .. } | CircuitPhase::HalfOpen { .. } => Circuit::HalfOpen,
        CircuitPhase::Forced(circuit) => *circuit,
    };
    if snapshot.circuit != circuit {
        return Err(format!("it tells {}, due is {circuit}", snapshot.circuit));
    }
    Ok(())
}

fn stale_ids_change_nothing(world: &World) -> Result<(), String> {
    let mut touched = touched(world);
    let before = touched.engine.state(touched.now());
    let behind = touched.abandoned.clone();
    let known = |id: &CallId| touched.calls.contains(id) || behind.contains(id);
    let ids = touched.gone.iter().copied().chain([CallId::NONE, CallId::from_bits(u64::MAX)]);
    let ids: Vec<CallId> = ids.filter(|id| !known(id)).collect();
    let events = [Event::Settled(Outcome::SUCCESS), Event::Elapsed, Event::Cancelled];
    let of_nobody = ids.into_iter().flat_map(|id| events.map(|event| (id, event)));
    let of_behind =
        behind.into_iter().flat_map(|id| [(id, Event::Elapsed), (id, Event::Cancelled)]);
    for (id, event) in of_nobody.chain(of_behind).collect::<Vec<_>>() {
        let step = touched.engine.on_event(touched.now(), id, event, u64::MAX);
        if step.action != (Action::Stale { late: false }) {
            return Err(format!("{event:?} got {:?}", step.action));
        }
    }
    let after = touched.engine.state(touched.now());
    if after == before { Ok(()) } else { Err(format!("{before:?} became {after:?}")) }
}

fn cancelled_starts_take_nothing(world: &World) -> Result<(), String> {
    let mut touched = touched(world);
    let before = touched.engine.state(touched.now());
    let request = Request { cancelled: true, ..Request::default() };
    let step = touched.engine.start(touched.now(), request);
    let ended = matches!(step.action, Action::Finish(d) if d.reason == Reason::Cancelled && d.attempts == 0);
    let after = touched.engine.state(touched.now());
    if ended && after == before { Ok(()) } else { Err(format!("{step:?}, {after:?}")) }
}

/// Refused just before the promised time, not refused by the circuit at it.
fn refusals_are_exact(world: &World) -> Result<(), String> {
    let Some(Some(promised)) = refused(world, world.now()) else { return Ok(()) };
    let just_before = Instant::from_nanos(promised.as_nanos() - 1);
    if just_before >= world.now() && refused(world, just_before) != Some(Some(promised)) {
        return Err(format!("not refused 1 ns before {promised:?}"));
    }
    match refused(world, promised) {
        None => Ok(()),
        Some(again) => Err(format!("refused at {promised:?} until {again:?}")),
    }
}

/// Would the circuit refuse a new call, and until when?
fn refused(world: &World, now: Instant) -> Option<Option<Instant>> {
    let mut engine = world.engine.clone();
    match engine.start(now, Request::default()).action {
        Action::Finish(decision) if decision.reason == Reason::CircuitOpen => {
            Some(decision.retry_at)
        }
        _ => None,
    }
}

/// Polling yields nothing before the time that the last step named.
fn polls_come_when_told(world: &World) -> Result<(), String> {
    let mut touched = world.clone();
    let told = touched.engine.on_event(touched.now(), CallId::NONE, Event::Elapsed, 0).poll_at;
    let asked = touched.engine.poll_at(touched.now());
    if asked != told {
        return Err(format!("told {told:?}, asked {asked:?}"));
    }
    let now = touched.clock;
    let instants = [now, now + 1, now + TICK, now + 2 * TICK, now + 36_000 * TICK];
    let limit = told.map_or(u64::MAX, |told| told.as_nanos());
    let just_before = (limit != u64::MAX && limit > now).then(|| limit - 1);
    for at in instants.into_iter().chain(just_before).filter(|at| *at < limit) {
        let mut engine = touched.engine.clone();
        if let Some(step) = engine.poll_ready(Instant::from_nanos(at), 0) {
            return Err(format!("told {told:?}, but {} ns on there is {step:?}", at - now));
        }
    }
    Ok(())
}
