//! The books that a host keeps beside the engine's, and the laws that it can see with them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use stormproof::step::Why;
use stormproof::time::Instant;
use stormproof::{Action, CallId, Decision, Event, Reason, Request, Snapshot, Step};

use super::Limits;
use super::clock::HostClock;

#[derive(Default)]
pub struct Books {
    limits: Limits,
    open: BTreeMap<CallId, Call>,
    /// Operations that were cut and have not ended.
    cut: Vec<CallId>,
    /// Ids that name nothing any more.
    spent: Vec<CallId>,
    given: BTreeSet<CallId>,
    poll_at: Option<Instant>,
    sums: Sums,
}

/// What the engine's counters must be.
#[derive(Clone, Copy, Default)]
struct Sums {
    started: u64,
    finished: u64,
    attempts: u64,
    retries: u64,
    refused: u64,
    late: u64,
    waits: u64,
}

/// A call under way. Its instants are the engine's.
#[derive(Clone, Copy, Debug)]
struct Call {
    action: Action,
    until: Option<Instant>,
    deadline: Option<Instant>,
    attempts: u32,
    total_wait: u64,
}

impl Call {
    fn is_running(&self) -> bool {
        matches!(self.action, Action::Attempt { .. })
    }

    /// Is this the answer to a timer that fired too early, or to a result that nobody waits for?
    fn stands(&self, step: &Step) -> bool {
        match step.action {
            Action::Stale { .. } => true,
            Action::Wait { .. } | Action::Queue { .. } => step.call == step.previous,
            Action::Attempt { .. } | Action::Finish(_) => false,
        }
    }
}

impl Books {
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// One of the calls under way.
    pub fn current(&self, draw: u8) -> Option<CallId> {
        let place = usize::from(draw).checked_rem(self.open.len())?;
        self.open.keys().nth(place).copied()
    }

    /// When something is due for one of them, in the host's time.
    pub fn limit(&self, draw: u8) -> Option<Instant> {
        let place = usize::from(draw).checked_rem(self.open.len())?;
        let (_, call) = self.open.iter().nth(place)?;
        host_until(&call.action)
    }

    /// One of the operations that were cut.
    pub fn cut(&self, draw: u8) -> Option<CallId> {
        let place = usize::from(draw).checked_rem(self.cut.len())?;
        self.cut.get(place).copied()
    }

    pub fn all_cut(&self) -> Vec<CallId> {
        self.cut.clone()
    }

    /// One of the ids that named something once.
    pub fn spent(&self, draw: u64) -> Option<CallId> {
        let place = (draw as usize).checked_rem(self.spent.len() + 1)?;
        self.spent.get(place).copied()
    }

    pub fn names_something(&self, id: CallId) -> bool {
        self.open.contains_key(&id) || self.cut.contains(&id)
    }

    pub fn is_running(&self, id: CallId) -> bool {
        self.open[&id].is_running()
    }

    /// May a poll yield something by now?
    pub fn may_yield(&self, clock: &HostClock) -> bool {
        let is_due = |now| self.poll_at.is_some_and(|at| at <= now);
        clock.now().is_none_or(is_due)
    }

    pub fn on_poll_at(&mut self, clock: &HostClock, step: &Step) {
        self.poll_at = step.poll_at.map(|at| clock.engine_time(at));
    }

    pub fn on_start(&mut self, clock: &HostClock, request: &Request, step: &Step) {
        assert_eq!(step.previous, CallId::NONE, "a new call had no id");
        self.on_poll_at(clock, step);
        self.sums.started += 1;
        let own =
            self.limits.overall_timeout.zip(clock.now()).map(|(t, now)| now.saturating_add(t));
        // The last instant is none.
        let callers = request.deadline.map(|deadline| clock.engine_time(deadline));
        let callers = callers.filter(|deadline| deadline.as_nanos() != u64::MAX);
        let deadline = own.into_iter().chain(callers).min();
        let call = Call { action: step.action, until: None, deadline, attempts: 0, total_wait: 0 };
        self.enter(clock, call, step);
        if request.cancelled {
            let Action::Finish(decision) = step.action else { panic!("cancelled, but {step:?}") };
            assert_eq!(decision.reason, Reason::Cancelled);
            // It counts as a call and as nothing else.
            self.sums.refused -= 1;
        }
    }

