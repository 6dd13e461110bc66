//! Section 13: what must hold whatever happens, each law as it reads.
//!
//! They are asked of the model and hold for the core because it agrees step by step. L9 has no
//! function: a snapshot is read from a shared reference, and courses are played with and without.

use stormproof::step::Why;
use stormproof::time::Instant;
use stormproof::{Action, Control, Event, Outcome, Reason, Request};

use crate::breaker::{State, Verdict};
use crate::class;
use crate::history::Phase;
use crate::model::{Answer, Input, Model};
use crate::time::{CENTURY, MILLISECOND, SECOND, Time};

/// What a step may or may not change.
#[derive(Clone, Debug, PartialEq)]
pub struct Books {
    breaker: Vec<usize>,
    open_until: Option<Time>,
    phases: Vec<Phase>,
    queue: Vec<usize>,
    tokens: usize,
    ids: u64,
}

impl Books {
    /// As they are now.
    pub fn of(model: &Model) -> Self {
        Self {
            breaker: model.breaker.counted(),
            open_until: model.breaker.eras.last().and_then(|era| era.until()),
            phases: model.calls.iter().map(|call| call.phase).collect(),
            queue: model.queue.clone(),
            tokens: model.budget.entries.len(),
            ids: model.ids,
        }
    }
}

/// One step: the books before, what was said, what came out, everything after.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The books before.
    pub before: &'a Books,
    /// What was said.
    pub input: Input,
    /// What came out.
    pub answer: Option<&'a Answer>,
    /// Everything after.
    pub after: &'a Model,
}

/// A law that speaks of a step, by its name.
pub type OfStep = (&'static str, fn(&Step<'_>) -> bool);

