//! One move with the state before it and the state after it.

use std::fmt;

use stormproof::proof::{CallState, PassState, StageState, State};
use stormproof::step::{Kind, Safety};
use stormproof::time::Instant;
use stormproof::{Action, Control, Decision, Outcome, Step};

use crate::rules::{Rules, TICK};
use crate::world::{Move, Scene, World};

/// What a law looks at.
#[derive(Debug)]
pub struct Transition<'a> {
    pub scene: &'a Scene,
    pub what: Move,
    /// How much time passed.
    pub span: u64,
    pub before: &'a State,
    pub after: &'a State,
    /// The world afterwards.
    pub world: &'a World,
    /// The call that the move was about, as it stood before.
    pub subject: Option<CallState>,
    pub step: Option<Step>,
}

impl fmt::Display for Transition<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{:?} of {:?} got {:?}", self.what, self.subject, self.step)?;
        write!(out, "before {:?}\nafter  {:?}", self.before, self.after)
    }
}

/// How the operation of a running attempt came to an end, if the move ended it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, or by its own time limit.
    Outcome(Outcome),
    /// By the call's deadline.
    Deadline,
    /// By the caller.
    Cancelled,
}

/// A call under way, taken apart.
#[derive(Clone, Debug)]
pub struct Live<'a> {
    pub stage: &'a StageState,
    pub deadline: Option<u64>,
    pub attempts: u32,
    /// Ceiling, last own delay, and whether any retry was planned.
    pub growth: (u64, u64, bool),
    pub token: Option<(u64, bool)>,
    pub retried_once: bool,
    pub pass: Option<&'a PassState>,
    pub safety: Safety,
}

pub fn live(call: &CallState) -> Option<Live<'_>> {
    let CallState::Live { stage, deadline, attempts, growth, token, retried_once, pass, safety } =
        call
    else {
        return None;
    };
    Some(Live {
        stage,
        deadline: *deadline,
        attempts: *attempts,
        growth: *growth,
        token: *token,
        retried_once: *retried_once,
        pass: pass.as_ref(),
        safety: Safety::from_code(*safety).expect("the code is a safety's"),
    })
}

impl<'a> Transition<'a> {
    pub fn rules(&self) -> &'a Rules {
        &self.scene.rules
    }

    /// The call that the move was about, if it was under way.
    pub fn caller(&self) -> Option<Live<'_>> {
        self.subject.as_ref().and_then(live)
    }

    /// The random word that the engine was given.
    pub fn word(&self) -> u64 {
        match self.what {
            Move::Settle { word, .. } | Move::Elapse { word, .. } | Move::Poll { word } => {
                self.scene.words[word as usize]
            }
            _ => 0,
        }
    }

    pub fn control(&self) -> Option<Control> {
        match self.what {
            Move::Control(order) => Some(self.scene.controls[order as usize]),
            _ => None,
        }
    }

    pub fn decision(&self) -> Option<&Decision> {
        match &self.step.as_ref()?.action {
            Action::Finish(decision) => Some(decision),
            _ => None,
        }
    }

    pub fn is_attempt(&self) -> bool {
        matches!(self.step, Some(Step { action: Action::Attempt { .. }, .. }))
    }

    /// The planned wait, if the step is the start of one.
    pub fn planned(&self) -> Option<(u64, stormproof::step::Why)> {
        match self.step?.action {
            Action::Wait { planned, why, .. } if self.is_new_phase() => {
                Some((planned.as_nanos() as u64, why))
            }
            _ => None,
        }
    }

    /// Did the call get a new id?
    pub fn is_new_phase(&self) -> bool {
        self.step.is_some_and(|step| step.call != step.previous)
    }

    /// How the move ended a running attempt.
    pub fn end(&self) -> Option<End> {
        let caller = self.caller()?;
        let StageState::Running(left) = caller.stage else { return None };
        match self.what {
            Move::Settle { outcome, .. } => {
                Some(End::Outcome(self.scene.outcomes[outcome as usize]))
            }
            Move::Elapse { .. } if *left != Some(0) => None,
            Move::Elapse { .. } if caller.deadline == Some(0) => Some(End::Deadline),
            Move::Elapse { .. } => Some(End::Outcome(Outcome::of(Kind::Timeout))),
            Move::Cancel { .. } => Some(End::Cancelled),
            _ => None,
        }
    }

    /// How far an instant of the host lies ahead.
    pub fn ahead(&self, instant: Instant) -> u64 {
        instant.saturating_since(self.world.now()).as_nanos() as u64
    }
}

/// The own delay before retry `n`, and before the same again: without jitter, or full jitter with
/// the lowest or the highest word.
pub fn own_delay(rules: &Rules, n: u32, word: u64) -> u64 {
    let mut ceiling = rules.base.min(rules.cap);
    for _ in 1..n {
        ceiling = (ceiling * 2).min(rules.cap);
    }
    match (rules.jitter, word) {
        (stormproof::Jitter::None, _) | (stormproof::Jitter::Full, u64::MAX) => ceiling * TICK,
        (stormproof::Jitter::Full, 0) => 0,
        _ => unreachable!("scenes have no other jitters and words"),
    }
}