    /// Answers whether nothing can have changed.
    pub fn on_event(&mut self, clock: &HostClock, id: CallId, event: Event, step: &Step) -> bool {
        let call = self.open[&id];
        if call.stands(step) {
            still(clock, &call, event, step);
            return true;
        }
        if let (Event::Elapsed, Some(now), Some(until)) = (event, clock.now(), call.until) {
            assert!(now >= until, "a timer that fires early moves nothing: {step:?}");
        }
        if let (Event::Settled(outcome), Action::Wait { planned, .. }) = (event, step.action) {
            let asked = outcome.retry_after_ms.unwrap_or(0);
            assert!(planned >= Duration::from_millis(asked), "never earlier than asked: {step:?}");
        }
        let is_cut = call.is_running() && !matches!(event, Event::Settled(_));
        self.move_on(clock, is_cut, step);
        false
    }

    pub fn on_late_result(&mut self, id: CallId) {
        self.cut.retain(|cut| *cut != id);
        self.spent.push(id);
        self.sums.late += 1;
    }

    pub fn on_poll(&mut self, clock: &HostClock, step: &Step) {
        let waits = matches!(self.open[&step.previous].action, Action::Queue { .. });
        assert!(waits, "only waiters are polled: {step:?}");
        self.on_poll_at(clock, step);
        self.move_on(clock, false, step);
    }

    /// A poll yielded nothing, and the engine says when to poll again.
    pub fn on_idle_poll(&mut self, clock: &HostClock, poll_at: Option<Instant>) {
        self.poll_at = poll_at.map(|at| clock.engine_time(at));
        let is_later = self.poll_at.is_none_or(|at| clock.now() != Some(at));
        assert!(is_later, "polled for nothing");
    }

    /// The call has left the phase that its id named.
    fn move_on(&mut self, clock: &HostClock, is_cut: bool, step: &Step) {
        let call = self.open.remove(&step.previous).expect("a call under way");
        let old = if is_cut { &mut self.cut } else { &mut self.spent };
        old.push(step.previous);
        self.enter(clock, call, step);
    }

    /// The call enters a phase, or is over.
    fn enter(&mut self, clock: &HostClock, mut call: Call, step: &Step) {
        if step.call != step.previous {
            assert!(self.given.insert(step.call), "an id is never given again: {step:?}");
        }
        call.action = step.action;
        call.until = host_until(&step.action).map(|until| clock.engine_time(until));
        match step.action {
            Action::Attempt { number, .. } => self.attempt(clock, &mut call, number),
            Action::Wait { why, planned, .. } => self.wait(clock, &mut call, why, planned),
            Action::Queue { .. } => {
                let in_time = is_ordered(call.until, call.deadline);
                assert!(in_time, "no place in line past the deadline: {call:?}, {clock:?}");
            }
            Action::Finish(decision) => return self.finish(&call, &decision),
            Action::Stale { .. } => panic!("the call has an id: {step:?}"),
        }
        self.open.insert(step.call, call);
    }

    fn attempt(&mut self, clock: &HostClock, call: &mut Call, number: u32) {
        call.attempts += 1;
        assert_eq!(number, call.attempts, "attempts are numbered one by one");
        assert!(self.limits.max_attempts.is_none_or(|max| number <= max), "not one too many");
        self.sums.attempts += 1;
        self.sums.retries += u64::from(number > 1);
        let Some(now) = clock.now() else { return };
        let starts_in_time = call.deadline.is_none_or(|deadline| now < deadline);
        assert!(starts_in_time, "no attempt at or after the deadline");
        let timeout = self.limits.attempt_timeout.map(|timeout| now.saturating_add(timeout));
        let cut = [call.deadline, timeout].into_iter().flatten().min();
        assert!(is_ordered(call.until, cut), "the attempt is cut in time");
        assert!(call.until.is_none_or(|until| until > now), "it has time to run");
    }

