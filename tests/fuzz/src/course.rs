//! A policy and a course of events: two engines that are told the same, and a host that keeps books.
//!
//! The ids that the host names are current, stale or garbage, its clock races, steps back by hours
//! or reads nonsense, its timers fire early and late, and operations that were cut end when they
//! like.

mod books;
mod clock;
mod policy;

use std::fmt::Debug;

use arbitrary::{Result, Unstructured};
use stormproof::step::{Kind, Phase, Safety};
use stormproof::time::Instant;
use stormproof::{
    Action, CallId, Control, Engine, Event, Outcome, Reason, Request, Snapshot, Step,
};

use books::Books;
use clock::HostClock;
pub(crate) use policy::Limits;

/// Checks one course under the policy that it begins with.
pub fn check(input: &[u8]) {
    let mut source = Unstructured::new(input);
    let Ok((policy, limits)) = policy::draw(&mut source) else { return };
    // Not all that is drawn goes together.
    let Ok(engine) = Engine::new(&policy) else { return };
    Course::new(engine.clone(), engine, source, limits).run();
}

/// Plays a course with two engines of which nothing is known but that they are the same.
pub(crate) fn play_both(engine: Engine, twin: Engine, course: &[u8]) {
    Course::new(engine, twin, Unstructured::new(course), Limits::default()).run();
}

struct Course<'a> {
    engine: Engine,
    /// Told the same, and never looked at.
    twin: Engine,
    source: Unstructured<'a>,
    clock: HostClock,
    books: Books,
}

impl<'a> Course<'a> {
    fn new(engine: Engine, twin: Engine, source: Unstructured<'a>, limits: Limits) -> Self {
        Self { engine, twin, source, clock: HostClock::default(), books: Books::new(limits) }
    }

    fn run(mut self) {
        while !self.source.is_empty() && self.event().is_ok() {
            self.stand();
        }
        self.close();
    }

    /// The same question to both engines.
    fn ask<T: PartialEq + Debug>(&mut self, question: impl Fn(&mut Engine) -> T) -> T {
        let answer = question(&mut self.engine);
        assert_eq!(answer, question(&mut self.twin), "same inputs, same steps");
        answer
    }

    fn event(&mut self) -> Result<()> {
        let limit = self.books.limit(self.source.arbitrary()?);
        self.clock.pass(&mut self.source, limit)?;
        let now = self.clock.reading();
        match self.source.int_in_range(0..=15u8)? {
            0..=3 => self.start(now),
            4..=11 => self.current(now),
            12 => self.late(now),
            13 => self.stranger(now),
            14 if self.source.ratio(1, 4)? => self.order(now),
            _ => self.poll(now),
        }
    }

    fn start(&mut self, now: Instant) -> Result<()> {
        let few = u64::from(self.source.arbitrary::<u8>()?);
        let request = Request {
            safety: *self.source.choose(Safety::ALL)?,
            deadline: match self.source.int_in_range(0..=7u8)? {
                0 => Some(Instant::from_nanos(now.as_nanos().wrapping_add(few << 56))),
                1 | 2 => Some(Instant::from_nanos(now.as_nanos().saturating_add(few * 10_000_000))),
                _ => None,
            },
            cancelled: self.source.ratio(1, 16)?,
        };
        let step = self.ask(|engine| engine.start(now, request));
        self.books.on_start(&self.clock, &request, &step);
        Ok(())
    }

    /// Something happens to a call under way.
    fn current(&mut self, now: Instant) -> Result<()> {
        let Some(id) = self.books.current(self.source.arbitrary()?) else { return self.poll(now) };
        let event = self.draw_event()?;
        let before = self.engine.snapshot(now);
        let step = self.tell(now, id, event)?;
        if self.books.on_event(&self.clock, id, event, &step) {
            self.unchanged(now, &before);
        }
        Ok(())
    }

    /// An operation that was cut has ended, or something else comes under its id.
    fn late(&mut self, now: Instant) -> Result<()> {
        let Some(id) = self.books.cut(self.source.arbitrary()?) else { return self.poll(now) };
        let event = self.draw_event()?;
        let before = self.engine.snapshot(now);
        let step = self.tell(now, id, event)?;
        let Action::Stale { late } = step.action else { panic!("the call has moved on: {step:?}") };
        assert!(!late || matches!(event, Event::Settled(_)), "only a result is late");
        if !late {
            self.unchanged(now, &before);
            return Ok(());
        }
        self.books.on_late_result(id);
        let after = self.engine.snapshot(now);
        assert_eq!(after.counters.late_results, before.counters.late_results + 1);
        assert_eq!(after.abandoned, before.abandoned - 1, "it is not abandoned any more");
        Ok(())
    }

