//! A host without a dependency: it starts calls, does what the steps say, and is late, early or out
//! of its mind, as hosts are.

use stormproof::step::{Kind, Safety};
use stormproof::time::Instant;
use stormproof::{Action, CallId, Control, Decision, Outcome, Step};

use crate::calls::Calls;
use crate::clock::{Clock, NEVER, SECOND};
use crate::dice::Dice;
use crate::input::{Answer, Input};
use crate::weather::{End, Weather};

/// Whom an input is about.
#[derive(Clone, Copy)]
enum About {
    New(Option<Safety>),
    /// The call at this place, whose operation, if one runs, goes on.
    Call(usize),
    /// The call at this place, whose operation has ended.
    Ended(usize),
    Waiters,
    Nobody,
}

pub struct Host {
    dice: Dice,
    clock: Clock,
    calls: Calls,
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
            clock: Clock::new(origin, &mut dice),
            calls: Calls::default(),
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
        self.about = About::Nobody;
        if let Some(decision) = self.ended.take()
            && self.dice.one_in(8)
        {
            return (self.clock.reading(&mut self.dice), Input::Explain(decision));
        }
        if self.dice.one_in(150) {
            self.weather = Weather::draw(&mut self.dice);
        }
        self.clock.on_mishap(&mut self.dice);
        let input = self.oddity().unwrap_or_else(|| self.due());
        (self.clock.reading(&mut self.dice), input)
    }

    /// Does what the answer says.
    pub fn on_answer(&mut self, answer: &Answer) {
        let step = match answer {
            Answer::Step(Some(step)) => step,
            Answer::Step(None) if self.poll_at <= self.clock.now => {
                self.poll_at = NEVER;
                return;
            }
            _ => return,
        };
        self.poll_at = self.clock.true_time(step.poll_at);
        if let Action::Finish(decision) = step.action {
            self.on_finish(decision);
        }
        let place = match self.about {
            About::New(safety) => Some(self.calls.start(step.call, safety)),
            About::Call(place) => {
                self.calls.leave_behind(place, step);
                Some(place)
            }
            About::Ended(place) => Some(place),
            About::Waiters => self.calls.place_of(step.previous),
            About::Nobody => None,
        };
        if let Some(place) = place {
            self.follow(place, step);
        }
    }

    fn on_finish(&mut self, decision: Decision) {
        self.ended = Some(decision);
        self.forced = decision.forced;
        if decision.attempts == 0 {
            // Callers come less often, or the trace would tell of little but refusals.
            self.next_arrival += self.dice.span(30 * self.gap);
        }
    }

    fn follow(&mut self, place: usize, step: &Step) {
        let (until, starts) = match step.action {
            Action::Attempt { until, .. } => (until, true),
            Action::Wait { until, .. } | Action::Queue { until } => (until, false),
            Action::Finish(_) | Action::Stale { .. } => (None, false),
        };
        let timer = self.timer(until);
        let end = starts.then(|| {
            let takes = self.weather.takes(&mut self.dice);
            takes.map_or(NEVER, |takes| self.clock.now + takes)
        });
        self.calls.follow(place, step, timer, end);
    }

    /// When the host's timer for this instant fires: on time, early or late.
    fn timer(&mut self, until: Option<Instant>) -> u64 {
        let due = self.clock.true_time(until);
        if due == NEVER {
            return NEVER;
        }
        let dice = &mut self.dice;
        match dice.below(20) {
            0..10 => due,
            10..13 => due + dice.span(2),
            13..15 => due.saturating_sub(dice.span(5)),
            15 => due - u64::from(due > self.clock.now),
            16..19 => due + dice.span(400),
            _ => due + dice.span(45_000),
        }
    }

    /// What comes at any time, or should not come at all.
    fn oddity(&mut self) -> Option<Input> {
        match self.dice.below(512) {
            0..8 => Some(Input::Snapshot),
            8..12 => {
                self.about = About::Waiters;
                Some(Input::Poll)
            }
            12 => Some(Input::Control(self.dice.pick(Control::ALL))),
            480.. if self.forced => Some(Input::Control(self.dice.pick(Control::ALL))),
            13..18 => Some(self.stray()),
            draw @ 18..40 if self.calls.len() > 0 => Some(self.untimely(draw)),
            _ => None,
        }
    }

    /// Something about any of the calls, whatever it waits for.
    fn untimely(&mut self, draw: u32) -> Input {
        let place = self.dice.below(self.calls.len() as u32) as usize;
        let call = self.calls.at(place);
        self.about = About::Call(place);
        match draw {
            18..26 => Input::Cancelled(call.id),
            26..36 => Input::Elapsed(call.id),
            _ if call.runs() => {
                self.about = About::Ended(place);
                Input::Settled(call.id, Outcome::of(Kind::Cancelled))
            }
            _ => {
                self.about = About::Nobody;
                Input::Settled(call.id, Outcome::SUCCESS)
            }
        }
    }

    fn stray(&mut self) -> Input {
        let id = self.calls.stray(&mut self.dice);
        match self.dice.below(3) {
            0 => Input::Elapsed(id),
            1 => Input::Cancelled(id),
            _ => Input::Settled(id, Outcome::SUCCESS),
        }
    }

    /// What is due first; time passes until then.
    fn due(&mut self) -> Input {
        let arrival = if self.calls.len() < self.crowd { self.next_arrival } else { NEVER };
        let (timer, timed) = self.calls.first_timer();
        let (end, ended) = self.calls.first_end();
        let (late_end, late) = self.calls.first_late_end();
        let first = arrival.min(timer).min(end).min(late_end).min(self.poll_at);
        if first == NEVER {
            return self.give_up();
        }
        self.clock.now = self.clock.now.max(first);
        if first == self.poll_at {
            self.about = About::Waiters;
            Input::Poll
        } else if first == end {
            self.about = About::Ended(ended);
            let call = self.calls.at(ended);
            self.end(call.id, call.safety)
        } else if first == timer {
            self.about = About::Call(timed);
            Input::Elapsed(self.calls.at(timed).id)
        } else if first == late_end {
            let id = self.calls.on_late_end(late);
            self.end(id, None)
        } else {
            self.arrive()
        }
    }

    /// Nothing will happen by itself any more.
    fn give_up(&mut self) -> Input {
        self.clock.now += SECOND;
        self.about = About::Call(0);
        Input::Cancelled(self.calls.at(0).id)
    }

    fn arrive(&mut self) -> Input {
        let dice = &mut self.dice;
        self.next_arrival = self.clock.now + dice.span(2 * self.gap);
        let safety = match dice.below(20) {
            0..5 => None,
            5..12 => Some(Safety::Idempotent),
            12..15 => Some(Safety::Keyed),
            15..19 => Some(Safety::Unsafe),
            _ => Some(Safety::Once),
        };
        let shown = self.clock.shown();
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

    /// An operation ends as the weather has it.
    fn end(&mut self, call: CallId, safety: Option<Safety>) -> Input {
        match self.weather.end(&mut self.dice) {
            End::Named(outcome) => Input::Settled(call, outcome),
            End::Answer { status, retry_after_ms } => {
                Input::Answered { call, status, retry_after_ms, safety }
            }
        }
    }
}
