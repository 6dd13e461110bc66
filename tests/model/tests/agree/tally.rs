//! How often what came out: a course that never leads anywhere proves nothing.

use std::collections::BTreeMap;

use stormproof::step::{ChangeCause, Why};
use stormproof::{Action, Reason};
use stormproof_model::Answer;

/// Counts by name.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub steps: u64,
    counts: BTreeMap<(&'static str, &'static str), u64>,
}

impl Tally {
    pub fn count(&mut self, answer: Option<&Answer>) {
        self.steps += 1;
        let Some(answer) = answer else { return self.add("action", "none") };
        match answer.action {
            Action::Attempt { .. } => self.add("action", "attempt"),
            Action::Wait { why, .. } => {
                self.add("action", "wait");
                self.add("why", why.name());
            }
            Action::Queue { .. } => self.add("action", "queue"),
            Action::Finish(decision) => {
                self.add("action", "finish");
                self.add("reason", decision.reason.name());
            }
            Action::Stale { late: false } => self.add("action", "stale"),
            Action::Stale { late: true } => self.add("action", "late"),
        }
        if let Some(change) = answer.circuit {
            self.add("circuit", change.cause.name());
        }
    }

    fn add(&mut self, group: &'static str, name: &'static str) {
        *self.counts.entry((group, name)).or_default() += 1;
    }

    pub fn merge(&mut self, other: &Self) {
        self.steps += other.steps;
        for (key, count) in &other.counts {
            *self.counts.entry(*key).or_default() += count;
        }
    }

    pub fn print(&self) {
        for group in ["action", "why", "reason", "circuit"] {
            let of_group = self.counts.iter().filter(|((of, _), _)| *of == group);
            let words: Vec<String> = of_group.map(|((_, name), n)| format!("{name} {n}")).collect();
            println!("{group}: {}", words.join(", "));
        }
    }

    /// What never came out although it can.
    pub fn missing(&self) -> Vec<(&'static str, &'static str)> {
        let actions = ["attempt", "wait", "queue", "finish", "stale", "late", "none"];
        let groups: [(&str, &[&str]); 4] = [
            ("action", &actions),
            ("why", Why::NAMES),
            ("reason", Reason::NAMES),
            ("circuit", ChangeCause::NAMES),
        ];
        let all =
            groups.iter().flat_map(|(group, names)| names.iter().map(move |name| (*group, *name)));
        all.filter(|key| !self.counts.contains_key(key)).collect()
    }
}
