//! A list of steps that requests consume one by one.

use crate::invalid::{Invalid, parse, refuse};
use crate::step::Step;
use serde::de::value::{MapAccessDeserializer, StrDeserializer, U64Deserializer};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use std::fmt;
use std::sync::Arc;

const MOST_STEPS: usize = 100_000;

/// Steps in order, and what comes after the last.
#[derive(Debug, Clone)]
pub struct Script {
    steps: Vec<Arc<Step>>,
    after: After,
}

#[derive(Debug, Clone, Default)]
enum After {
    #[default]
    RepeatLast,
    Loop,
    Step(Arc<Step>),
}

impl Script {
    /// Reads a script from JSON.
    ///
    /// # Errors
    /// Names the field, its value and what is allowed there.
    pub fn parse(json: &str) -> Result<Self, Invalid> {
        parse(json.as_bytes())
    }

    /// The step for the request after `served` others, and its place in the list; the
    /// step of `after` has the place behind the last.
    pub(crate) fn step(&self, served: usize) -> (usize, Arc<Step>) {
        let count = self.steps.len();
        let index = match &self.after {
            _ if served < count => served,
            After::RepeatLast => count - 1,
            After::Loop => served % count,
            After::Step(step) => return (count, Arc::clone(step)),
        };
        (index, Arc::clone(&self.steps[index]))
    }
}

impl<'de> Deserialize<'de> for Script {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let Fields { steps, after } = Fields::deserialize(from)?;
        if steps.is_empty() && !matches!(after, After::Step(_)) {
            return Err(refuse("steps", "[]", "at least one step, unless `after` is a step"));
        }
        if steps.len() > MOST_STEPS {
            return Err(refuse("length of steps", steps.len(), format_args!("0 to {MOST_STEPS}")));
        }
        Ok(Self { steps, after })
    }
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    steps: Vec<Arc<Step>>,
    #[serde(default)]
    after: After,
}

impl<'de> Deserialize<'de> for After {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = After;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"repeat-last\", \"loop\" or a step")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<After, E> {
        match text {
            "repeat-last" => Ok(After::RepeatLast),
            "loop" => Ok(After::Loop),
            name => step(StrDeserializer::new(name)),
        }
    }

    fn visit_u64<E: Error>(self, status: u64) -> Result<After, E> {
        step(U64Deserializer::new(status))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<After, A::Error> {
        step(MapAccessDeserializer::new(map))
    }
}

fn step<'de, D: Deserializer<'de>>(from: D) -> Result<After, D::Error> {
    Step::deserialize(from).map(|step| After::Step(Arc::new(step)))
}
