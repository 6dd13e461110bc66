//! A timetable of phases, each with a mix of steps.

use crate::invalid::{Invalid, parse, refuse};
use crate::span::Span;
use crate::step::Step;
use serde::Deserialize;
use serde::de::Error;
use std::sync::Arc;

const MOST_WORKERS: usize = 10_000;
const LONGEST_QUEUE: usize = 100_000;
/// One day.
const LONGEST_MS: u64 = 86_400_000;

/// What the server does over time with every path that is neither script nor control.
#[derive(Debug, Clone)]
pub struct Scenario {
    pub(crate) seed: u64,
    pub(crate) capacity: Option<Capacity>,
    /// Never empty; `until_ms` rises.
    pub(crate) phases: Vec<Phase>,
    pub(crate) after: After,
}

/// How much a server can do at a time.
#[derive(Debug, Clone)]
pub(crate) struct Capacity {
    pub(crate) workers: usize,
    pub(crate) service: Span,
    pub(crate) queue: usize,
    pub(crate) when_full: Arc<Step>,
}

/// A stretch of time with one behaviour. A phase that is `down` has no listener.
#[derive(Debug, Clone)]
pub(crate) struct Phase {
    pub(crate) name: String,
    pub(crate) until_ms: u64,
    pub(crate) down: bool,
    pub(crate) mix: Vec<Share>,
}

/// A step and how often it comes, beside the weights of its neighbours.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Share {
    #[serde(deserialize_with = "weight")]
    pub(crate) weight: f64,
    pub(crate) step: Arc<Step>,
}

/// What follows the last phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum After {
    Loop,
    #[default]
    Last,
}

impl Scenario {
    /// Reads a scenario from JSON.
    ///
    /// # Errors
    /// Names the field, its value and what is allowed there.
    pub fn parse(json: &str) -> Result<Self, Invalid> {
        parse(json.as_bytes())
    }

    pub(crate) fn last(&self) -> &Phase {
        self.phases.last().expect("a scenario was read with at least one phase")
    }

    /// The length of all phases together.
    pub(crate) fn round_ms(&self) -> u64 {
        self.last().until_ms
    }
}

/// Every request is answered with an empty 200.
impl Default for Scenario {
    fn default() -> Self {
        let step = Arc::new(Step::status(hyper::StatusCode::OK));
        let phase = Phase {
            name: "calm".into(),
            until_ms: LONGEST_MS,
            down: false,
            mix: vec![Share { weight: 1.0, step }],
        };
        Self { seed: 1, capacity: None, phases: vec![phase], after: After::Last }
    }
}

impl<'de> Deserialize<'de> for Scenario {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let fields = ScenarioFields::deserialize(from)?;
        if fields.phases.is_empty() {
            return Err(refuse("phases", "[]", "at least one phase"));
        }
        for pair in fields.phases.windows(2) {
            if pair[1].until_ms <= pair[0].until_ms {
                let field = format!("until_ms of phase {:?}", pair[1].name);
                let allowed =
                    format!("more than {}, where the phase before ends", pair[0].until_ms);
                return Err(refuse(&field, pair[1].until_ms, allowed));
            }
        }
        let ScenarioFields { seed, capacity, phases, after } = fields;
        Ok(Self { seed, capacity, phases, after })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScenarioFields {
    #[serde(default = "first_seed")]
    seed: u64,
    capacity: Option<Capacity>,
    phases: Vec<Phase>,
    #[serde(default)]
    after: After,
}

fn first_seed() -> u64 {
    1
}

impl<'de> Deserialize<'de> for Capacity {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let CapacityFields { workers, service_ms, queue, when_full } =
            CapacityFields::deserialize(from)?;
        if !(1..=MOST_WORKERS).contains(&workers) {
            return Err(refuse("workers", workers, format_args!("1 to {MOST_WORKERS}")));
        }
        if queue > LONGEST_QUEUE {
            return Err(refuse("queue", queue, format_args!("0 to {LONGEST_QUEUE}")));
        }
        Ok(Self { workers, service: service_ms, queue, when_full })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CapacityFields {
    workers: usize,
    service_ms: Span,
    queue: usize,
    #[serde(default = "unavailable")]
    when_full: Arc<Step>,
}

fn unavailable() -> Arc<Step> {
    Arc::new(Step::status(hyper::StatusCode::SERVICE_UNAVAILABLE))
}

impl<'de> Deserialize<'de> for Phase {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let PhaseFields { name, until_ms, down, mix } = PhaseFields::deserialize(from)?;
        if !(1..=LONGEST_MS).contains(&until_ms) {
            return Err(refuse("until_ms", until_ms, format_args!("1 to {LONGEST_MS}")));
        }
        if down != mix.is_empty() {
            let shown = format_args!("{} steps long", mix.len()).to_string();
            return Err(refuse("mix", shown, "empty when the phase is down, else not empty"));
        }
        Ok(Self { name, until_ms, down, mix })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PhaseFields {
    name: String,
    until_ms: u64,
    #[serde(default)]
    down: bool,
    #[serde(default)]
    mix: Vec<Share>,
}

fn weight<'de, D: serde::Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let weight = f64::deserialize(from)?;
    if weight > 0.0 && weight <= 1e9 {
        return Ok(weight);
    }
    Err(D::Error::custom(format_args!("weight is {weight}; allowed: more than 0, at most 1e9")))
}
