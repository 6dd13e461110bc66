//! Vectors that drive an engine step by step.

use serde_json::Value as Json;
use stormproof::step::{Kind, Phase, Safety};
use stormproof::time::Instant;
use stormproof::{CallId, Control, Engine, Event, Outcome, Request, Step};

use crate::calls::Calls;
use crate::expect;
use crate::policy::policy;
use crate::suite::Faults;
use crate::trail::Trail;

const FIELDS: [&str; 17] = [
    "at",
    "start",
    "settle",
    "answer",
    "elapsed",
    "cancel",
    "poll",
    "control",
    "snapshot",
    "safety",
    "deadline",
    "cancelled",
    "outcome",
    "status",
    "retry_after_ms",
    "word",
    "expect",
];

pub fn steps(vector: &Json, trail: &mut Trail) -> Faults {
    let engine = match Engine::new(&policy(&vector["policy"])) {
        Ok(engine) => engine,
        Err(error) => return vec![format!("the policy is refused: {error}")],
    };
    let mut run = Run { engine, calls: Calls::default(), trail };
    let mut faults = Faults::new();
    for (place, step) in vector["steps"].as_array().into_iter().flatten().enumerate() {
        match run.step(step) {
            Ok(wrong) => faults.extend(wrong.iter().map(|fault| format!("step {place}: {fault}"))),
            Err(fault) => {
                faults.push(format!("step {place}: {fault}"));
                break;
            }
        }
    }
    faults
}

struct Run<'a> {
    engine: Engine,
    calls: Calls,
    trail: &'a mut Trail,
}

impl Run<'_> {
    /// Takes one step and answers what of it is not as expected.
    fn step(&mut self, step: &Json) -> Result<Faults, String> {
        for field in step.as_object().ok_or("not an object")?.keys() {
            if !FIELDS.contains(&field.as_str()) {
                return Err(format!("{field} is not a field of a step"));
            }
        }
        let now = instant(&step["at"])?;
        if step["snapshot"] == true {
            return Ok(expect::snapshot(&self.engine.snapshot(now), &step["expect"]));
        }
        let mut named = CallId::NONE;
        let answer = if let Some(name) = step["start"].as_str() {
            Some(self.start(now, name, step)?)
        } else if let Some((name, event)) = self.event(step)? {
            named = self.calls.id(name)?;
            Some(self.engine.on_event(now, named, event, word(step)?))
        } else if step["poll"] == true {
            self.engine.poll_ready(now, word(step)?)
        } else if let Some(name) = step["control"].as_str() {
            let control = by_name(Control::ALL, Control::name, name)?;
            Some(self.engine.control(now, control))
        } else {
            return Err("no verb".into());
        };
        self.trail.add(answer.as_ref());
        if let Some(answer) = &answer {
            self.calls.follow(answer);
        }
        Ok(expect::step(answer.as_ref(), named, &self.calls, &step["expect"]))
    }

    fn start(&mut self, now: Instant, name: &str, step: &Json) -> Result<Step, String> {
        let safety = match step["safety"].as_str() {
            Some(name) => by_name(Safety::ALL, Safety::name, name)?,
            None => Safety::Idempotent,
        };
        let deadline = match &step["deadline"] {
            Json::Null => None,
            deadline => Some(instant(deadline)?),
        };
        let request = Request { safety, deadline, cancelled: step["cancelled"] == true };
        let answer = self.engine.start(now, request);
        self.calls.started(name, safety, &answer);
        Ok(answer)
    }

    fn event<'a>(&self, step: &'a Json) -> Result<Option<(&'a str, Event)>, String> {
        let name = |verb: &str| step[verb].as_str();
        Ok(if let Some(name) = name("settle") {
            Some((name, Event::Settled(outcome(&step["outcome"])?)))
        } else if let Some(name) = name("answer") {
            let safety = self.calls.get(name)?.safety;
            let (status, retry_after_ms) = (status(step)?, step["retry_after_ms"].as_u64());
            let outcome = self.engine.classify(status, retry_after_ms, safety);
            Some((name, Event::Settled(outcome)))
        } else if let Some(name) = name("elapsed") {
            Some((name, Event::Elapsed))
        } else {
            name("cancel").map(|name| (name, Event::Cancelled))
        })
    }
}

fn outcome(json: &Json) -> Result<Outcome, String> {
    let kind = json["kind"].as_str().ok_or("an outcome without kind")?;
    let phase = json["phase"].as_str().unwrap_or("unknown");
    Ok(Outcome {
        kind: by_name(Kind::ALL, Kind::name, kind)?,
        status: status(json)?,
        phase: by_name(Phase::ALL, Phase::name, phase)?,
        retry_after_ms: json["retry_after_ms"].as_u64(),
    })
}

fn status(json: &Json) -> Result<u16, String> {
    let status = json["status"].as_u64().unwrap_or(0);
    u16::try_from(status).map_err(|_| format!("{status} is no status"))
}

fn word(step: &Json) -> Result<u64, String> {
    let text = step["word"].as_str().unwrap_or("0");
    u64::from_str_radix(text, 16).map_err(|_| format!("{text} is no word"))
}

/// Milliseconds, to the whole nanosecond.
pub fn instant(json: &Json) -> Result<Instant, String> {
    let millis = json.as_f64().ok_or(format!("{json} is no instant"))?;
    Ok(Instant::from_millis_f64(millis))
}

pub fn by_name<T: Copy>(all: &[T], name: fn(T) -> &'static str, text: &str) -> Result<T, String> {
    let found = all.iter().copied().find(|one| name(*one) == text);
    found.ok_or_else(|| format!("nothing is called {text}"))
}