/// A law that speaks of a whole course, by its name.
pub type OfCourse = (&'static str, fn(&Model) -> bool);

/// The laws that speak of a step.
pub const OF_STEPS: &[OfStep] = &[
    ("L1", l1_probes_in_flight),
    ("L2", l2_stale_changes_nothing),
    ("L5", l5_running),
    ("L8", l8_neutral_counts_nothing),
    ("L10", l10_open_until_stays),
    ("L12", l12_promises_are_exact),
];

/// The laws that speak of all that happened, or may still happen.
pub const OF_COURSES: &[OfCourse] = &[
    ("L3", l3_no_lock_up),
    ("L4", l4_retries_within_the_budget),
    ("L5", l5_permits_come_back),
    ("L6", l6_nothing_past_the_deadline),
    ("L7", l7_waits_within_bounds),
    ("L11", l11_one_finish),
];

/// L1: half-open attempts in flight, leases counted, ≤ probes at every instant.
fn l1_probes_in_flight(step: &Step) -> bool {
    let (model, now) = (step.after, step.after.clock.now);
    let generation = model.breaker.generation();
    let lease = model.settings.lease();
    let in_flight = model.attempts.iter().filter(|attempt| {
        let is_probe = |it: crate::breaker::Admission| it.era == generation && it.probe.is_some();
        attempt.admission.is_some_and(is_probe)
            && attempt.ended.is_none()
            && now < attempt.at + lease
    });
    in_flight.count() <= model.settings.probes as usize
}

/// L2: stale reports change no state. A late one returns its permit, and that is all.
fn l2_stale_changes_nothing(step: &Step) -> bool {
    let is_stale = step.answer.is_some_and(|answer| matches!(answer.action, Action::Stale { .. }));
    let is_event = matches!(step.input, Input::Event(..));
    !(is_stale && is_event) || Books::of(step.after) == *step.before
}

/// L5: running ≤ max at every instant.
fn l5_running(step: &Step) -> bool {
    let model = step.after;
    let running = model.permits(model.clock.now);
    model.settings.max_concurrent.is_none_or(|most| running <= most as usize)
}

/// L8: neutral outcomes change no counter of the breaker.
fn l8_neutral_counts_nothing(step: &Step) -> bool {
    let is_neutral = match step.input {
        Input::Event(_, Event::Settled(outcome)) => {
            class::verdict(&step.after.settings, &outcome) == Verdict::Neutral
        }
        Input::Event(_, Event::Cancelled) => true,
        _ => false,
    };
    !is_neutral || step.after.breaker.counted() == step.before.breaker
}

/// L10: open-until never moves later while open; only by way of another state it opens again.
fn l10_open_until_stays(step: &Step) -> bool {
    let is_forced = matches!(step.input, Input::Control(_));
    let after = step.after.breaker.eras.last().and_then(|era| era.until());
    let stays = |(before, after)| after <= before;
    is_forced || step.before.open_until.zip(after).is_none_or(stays)
}

/// L12: a refusal's promised time is exact: refused just before it, admitted at it.
fn l12_promises_are_exact(step: &Step) -> bool {
    let Some(Action::Finish(decision)) = step.answer.map(|answer| answer.action) else {
        return true;
    };
    let Some(promised) = decision.retry_at.filter(|_| decision.reason == Reason::CircuitOpen)
    else {
        return true;
    };
    let end = Instant::from_nanos(u64::MAX);
    promised == end
        || is_refused(step.after, Instant::from_nanos(promised.as_nanos() - 1))
            && !is_refused(step.after, promised)
}

/// Would the circuit refuse a call that starts then?
fn is_refused(model: &Model, reading: Instant) -> bool {
    let answer = model.clone().step(reading, Input::Start(Request::default()), 0);
    let action = answer.map(|answer| answer.action);
    matches!(action, Some(Action::Finish(decision)) if decision.reason == Reason::CircuitOpen)
}

/// L3, K8: time and healthy answers lead back to closed.
fn l3_no_lock_up(model: &Model) -> bool {
    if matches!(model.breaker.state(model.clock.now), State::ForcedOpen | State::ForcedClosed) {
        return true;
    }
    let mut model = model.clone();
    let needed = model.settings.success_threshold;
    // As many probes as are needed, and some rounds until nobody is in their way.
    for _ in 0..needed.min(8) + 4 {
        after_an_age(&mut model);
    }
    needed > 8 || model.breaker.state(model.clock.now) == State::Closed
}

/// More time than anything may take, then healthy answers for all, and for a newcomer.
fn after_an_age(model: &mut Model) {
    let later = Instant::from_nanos(2 * CENTURY as u64);
    model.step(Instant::ORIGIN, Input::Poll, 0);
    model.step(later, Input::Poll, 0);
    for _ in 0..=model.calls.len() {
        let live = model.calls.iter().filter(|call| call.phase != Phase::Over);
        let ids: Vec<u64> = live.map(|call| call.id).collect();
        if ids.is_empty() {
            break;
        }
        for id in ids {
            // Who waits or queues goes on; who runs succeeds.
            let event = match model.calls.iter().find(|call| call.id == id).map(|call| call.phase) {
                Some(Phase::Attempt(_)) => Event::Settled(Outcome::SUCCESS),
                _ => Event::Elapsed,
            };
            model.step(later, Input::Event(id, event), 0);
        }
        while model.step(later, Input::Poll, 0).is_some() {}
    }
    if let Some(answer) = model.step(later, Input::Start(Request::default()), 0) {
        model.step(later, Input::Event(answer.call, Event::Settled(Outcome::SUCCESS)), 0);
    }
}

/// L4, G6: in any window, what retries took ≤ capacity + success refunds + time refill + what was
/// given back. In tokens, so that it holds for every cost; without a budget nothing is bounded.
fn l4_retries_within_the_budget(model: &Model) -> bool {
    let rate = Time::from(model.settings.refill_per_second);
    let entries = &model.budget.entries;
    !model.settings.budget_on
        || (0..entries.len()).all(|first| {
            let begin = entries[first].0;
            let capacity = model.budget.capacity_after(&model.settings, &model.clock, begin, first);
            let mut balance = capacity;
            entries[first..].iter().all(|(at, entry)| {
                balance += entry.picotokens();
                balance + rate * (at - begin) >= 0
            })
        })
}

/// L5: every permit is returned exactly once.
fn l5_permits_come_back(model: &Model) -> bool {
    let mut model = model.clone();
    for id in 1..=model.ids {
        let reading = model.clock.host(model.clock.now);
        model.step(reading, Input::Event(id, Event::Cancelled), 0);
    }
    let all_back = |model: &Model| model.permits(model.clock.now) == 0;
    let mut settled = model.clone();
    for id in 1..=model.ids {
        let reading = model.clock.host(model.clock.now);
        settled.step(reading, Input::Event(id, Event::Settled(Outcome::SUCCESS)), 0);
    }
    model.step(Instant::ORIGIN, Input::Poll, 0);
    model.step(Instant::from_nanos(2 * CENTURY as u64), Input::Poll, 0);
    all_back(&settled) && all_back(&model)
}

/// L6: no attempt at or after the deadline, no sleep past it.
fn l6_nothing_past_the_deadline(model: &Model) -> bool {
    let before =
        |at: Time, call: usize| model.calls[call].deadline.is_none_or(|deadline| at < deadline);
    model.attempts.iter().all(|attempt| before(attempt.at, attempt.call))
        && model.waits.iter().all(|wait| before(wait.until, wait.call))
}

/// L7: 0 ≤ own delay ≤ cap; the whole wait ≤ max(cap, retry_after.max + spread), or ends at most cap
/// after the circuit may be asked.
fn l7_waits_within_bounds(model: &Model) -> bool {
    let settings = &model.settings;
    let most_asked = settings.retry_after_max;
    let spread = (most_asked / 4).max(most_asked.min(SECOND));
    model.waits.iter().all(|wait| {
        let from = wait.circuit.unwrap_or(wait.at);
        let most = match wait.why {
            // O3: at least 1 ms where a half-open circuit refuses, however small the cap.
            Why::Circuit => settings.cap.max(MILLISECOND),
            _ => settings.cap.max(most_asked + spread),
        };
        (0..=settings.cap).contains(&wait.own) && wait.until - from <= most
    })
}

/// L11: every call finishes exactly once; E3: and what was taken for it is settled.
fn l11_one_finish(model: &Model) -> bool {
    let mut model = model.clone();
    let is_consistent = |model: &Model| {
        model.calls.iter().all(|call| {
            let is_over = call.phase == Phase::Over;
            call.finishes.len() == usize::from(is_over) && !(is_over && call.token.is_some())
        })
    };
    let so_far = is_consistent(&model);
    model.step(model.clock.host(model.clock.now), Input::Control(Control::Reset), 0);
    for _ in 0..4 {
        after_an_age(&mut model);
    }
    so_far && is_consistent(&model) && model.calls.iter().all(|call| call.phase == Phase::Over)
}
