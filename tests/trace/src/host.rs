//! A host without a dependency: it starts calls, does what the steps say, and is late, early or out
//! of its mind, as hosts are.

use alloc::vec::Vec;

use stormproof::step::Safety;
use stormproof::time::Instant;
use stormproof::{Action, CallId, Control, Decision, Outcome, Step, step::Kind};

use crate::dice::Dice;
use crate::input::{Answer, Input};
use crate::weather::{End, Weather};

/// In place of an instant that never comes.
const NEVER: u64 = u64::MAX;
const SECOND: u64 = 1_000_000_000;
/// Attempts left behind that the host still knows of. Those that it forgets never end.
const LEFT_BEHIND: usize = 40;
/// Ids that mean nothing any more.
const OLD_IDS: usize = 32;

/// A call under way. Times are the true ones, whatever the clock shows.
struct Call {
    id: CallId,
    safety: Option<Safety>,
    timer: u64,
    /// When the operation ends; `None`: none runs.
    end: Option<u64>,
}

/// Whom an input is about.
#[derive(Clone, Copy)]
enum About {
    New(Option<Safety>),
    /// The call at this place. Does its attempt, if one runs, go on after this?
    Call(usize, bool),
    Waiters,
    Nobody,
}

pub struct Host {
    dice: Dice,
    now: u64,
    /// By how much the clock has been set back.
    behind: u64,
    calls: Vec<Call>,
    left_behind: Vec<(CallId, u64)>,
    old: Vec<CallId>,
    poll_at: u64,
    about: About,
    ended: Option<Decision>,
    /// Was the last call that ended refused by a circuit that somebody forced open?
    forced: bool,
    weather: Weather,
    next_arrival: u64,
    /// The mean distance of arrivals in milliseconds.
    gap: u32,
    /// How many calls are under way at most.
    crowd: usize,
}

impl Host {
    pub fn new(mut dice: Dice) -> Self {
        // Up to ten days.
        let origin = dice.pick(&[0, 1_000_250_001, 864_000 * SECOND]);
        Self {
            now: origin,
            behind: 0,
            calls: Vec::new(),
            left_behind: Vec::new(),
            old: Vec::new(),
            poll_at: NEVER,
            about: About::Nobody,
            ended: None,
            forced: false,
            weather: Weather::draw(&mut dice),
            next_arrival: origin,
            gap: dice.pick(&[1, 5, 20, 100, 400, 3_000]),
            crowd: dice.pick(&[1, 3, 10, 25, 60]),
            dice,
        }
    }

    /// What the host does next, and what its clock shows.
    pub fn next(&mut self) -> (Instant, Input) {
        if let Some(decision) = self.ended.take()
            && self.dice.one_in(8)
        {
            self.about = About::Nobody;
            return (self.reading(), Input::Explain(decision));
        }
        if self.dice.one_in(150) {
            self.weather = Weather::draw(&mut self.dice);
        }
        self.on_clock_fault();
        let input = self.oddity().unwrap_or_else(|| self.due());
        (self.reading(), input)
    }

    /// Does what the answer says.
    pub fn on_answer(&mut self, answer: &Answer) {
        let step = match answer {
            Answer::Step(Some(step)) => step,
            Answer::Step(None) if self.poll_at <= self.now => {
                self.poll_at = NEVER;
                return;
            }
            _ => return,
        };
        self.poll_at = self.true_time(step.poll_at);
        if let Action::Finish(decision) = step.action {
            self.ended = Some(decision);
            self.forced = decision.forced;
            if decision.attempts == 0 {
                // Callers come less often, or the trace would tell of little but refusals.
                self.next_arrival += self.dice.span(30 * self.gap);
            }
        }
        match self.about {
            About::New(safety) => {
                self.calls.push(Call { id: step.call, safety, timer: NEVER, end: None });
                self.follow(self.calls.len() - 1, step);
            }
            About::Call(place, goes_on) => {
                self.leave_behind(place, goes_on, step);
                self.follow(place, step);
            }
            About::Waiters => {
                let place = self.calls.iter().position(|call| call.id == step.previous);
                if let Some(place) = place {
                    self.follow(place, step);
                }
            }
            About::Nobody => {}
        }
    }

