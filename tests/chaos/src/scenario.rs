//! What the servers of a run do, and when they are killed: drawn from its seed.

use fastrand::Rng;
use serde_json::{Value, json};

use crate::mood;

/// One server after the other on the same port, each until it is killed.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// In their order.
    pub lives: Vec<Life>,
}

/// A server from its start to its death.
#[derive(Clone, Debug)]
pub struct Life {
    /// Since the start of the load, in milliseconds.
    pub from_ms: u64,
    /// When it is killed.
    pub to_ms: u64,
    phases: Vec<Phase>,
    seed: u64,
}

#[derive(Clone, Debug)]
struct Phase {
    name: &'static str,
    from_ms: u64,
    to_ms: u64,
}

impl Scenario {
    /// The scenario of this seed for so many milliseconds of load.
    pub fn draw(seed: u64, load_ms: u64) -> Self {
        let mut dice = Rng::with_seed(seed);
        // The servers go on while the last calls drain.
        let end_ms = load_ms + 20_000;
        let phases = phases(&mut dice, load_ms, end_ms);
        let mut lives = Vec::new();
        let mut from_ms = 0;
        while from_ms < load_ms {
            let to_ms = match from_ms + dice.u64(4_000..=12_000) {
                late if late + 2_000 > load_ms => end_ms,
                early => early,
            };
            let own = phases.iter().filter(|phase| phase.from_ms < to_ms && phase.to_ms > from_ms);
            let phases = own.map(|phase| phase.within(from_ms, to_ms)).collect();
            lives.push(Life { from_ms, to_ms, phases, seed: dice.u64(1..1 << 40) });
            from_ms = to_ms + dice.u64(100..=900);
        }
        Self { lives }
    }
}

impl Life {
    /// A server that answers at once and never fails, for the calls before the load.
    pub fn calm() -> Value {
        let mix =
            json!([{"weight": 1, "step": {"status": 200, "latency_ms": [2, 10], "body": "ok"}}]);
        json!({"phases": [{"name": "calm", "until_ms": 1_000, "mix": mix}]})
    }

    /// The document that the fault server reads.
    pub fn document(&self) -> Value {
        let phases = self.phases.iter().map(|phase| {
            let until_ms = phase.to_ms - self.from_ms;
            match mood::mix(phase.name) {
                Some(mix) => json!({"name": phase.name, "until_ms": until_ms, "mix": mix}),
                None => json!({"name": phase.name, "until_ms": until_ms, "down": true}),
            }
        });
        json!({"seed": self.seed, "phases": Value::from_iter(phases)})
    }
}

impl Phase {
    fn within(&self, from_ms: u64, to_ms: u64) -> Self {
        Self { name: self.name, from_ms: self.from_ms.max(from_ms), to_ms: self.to_ms.min(to_ms) }
    }
}

/// Bad and good by turns: every mood comes before one comes again.
fn phases(dice: &mut Rng, load_ms: u64, end_ms: u64) -> Vec<Phase> {
    let mut phases =
        vec![Phase { name: mood::HEALTHY, from_ms: 0, to_ms: dice.u64(1_500..=3_000) }];
    let mut deck = Vec::new();
    loop {
        let from_ms = phases.last().map_or(0, |phase| phase.to_ms);
        if from_ms >= load_ms {
            phases.push(Phase { name: mood::HEALTHY, from_ms, to_ms: end_ms.max(from_ms + 1) });
            return phases;
        }
        if deck.is_empty() {
            deck = mood::BAD.to_vec();
            dice.shuffle(&mut deck);
        }
        let name = deck.pop().unwrap_or(mood::HEALTHY);
        let to_ms = from_ms + dice.u64(1_000..=2_500);
        phases.push(Phase { name, from_ms, to_ms });
        phases.push(Phase {
            name: mood::HEALTHY,
            from_ms: to_ms,
            to_ms: to_ms + dice.u64(2_000..=4_000),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_a_scenario_and_servers_are_killed_in_it() {
        for seed in 0..200 {
            let scenario = Scenario::draw(seed, 60_000);
            let documents: Vec<Value> = scenario.lives.iter().map(Life::document).collect();
            let again = Scenario::draw(seed, 60_000);
            assert_eq!(documents, again.lives.iter().map(Life::document).collect::<Vec<_>>());
            assert!(scenario.lives.len() >= 4, "seed {seed}: {} lives", scenario.lives.len());
            for pair in scenario.lives.windows(2) {
                assert!(pair[0].to_ms < pair[1].from_ms, "seed {seed}");
            }
            for document in documents {
                let mut before = 0;
                for phase in document["phases"].as_array().unwrap() {
                    let until = phase["until_ms"].as_u64().unwrap();
                    assert!(until > before, "seed {seed}: {document}");
                    before = until;
                }
            }
        }
    }
}
