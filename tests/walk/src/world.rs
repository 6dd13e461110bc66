//! A world: one engine, its host, and what can happen to them.

use stormproof::proof::{CallState, CircuitPhase};
use stormproof::step::Safety;
use stormproof::time::Instant;
use stormproof::{Action, CallId, Control, Engine, Event, Outcome, Request, Step};

use crate::rules::{Rules, TICK, ticks};

const HOUR: u64 = 36_000 * TICK;
/// How many ids that name nothing any more are tried again.
const REMEMBERED: usize = 4;

/// What can happen in a world, and to how many calls at once.
#[derive(Clone, Debug)]
pub struct Scene {
    pub name: &'static str,
    pub rules: Rules,
    /// Calls under way and attempts left behind at which no call starts.
    pub calls: usize,
    /// Outcomes within the window, and calls that may add one, at which no call starts.
    pub outcomes_counted: u64,
    pub outcomes: Vec<Outcome>,
    pub words: Vec<u64>,
    /// Of new calls: the deadline in ticks, and the safety.
    pub requests: Vec<(Option<u64>, Safety)>,
    pub controls: Vec<Control>,
}

/// One thing that happens. Numbers are places in the lists of the scene and of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// A tick passes and nothing else.
    Tick,
    /// An hour passes.
    Hour,
    Start(u8),
    Settle {
        call: u8,
        outcome: u8,
        word: u8,
    },
    Elapse {
        call: u8,
        word: u8,
    },
    Cancel {
        call: u8,
    },
    /// The attempt left behind ends.
    Late {
        attempt: u8,
    },
    Poll {
        word: u8,
    },
    Control(u8),
}

/// An engine and its host's books.
#[derive(Clone, Debug)]
pub struct World {
    pub engine: Engine,
    /// What the host's clock reads.
    pub clock: u64,
    /// Calls under way.
    pub calls: Vec<CallId>,
    /// Attempts left behind.
    pub abandoned: Vec<CallId>,
    /// Some ids that name nothing any more.
    pub gone: Vec<CallId>,
}

impl World {
    pub fn new(rules: &Rules) -> Self {
        Self {
            engine: Engine::new(&rules.policy()).expect("the rules of a scene are right"),
            clock: 10_000_000 * TICK,
            calls: Vec::new(),
            abandoned: Vec::new(),
            gone: Vec::new(),
        }
    }

    pub fn now(&self) -> Instant {
        Instant::from_nanos(self.clock)
    }

    /// What this id names.
    pub fn call(&self, id: CallId) -> Option<CallState> {
        self.engine.call_state_of(self.now(), id)
    }

    /// Everything that can happen now.
    pub fn moves(&self, scene: &Scene) -> Vec<Move> {
        let mut moves = vec![Move::Tick, Move::Hour];
        let words = 0..scene.words.len() as u8;
        let counted = self.counted() + self.calls.len() as u64;
        if self.calls.len() + self.abandoned.len() < scene.calls && counted < scene.outcomes_counted
        {
            moves.extend((0..scene.requests.len() as u8).map(Move::Start));
        }
        for call in 0..self.calls.len() as u8 {
            moves.push(Move::Cancel { call });
            for word in words.clone() {
                moves.push(Move::Elapse { call, word });
                let outcomes = 0..scene.outcomes.len() as u8;
                moves.extend(outcomes.map(|outcome| Move::Settle { call, outcome, word }));
            }
        }
        moves.extend((0..self.abandoned.len() as u8).map(|attempt| Move::Late { attempt }));
        moves.extend(words.map(|word| Move::Poll { word }));
        moves.extend((0..scene.controls.len() as u8).map(Move::Control));
        moves
    }

    /// Outcomes within the window, where a rule counts them.
    fn counted(&self) -> u64 {
        match self.engine.state(self.now()).circuit.phase {
            CircuitPhase::Closed { slices, .. } => slices.iter().map(|slice| slice[0]).sum(),
            _ => 0,
        }
    }

    /// Makes the move; answers with the call that it was about and the engine's step.
    pub fn make(&mut self, scene: &Scene, what: Move) -> Option<(CallId, Step)> {
        let word = |word: u8| scene.words[word as usize];
        match what {
            Move::Tick | Move::Hour => self.pass(Self::span_of(what)),
            Move::Start(request) => {
                let (deadline, safety) = scene.requests[request as usize];
                let deadline = deadline.map(|n| self.now().saturating_add(ticks(n)));
                let request = Request { safety, deadline, cancelled: false };
                let step = self.engine.start(self.now(), request);
                return Some(self.on_step(CallId::NONE, step));
            }
            Move::Settle { call, outcome, word: w } => {
                let event = Event::Settled(scene.outcomes[outcome as usize]);
                return Some(self.tell(self.calls[call as usize], event, word(w)));
            }
            Move::Elapse { call, word: w } => {
                return Some(self.tell(self.calls[call as usize], Event::Elapsed, word(w)));
            }
            Move::Cancel { call } => {
                return Some(self.tell(self.calls[call as usize], Event::Cancelled, 0));
            }
            Move::Late { attempt } => {
                let id = self.abandoned[attempt as usize];
                return Some(self.tell(id, Event::Settled(Outcome::SUCCESS), 0));
            }
            Move::Poll { word: w } => {
                let step = self.engine.poll_ready(self.now(), word(w))?;
                return Some(self.on_step(step.previous, step));
            }
            Move::Control(order) => {
                let step = self.engine.control(self.now(), scene.controls[order as usize]);
                return Some(self.on_step(CallId::NONE, step));
            }
        }
        None
    }

    /// How much time the move takes.
    pub fn span_of(what: Move) -> u64 {
        match what {
            Move::Tick => TICK,
            Move::Hour => HOUR,
            _ => 0,
        }
    }

    fn pass(&mut self, span: u64) {
        // Every other time the host's clock is set back an hour first, which takes no time: so the
        // host's instants and the engine's drift apart on the way.
        if (self.clock / TICK).is_multiple_of(2) {
            // The engine knows of the time that passed before.
            self.engine.on_event(self.now(), CallId::NONE, Event::Elapsed, 0);
            self.clock -= HOUR;
            self.engine.on_event(self.now(), CallId::NONE, Event::Elapsed, 0);
        }
        self.clock += span;
        for id in self.abandoned.clone() {
            self.place(id);
        }
    }

    fn tell(&mut self, id: CallId, event: Event, word: u64) -> (CallId, Step) {
        let step = self.engine.on_event(self.now(), id, event, word);
        self.on_step(id, step)
    }

    /// The host writes down what the step says.
    fn on_step(&mut self, id: CallId, step: Step) -> (CallId, Step) {
        let was = [id, step.previous];
        let is_new = !self.calls.contains(&step.previous);
        match step.action {
            Action::Finish(_) => self.calls.retain(|call| !was.contains(call)),
            Action::Stale { .. } => {}
            _ if is_new => self.calls.push(step.call),
            _ => {
                for call in self.calls.iter_mut().filter(|call| **call == step.previous) {
                    *call = step.call;
                }
            }
        }
        for id in was.into_iter().chain(self.abandoned.clone()) {
            self.place(id);
        }
        (id, step)
    }

    /// An id that left the calls names an attempt left behind, or nothing.
    fn place(&mut self, id: CallId) {
        if id == CallId::NONE || self.calls.contains(&id) {
            return;
        }
        self.abandoned.retain(|known| *known != id);
        if self.call(id).is_some() {
            self.abandoned.push(id);
        } else if !self.gone.contains(&id) {
            self.gone.push(id);
            if self.gone.len() > REMEMBERED {
                self.gone.remove(0);
            }
        }
    }
}
