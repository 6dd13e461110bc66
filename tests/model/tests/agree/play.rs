//! Both play the same course, and every field of every answer is compared.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use stormproof::step::Kind;
use stormproof::time::Instant;
use stormproof::{Action, CallId, Engine, Snapshot, Step};
use stormproof_model::laws::{self, Books};
use stormproof_model::{Answer, Document, Input, Model, Settings};

use crate::course::{Course, Line};
use crate::moves::{Mood, Scene};
use crate::tally::Tally;

/// The core and the model, side by side.
pub struct Play {
    pub model: Model,
    pub course: Course,
    pub tally: Tally,
    engine: Engine,
    /// The ids of the core, by those of the model less 1.
    ids: Vec<CallId>,
    names: HashMap<CallId, u64>,
    /// Is a snapshot read after every step? L9: whether or not, nothing changes.
    watched: bool,
}

impl Play {
    pub fn new(document: Document, watched: bool) -> Self {
        let engine = Engine::new(&document.policy())
            .unwrap_or_else(|error| panic!("the policy of a course is right: {error}\n{document}"));
        Self {
            model: Model::new(Settings::of(&document)),
            course: Course { document, lines: Vec::new() },
            tally: Tally::default(),
            engine,
            ids: Vec::new(),
            names: HashMap::new(),
            watched,
        }
    }

    /// Where the next line is chosen.
    pub fn scene(&self, mood: Mood) -> Scene<'_> {
        Scene { model: &self.model, mood, place: self.course.lines.len() }
    }

    /// Plays one line; a disagreement is told with the course that led to it.
    pub fn line(&mut self, line: Line) -> Result<(), String> {
        self.course.lines.push(line);
        let (reading, input, word) = line;
        let reading = Instant::from_nanos(reading);
        // E7: no input makes the core panic.
        let core = catch_unwind(AssertUnwindSafe(|| self.core(reading, input, word)));
        let core = core.map_err(|_| self.told("the core panicked"))?;
        let before = Books::of(&self.model);
        let model = self.model.step(reading, input, word);
        self.tally.count(model.as_ref());
        self.compare(input, core, model).map_err(|difference| self.told(&difference))?;
        if core.is_none() {
            self.next_polls(reading)?;
        }
        self.laws_of_step(&laws::Step {
            before: &before,
            input,
            answer: model.as_ref(),
            after: &self.model,
        })?;
        if self.watched { self.snapshots(reading) } else { Ok(()) }
    }

    /// The end of a course.
    pub fn close(&mut self) -> Result<(), String> {
        match self.course.lines.last() {
            Some((reading, ..)) => self.snapshots(Instant::from_nanos(*reading))?,
            None => return Ok(()),
        }
        match laws::OF_COURSES.iter().find(|(_, holds)| !holds(&self.model)) {
            Some((name, _)) => Err(self.told(&format!("{name} is broken by the rules themselves"))),
            None => Ok(()),
        }
    }

    fn laws_of_step(&self, step: &laws::Step) -> Result<(), String> {
        match laws::OF_STEPS.iter().find(|(_, holds)| !holds(step)) {
            Some((name, _)) => Err(self.told(&format!("{name} is broken by the rules themselves"))),
            None => Ok(()),
        }
    }

    fn core(&mut self, reading: Instant, input: Input, word: u64) -> Option<Step> {
        match input {
            Input::Start(request) => Some(self.engine.start(reading, request)),
            Input::Event(id, event) => {
                let id = self.core_id(id);
                Some(self.engine.on_event(reading, id, event, word))
            }
            Input::Poll => self.engine.poll_ready(reading, word),
            Input::Control(control) => Some(self.engine.control(reading, control)),
        }
    }

    /// The core's id, or a number that it never gave out.
    fn core_id(&self, id: u64) -> CallId {
        match id.checked_sub(1) {
            None => CallId::NONE,
            Some(place) => match self.ids.get(place as usize) {
                Some(id) => *id,
                None => CallId::from_bits(u64::MAX - id),
            },
        }
    }

    fn compare(
        &mut self,
        input: Input,
        core: Option<Step>,
        model: Option<Answer>,
    ) -> Result<(), String> {
        let (core, model) = match (core, model) {
            (None, None) => return Ok(()),
            (Some(core), Some(model)) => (core, model),
            (core, model) => return Err(format!("core {core:?}\nmodel {model:?}")),
        };
        if model.call as usize == self.ids.len() + 1 && !matches!(core.action, Action::Stale { .. })
        {
            let fresh = core.call != CallId::NONE && !self.names.contains_key(&core.call);
            if !fresh {
                return Err(format!("an id was used again: {core:?}"));
            }
            self.ids.push(core.call);
            self.names.insert(core.call, model.call);
        }
        let expected = Step {
            call: self.core_id(model.call),
            previous: self.core_id(model.previous),
            action: model.action,
            poll_at: model.poll_at,
            circuit: model.circuit,
        };
        if core != expected {
            return Err(format!("{input:?}\ncore  {core:?}\nmodel {expected:?}"));
        }
        Ok(())
    }

    /// E2: after a poll that yields nothing the engine is asked when to poll again.
    fn next_polls(&self, reading: Instant) -> Result<(), String> {
        let (core, model) = (self.engine.poll_at(reading), self.model.poll_at());
        if core == model {
            return Ok(());
        }
        Err(self.told(&format!("the next poll\ncore  {core:?}\nmodel {model:?}")))
    }

    /// Every figure, as things stand.
    pub fn snapshots(&self, reading: Instant) -> Result<(), String> {
        let (core, model): (Snapshot, Snapshot) =
            (self.engine.snapshot(reading), self.model.snapshot(reading));
        if core != model {
            return Err(self.told(&differing(&core, &model)));
        }
        Ok(())
    }

    /// What differed, and the course up to there.
    pub fn told(&self, difference: &str) -> String {
        format!("{difference}\n\n{}", self.course)
    }
}

/// The lines in which two snapshots differ, with the kinds for the places of counters.
fn differing(core: &Snapshot, model: &Snapshot) -> String {
    let lines = |snapshot: &Snapshot| {
        let (counters, kinds) = (&snapshot.counters, Kind::NAMES);
        let failures =
            kinds.iter().zip(counters.failures).map(|(kind, n)| format!("failures {kind} {n}"));
        let refusals =
            kinds.iter().zip(counters.refusals).map(|(kind, n)| format!("refusals {kind} {n}"));
        let mut rest = snapshot.clone();
        rest.counters.failures = Default::default();
        rest.counters.refusals = Default::default();
        let rest = format!("{rest:#?}").replace(",\n        ", ", ").replace("(\n        ", "(");
        failures.chain(refusals).chain(rest.lines().map(str::to_owned)).collect::<Vec<_>>()
    };
    let pairs = lines(core).into_iter().zip(lines(model)).filter(|(core, model)| core != model);
    pairs.map(|(core, model)| format!("core  {}\nmodel {}\n", core.trim(), model.trim())).collect()
}