    fn wait(&mut self, clock: &HostClock, call: &mut Call, why: Why, planned: Duration) {
        assert_ne!(why, Why::Running, "the attempt is over");
        let nanos = u64::try_from(planned.as_nanos()).expect("a wait fits");
        call.total_wait = call.total_wait.saturating_add(nanos);
        self.sums.waits = self.sums.waits.saturating_add(nanos);
        let is_own = why == Why::Backoff;
        assert!(!is_own || self.limits.cap.is_none_or(|cap| planned <= cap), "no longer than cap");
        let Some(now) = clock.now() else { return };
        let until = call.until.expect("a wait has an end");
        assert_eq!(until.saturating_since(now), planned, "the wait is what was planned");
        assert!(call.deadline.is_none_or(|deadline| until < deadline), "no sleep into a wall");
    }

    fn finish(&mut self, call: &Call, decision: &Decision) {
        self.sums.finished += 1;
        self.sums.refused += u64::from(decision.is_own_error());
        assert_eq!(decision.attempts, call.attempts, "every attempt is counted");
        assert_eq!(decision.total_wait, call.total_wait, "every wait is counted");
        assert!(
            decision.retry_at.is_none_or(|at| at >= decision.at),
            "come back later, not before"
        );
        assert!(decision.reason != Reason::Success || decision.attempts > 0);
    }

    /// The engine's books say what the host's say.
    pub fn compare(&self, snapshot: &Snapshot) {
        let running = self.count(|action| matches!(action, Action::Attempt { .. }));
        let queued = self.count(|action| matches!(action, Action::Queue { .. }));
        let (sums, counters) = (&self.sums, &snapshot.counters);
        assert_eq!(sums.started, sums.finished + self.open.len() as u64, "each ends once");
        let theirs = (counters.calls, counters.attempts, counters.retries, counters.late_results);
        assert_eq!(theirs, (sums.started, sums.attempts, sums.retries, sums.late));
        let ended = counters.successes + counters.failures.iter().sum::<u64>();
        assert_eq!(counters.attempts, ended + u64::from(running), "every attempt ends once");
        assert_eq!(counters.refusals.iter().sum::<u64>(), sums.refused, "refusals");
        assert_eq!(counters.total_wait, sums.waits, "waits");
        assert_eq!(snapshot.queued, queued, "those who wait");
        let most = self.limits.max_concurrent.unwrap_or(u32::MAX);
        assert!(snapshot.running <= most, "no more than may run: {snapshot:?}");
        let held = running..=running + snapshot.abandoned;
        assert!(held.contains(&snapshot.running), "{running} run: {snapshot:?}");
    }

    fn count(&self, is: impl Fn(&Action) -> bool) -> u32 {
        self.open.values().filter(|call| is(&call.action)).count() as u32
    }
}

/// The call stands where it stood.
fn still(clock: &HostClock, call: &Call, event: Event, step: &Step) {
    let until = host_until(&step.action).map(|until| clock.engine_time(until));
    let (is_timer, is_result) =
        (event == Event::Elapsed, matches!(event, Event::Settled(_)) && !call.is_running());
    match step.action {
        Action::Stale { late } => assert!(is_result && !late, "{event:?}: {step:?}"),
        _ => assert!(is_timer, "{event:?}: {step:?}"),
    }
    if let (Event::Elapsed, Some(now)) = (event, clock.now()) {
        assert_eq!(until, call.until, "the same instant again");
        assert!(until.is_none_or(|until| now < until), "a timer that is due moves the call");
    }
}

fn is_ordered(until: Option<Instant>, limit: Option<Instant>) -> bool {
    limit.is_none_or(|limit| until.is_some_and(|until| until <= limit))
}

fn host_until(action: &Action) -> Option<Instant> {
    match action {
        Action::Attempt { until, .. } | Action::Wait { until, .. } | Action::Queue { until } => {
            *until
        }
        Action::Finish(_) | Action::Stale { .. } => None,
    }
}