    /// An attempt that its call has left behind goes on under the id that it was started with.
    fn leave_behind(&mut self, place: usize, goes_on: bool, step: &Step) {
        let call = &mut self.calls[place];
        let is_same = step.call == call.id && matches!(step.action, Action::Wait { .. });
        if !goes_on || is_same {
            return;
        }
        if let Some(end) = call.end.take() {
            if self.left_behind.len() == LEFT_BEHIND {
                self.left_behind.remove(0);
            }
            self.left_behind.push((call.id, end));
        }
    }

    fn follow(&mut self, place: usize, step: &Step) {
        let (timer, number) = match step.action {
            Action::Attempt { until, number } => (until, Some(number)),
            Action::Wait { until, .. } | Action::Queue { until } => (until, None),
            Action::Finish(_) | Action::Stale { .. } => {
                let over = self.calls.swap_remove(place);
                return self.remember(over.id);
            }
        };
        let timer = self.timer(timer);
        let end = number.map(|_| self.end_of_attempt());
        let call = &mut self.calls[place];
        let known = call.id;
        call.id = step.call;
        call.timer = timer;
        call.end = if step.call == known { end.or(call.end) } else { end };
        if step.call != known {
            self.remember(known);
        }
    }

    fn remember(&mut self, id: CallId) {
        if self.old.len() == OLD_IDS {
            self.old.remove(0);
        }
        self.old.push(id);
    }

    fn end_of_attempt(&mut self) -> u64 {
        let takes = self.weather.takes(&mut self.dice);
        takes.map_or(NEVER, |takes| self.now + takes)
    }

    /// When the host's timer for this instant fires: on time, early or late.
    fn timer(&mut self, until: Option<Instant>) -> u64 {
        let due = self.true_time(until);
        if due == NEVER {
            return NEVER;
        }
        let dice = &mut self.dice;
        match dice.below(20) {
            0..10 => due,
            10..13 => due + dice.span(2),
            13..15 => due.saturating_sub(dice.span(5)),
            15 => due - u64::from(due > self.now),
            16..19 => due + dice.span(400),
            _ => due + dice.span(45_000),
        }
    }

    fn true_time(&self, shown: Option<Instant>) -> u64 {
        // An instant near the end of time was promised under a garbage reading.
        shown
            .map(Instant::as_nanos)
            .filter(|nanos| nanos >> 62 == 0)
            .map_or(NEVER, |nanos| nanos + self.behind)
    }

    fn on_clock_fault(&mut self) {
        if self.dice.one_in(1_000) {
            self.now += self.dice.span(150_000);
        }
        if self.dice.one_in(1_500) {
            let back = SECOND + self.dice.span(40_000);
            if self.now.saturating_sub(self.behind) > 2 * back {
                self.behind += back;
            }
        }
    }

    /// What the clock shows to whoever looks now.
    fn reading(&mut self) -> Instant {
        let shown = self.now - self.behind;
        Instant::from_nanos(match self.dice.below(20_000) {
            0 => u64::MAX,
            // Another thread looked earlier and comes later.
            1..300 => shown.saturating_sub(self.dice.span(999)),
            _ => shown,
        })
    }

    /// What comes at any time, or should not come at all.
    fn oddity(&mut self) -> Option<Input> {
        let draw = self.dice.below(512);
        self.about = About::Nobody;
        match draw {
            0..8 => return Some(Input::Snapshot),
            8..12 => {
                self.about = About::Waiters;
                return Some(Input::Poll);
            }
            12 => return Some(Input::Control(self.dice.pick(Control::ALL))),
            480.. if self.forced => return Some(Input::Control(self.dice.pick(Control::ALL))),
            13..18 => return Some(self.stray()),
            18..40 if !self.calls.is_empty() => {}
            _ => return None,
        }
        let place = self.dice.below(self.calls.len() as u32) as usize;
        let Call { id, end, .. } = self.calls[place];
        self.about = About::Call(place, true);
        Some(match draw {
            18..26 => Input::Cancelled(id),
            26..36 => Input::Elapsed(id),
            _ if end.is_none() => {
                self.about = About::Nobody;
                Input::Settled(id, Outcome::SUCCESS)
            }
            _ => self.settle(place, Some(Kind::Cancelled)),
        })
    }

