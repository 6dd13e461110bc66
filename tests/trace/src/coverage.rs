//! What of the vocabulary of steps the trace has used.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use stormproof::step::{ChangeCause, Circuit, Why};
use stormproof::{Action, Reason};

use crate::input::Answer;

const ACTIONS: &[&str] = &["attempt", "wait", "queue", "finish", "stale", "late"];

/// How often each word was said.
#[derive(Default)]
pub struct Coverage {
    actions: [u64; 6],
    reasons: [u64; Reason::ALL.len()],
    whys: [u64; Why::ALL.len()],
    causes: [u64; ChangeCause::ALL.len()],
    circuits: [u64; Circuit::ALL.len()],
    forced: [u64; 2],
}

impl Coverage {
    /// Enters an answer.
    pub fn add(&mut self, answer: &Answer) {
        let Answer::Step(Some(step)) = answer else { return };
        let action = match &step.action {
            Action::Attempt { .. } => 0,
            Action::Wait { why, .. } => {
                self.whys[*why as usize] += 1;
                1
            }
            Action::Queue { .. } => 2,
            Action::Finish(decision) => {
                self.reasons[decision.reason as usize] += 1;
                self.forced[usize::from(decision.forced)] += 1;
                3
            }
            Action::Stale { late } => 4 + usize::from(*late),
        };
        self.actions[action] += 1;
        if let Some(change) = step.circuit {
            self.causes[change.cause as usize] += 1;
            self.circuits[change.to as usize] += 1;
        }
    }

    /// One line for each kind of word.
    pub fn table(&self) -> String {
        let mut text = String::new();
        for (kind, names, counts) in self.rows() {
            text += kind;
            for (name, count) in names.iter().zip(counts) {
                write!(text, " {name} {count}").expect("a string takes all");
            }
            text.push('\n');
        }
        text
    }

    /// The words that were never said.
    pub fn lacking(&self) -> Vec<&'static str> {
        self.rows()
            .into_iter()
            .flat_map(|(_, names, counts)| names.iter().zip(counts))
            .filter(|(_, count)| **count == 0)
            .map(|(name, _)| *name)
            .collect()
    }

    fn rows(&self) -> [(&'static str, &'static [&'static str], &[u64]); 6] {
        [
            ("actions", ACTIONS, &self.actions),
            ("reasons", Reason::NAMES, &self.reasons),
            ("waits", Why::NAMES, &self.whys),
            ("causes", ChangeCause::NAMES, &self.causes),
            ("circuits", Circuit::NAMES, &self.circuits),
            ("refusals", &["free", "forced"], &self.forced),
        ]
    }
}
