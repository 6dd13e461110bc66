//! A course: a policy and what the host says, one line each, to be pasted into a test.

use std::fmt;

use stormproof::step::{Control, Outcome, Phase, Safety};
use stormproof::time::Instant;
use stormproof::{Event, Request};
use stormproof_model::{Document, Input};

/// The reading of the clock, what is said, and the random word.
pub type Line = (u64, Input, u64);

/// What was played.
pub struct Course {
    pub document: Document,
    pub lines: Vec<Line>,
}

impl fmt::Display for Course {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "let document = {};", self.document)?;
        writeln!(out, "agree(&document, &[")?;
        for (at, input, word) in &self.lines {
            writeln!(out, "    ({at}, {}, {word:#x}),", spelled(input))?;
        }
        write!(out, "]);")
    }
}

fn spelled(input: &Input) -> String {
    match input {
        Input::Start(request) if request.cancelled => "cancelled_start()".into(),
        Input::Start(Request { safety: Safety::Idempotent, deadline: None, .. }) => {
            "start()".into()
        }
        Input::Start(request) => {
            let deadline = request.deadline.map(Instant::as_nanos);
            format!("start_with(Safety::{:?}, {deadline:?})", request.safety)
        }
        Input::Event(id, Event::Settled(outcome)) => {
            format!("settled({id}, {})", spelled_outcome(outcome))
        }
        Input::Event(id, Event::Elapsed) => format!("elapsed({id})"),
        Input::Event(id, Event::Cancelled) => format!("cancelled({id})"),
        Input::Poll => "Input::Poll".into(),
        Input::Control(control) => format!("Input::Control(Control::{control:?})"),
    }
}

fn spelled_outcome(outcome: &Outcome) -> String {
    let mut text = format!("Outcome::of(Kind::{:?})", outcome.kind);
    if outcome.status != 0 {
        text += &format!(".with_status({})", outcome.status);
    }
    if let Some(millis) = outcome.retry_after_ms {
        text += &format!(".with_retry_after_ms({millis})");
    }
    if outcome.phase == Phase::NotSent {
        text += ".not_sent()";
    }
    text
}

pub fn start() -> Input {
    Input::Start(Request::default())
}

pub fn cancelled_start() -> Input {
    Input::Start(Request { cancelled: true, ..Request::default() })
}

pub fn start_with(safety: Safety, deadline: Option<u64>) -> Input {
    let deadline = deadline.map(Instant::from_nanos);
    Input::Start(Request { safety, deadline, cancelled: false })
}

pub fn settled(id: u64, outcome: Outcome) -> Input {
    Input::Event(id, Event::Settled(outcome))
}

pub fn elapsed(id: u64) -> Input {
    Input::Event(id, Event::Elapsed)
}

pub fn cancelled(id: u64) -> Input {
    Input::Event(id, Event::Cancelled)
}

pub fn control(control: Control) -> Input {
    Input::Control(control)
}