    /// Something under an id that names no phase, or that of an attempt left behind.
    fn stray(&mut self) -> Input {
        let dice = &mut self.dice;
        let id = match dice.below(6) {
            0 => CallId::from_bits(dice.word() >> 12),
            1 => CallId::NONE,
            2 if !self.left_behind.is_empty() => {
                self.left_behind[dice.below(self.left_behind.len() as u32) as usize].0
            }
            _ if self.old.is_empty() => CallId::NONE,
            _ => dice.pick(&self.old),
        };
        match dice.below(3) {
            0 => Input::Elapsed(id),
            1 => Input::Cancelled(id),
            _ => Input::Settled(id, Outcome::SUCCESS),
        }
    }

    /// What is due first; time passes until then.
    fn due(&mut self) -> Input {
        let arrival = if self.calls.len() < self.crowd { self.next_arrival } else { NEVER };
        let timers = self.calls.iter().map(|call| call.timer).enumerate().min_by_key(|(_, at)| *at);
        let ends = self.calls.iter().map(|call| call.end.unwrap_or(NEVER)).enumerate();
        let ends = ends.min_by_key(|(_, at)| *at);
        let late = self.left_behind.iter().map(|(_, at)| *at).enumerate().min_by_key(|(_, at)| *at);
        let (timer, end) = (timers.unwrap_or((0, NEVER)), ends.unwrap_or((0, NEVER)));
        let late = late.unwrap_or((0, NEVER));
        let first = arrival.min(timer.1).min(end.1).min(late.1).min(self.poll_at);
        if first == NEVER {
            return self.give_up();
        }
        self.now = self.now.max(first);
        if first == self.poll_at {
            self.about = About::Waiters;
            Input::Poll
        } else if first == end.1 {
            self.about = About::Call(end.0, false);
            self.settle(end.0, None)
        } else if first == timer.1 {
            self.about = About::Call(timer.0, true);
            Input::Elapsed(self.calls[timer.0].id)
        } else if first == late.1 {
            let (id, _) = self.left_behind.swap_remove(late.0);
            self.end(id, None, None)
        } else {
            self.arrive()
        }
    }

    /// Nothing will happen by itself any more.
    fn give_up(&mut self) -> Input {
        self.now += SECOND;
        self.about = About::Call(0, true);
        Input::Cancelled(self.calls[0].id)
    }

    fn arrive(&mut self) -> Input {
        let dice = &mut self.dice;
        self.next_arrival = self.now + dice.span(2 * self.gap);
        let safety = match dice.below(20) {
            0..5 => None,
            5..12 => Some(Safety::Idempotent),
            12..15 => Some(Safety::Keyed),
            15..19 => Some(Safety::Unsafe),
            _ => Some(Safety::Once),
        };
        let shown = self.now - self.behind;
        let deadline = match dice.below(20) {
            0..4 => Some(shown + dice.span(30_000)),
            4 => Some(shown + dice.span(90)),
            5 => Some(shown.saturating_sub(dice.span(50))),
            _ => None,
        };
        let cancelled = dice.one_in(80);
        self.about = About::New(safety);
        Input::Start { safety, deadline: deadline.map(Instant::from_nanos), cancelled }
    }

    /// The operation of a call ends: as `kind` says, or as the weather has it.
    fn settle(&mut self, place: usize, kind: Option<Kind>) -> Input {
        let Call { id, safety, .. } = self.calls[place];
        self.about = About::Call(place, false);
        self.end(id, safety, kind)
    }

    fn end(&mut self, call: CallId, safety: Option<Safety>, kind: Option<Kind>) -> Input {
        if let Some(kind) = kind {
            return Input::Settled(call, Outcome::of(kind));
        }
        match self.weather.end(&mut self.dice) {
            End::Named(outcome) => Input::Settled(call, outcome),
            End::Answer { status, retry_after_ms } => {
                Input::Answered { call, status, retry_after_ms, safety }
            }
        }
    }
}