    /// An id that was renewed, that is over, or that there never was.
    fn stranger(&mut self, now: Instant) -> Result<()> {
        let draw = self.source.arbitrary::<u64>()?;
        let id = self.books.spent(draw).unwrap_or(CallId::from_bits(draw));
        if self.books.names_something(id) {
            return Ok(());
        }
        let event = self.draw_event()?;
        let before = self.engine.snapshot(now);
        let step = self.tell(now, id, event)?;
        assert_eq!(step.action, Action::Stale { late: false }, "{id:?} names nothing");
        self.unchanged(now, &before);
        Ok(())
    }

    fn order(&mut self, now: Instant) -> Result<()> {
        let order = *self.source.choose(Control::ALL)?;
        let step = self.ask(|engine| engine.control(now, order));
        assert_eq!(step.action, Action::Stale { late: false }, "an order names no call");
        self.books.on_poll_at(&self.clock, &step);
        Ok(())
    }

    fn poll(&mut self, now: Instant) -> Result<()> {
        let word = self.word()?;
        loop {
            let may_yield = self.books.may_yield(&self.clock);
            let step = self.ask(|engine| engine.poll_ready(now, word));
            assert!(may_yield || step.is_none(), "nobody's turn before poll_at: {step:?}");
            let Some(step) = step else {
                let poll_at = self.engine.poll_at(now);
                self.books.on_idle_poll(&self.clock, poll_at);
                return Ok(());
            };
            self.books.on_poll(&self.clock, &step);
        }
    }

    fn tell(&mut self, now: Instant, id: CallId, event: Event) -> Result<Step> {
        let word = self.word()?;
        let step = self.ask(|engine| engine.on_event(now, id, event, word));
        assert_eq!(step.previous, id, "the step answers the event: {step:?}");
        self.books.on_poll_at(&self.clock, &step);
        Ok(step)
    }

    fn draw_event(&mut self) -> Result<Event> {
        Ok(match self.source.int_in_range(0..=7u8)? {
            0 => Event::Cancelled,
            1..=3 => Event::Elapsed,
            4 => Event::Settled(Outcome::SUCCESS),
            5 => Event::Settled(Outcome::of(Kind::Server).with_status(503)),
            _ => Event::Settled(Outcome {
                kind: *self.source.choose(Kind::ALL)?,
                status: *self
                    .source
                    .choose(&[0, 200, 404, 409, 413, 421, 425, 429, 503, 65_535])?,
                phase: *self.source.choose(Phase::ALL)?,
                retry_after_ms: match self.source.int_in_range(0..=5u8)? {
                    0 => Some(0),
                    1 => Some(u64::from(self.source.arbitrary::<u8>()?) * 10),
                    2 => Some(self.source.arbitrary()?),
                    _ => None,
                },
            }),
        })
    }

    /// The ends of the range, the middle, and what lies between.
    fn word(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes([self.source.arbitrary::<u8>()?; 8]))
    }

    fn unchanged(&self, now: Instant, before: &Snapshot) {
        if self.clock.went_forward() {
            assert_eq!(&self.engine.snapshot(now), before, "nothing changed");
        }
    }

    /// The engine's books against the host's. Looking changes nothing: the twin is not looked at.
    fn stand(&self) {
        self.books.compare(&self.engine.snapshot(self.clock.reading()));
    }

    /// Everybody leaves: then nothing is held and nobody is forgotten.
    fn close(&mut self) {
        let now = self.clock.reading();
        while let Some(id) = self.books.current(0) {
            let event = match self.books.is_running(id) {
                true => Event::Settled(Outcome::SUCCESS),
                false => Event::Cancelled,
            };
            let step = self.ask(|engine| engine.on_event(now, id, event, 0));
            let Action::Finish(decision) = step.action else { panic!("{event:?}: {step:?}") };
            assert!([Reason::Success, Reason::Cancelled].contains(&decision.reason));
            assert!(!self.engine.explain(&decision, "it").is_empty(), "every end has its sentence");
            self.books.on_event(&self.clock, id, event, &step);
        }
        for id in self.books.all_cut() {
            let ended = Event::Settled(Outcome::SUCCESS);
            let step = self.ask(|engine| engine.on_event(now, id, ended, 0));
            let Action::Stale { late } = step.action else { panic!("it was cut: {step:?}") };
            if late {
                self.books.on_late_result(id);
            }
        }
        assert_eq!(self.ask(|engine| engine.poll_ready(now, 0)), None, "nobody waits");
        let end = self.engine.snapshot(now);
        assert_eq!((end.running, end.queued, end.abandoned), (0, 0, 0), "nothing is held");
        self.books.compare(&end);
    }
}
