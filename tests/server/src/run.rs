//! A scenario in motion.

use crate::scenario::{After, Phase, Scenario, Share};
use crate::step::Step;
use crate::timeline::{BUCKET_MS, Timeline};
use crate::workers::{Done, Workers};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The most phases that a timeline lists; a loop of short phases has no other end.
const MOST_PHASES: usize = 10_000;

/// A scenario since its start.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) scenario: Scenario,
    started: Instant,
    workers: Option<Arc<Workers>>,
    dice: Mutex<fastrand::Rng>,
    timeline: Mutex<Timeline>,
}

/// The present phase, and when the next begins.
pub(crate) struct Spell {
    pub(crate) down: bool,
    pub(crate) until: Option<Instant>,
}

/// What was drawn for one request.
pub(crate) struct Draw {
    pub(crate) step: Arc<Step>,
    pub(crate) latency: Duration,
    /// The work that has to be done before the step may be answered.
    pub(crate) work: Option<Done>,
}

impl Run {
    pub(crate) fn new(scenario: Scenario) -> Self {
        Self {
            started: Instant::now(),
            workers: scenario.capacity.as_ref().map(|capacity| Arc::new(Workers::new(capacity))),
            dice: Mutex::new(fastrand::Rng::with_seed(scenario.seed)),
            timeline: Mutex::default(),
            scenario,
        }
    }

    pub(crate) fn spell(&self, now: Instant) -> Spell {
        let (round, phase) = self.phase(now);
        let end = self.scenario.round_ms() * round + phase.until_ms;
        let last = self.scenario.after == After::Last && phase.until_ms == self.scenario.round_ms();
        let until = (!last).then(|| self.started + Duration::from_millis(end));
        Spell { down: phase.down, until }
    }

    /// The listener closed.
    pub(crate) fn on_down(&self) {
        if let Some(workers) = &self.workers {
            workers.on_down();
        }
    }

    /// Draws the step of a request of `host` that arrives `now`, gives its work to the
    /// workers, and counts it. `None` when the server is down.
    pub(crate) fn on_request(&self, now: Instant, host: &str) -> Option<Draw> {
        let (_, phase) = self.phase(now);
        // Always three draws a request, so that one choice does not shift the next.
        let [choice, service, latency] = {
            let mut dice = lock(&self.dice);
            [dice.f64(), dice.f64(), dice.f64()]
        };
        let drawn = pick(&phase.mix, choice)?;
        let (step, work) = self.admit(drawn, service);
        let elapsed = now.saturating_duration_since(self.started);
        lock(&self.timeline).on_request(elapsed, host, step.result());
        let latency = step.latency.at(latency);
        Some(Draw { step, latency, work })
    }

    /// The step that is left when the workers have had their say, and their work.
    fn admit(&self, drawn: &Arc<Step>, service: f64) -> (Arc<Step>, Option<Done>) {
        match (&self.workers, &self.scenario.capacity) {
            (Some(workers), Some(capacity)) if drawn.is_answer() => {
                match workers.admit(capacity.service.at(service)) {
                    None => (Arc::clone(&capacity.when_full), None),
                    work => (Arc::clone(drawn), work),
                }
            }
            _ => (Arc::clone(drawn), None),
        }
    }

    /// The timeline from `since_ms` after the start, with the phases since then.
    pub(crate) fn shown(&self, now: Instant, since_ms: u64) -> Value {
        let now_ms = self.elapsed_ms(now);
        json!({
            "now_ms": now_ms,
            "bucket_ms": BUCKET_MS,
            "buckets": lock(&self.timeline).shown(since_ms),
            "phases": self.phases(now_ms, since_ms),
        })
    }

    fn elapsed_ms(&self, now: Instant) -> u64 {
        now.saturating_duration_since(self.started).as_millis() as u64
    }

    /// How often the phases have been through, and the one that holds now.
    fn phase(&self, now: Instant) -> (u64, &Phase) {
        let Scenario { phases, after, .. } = &self.scenario;
        let elapsed = self.elapsed_ms(now);
        let length = self.scenario.round_ms();
        let (round, within) = match after {
            After::Loop => (elapsed / length, elapsed % length),
            After::Last => (0, elapsed),
        };
        let phase = phases.iter().find(|phase| within < phase.until_ms);
        (round, phase.unwrap_or_else(|| self.scenario.last()))
    }

    /// The whole first round, further rounds as far as they have begun.
    fn phases(&self, now_ms: u64, since_ms: u64) -> Vec<Value> {
        let length = self.scenario.round_ms();
        let looping = self.scenario.after == After::Loop;
        let first = if looping { since_ms.min(now_ms) / length } else { 0 };
        let mut shown = Vec::new();
        for round in first.. {
            let mut start_ms = round * length;
            if (round > 0 && (start_ms > now_ms || !looping)) || shown.len() >= MOST_PHASES {
                break;
            }
            for phase in &self.scenario.phases {
                let mut end_ms = round * length + phase.until_ms;
                if !looping && phase.until_ms == length {
                    end_ms = end_ms.max(now_ms);
                }
                if end_ms > since_ms {
                    shown.push(json!({
                        "name": phase.name, "start_ms": start_ms, "end_ms": end_ms,
                        "down": phase.down,
                    }));
                }
                start_ms = end_ms;
            }
        }
        shown
    }
}

fn pick(mix: &[Share], unit: f64) -> Option<&Arc<Step>> {
    let total: f64 = mix.iter().map(|share| share.weight).sum();
    let mut left = unit * total;
    for share in mix {
        left -= share.weight;
        if left < 0.0 {
            return Some(&share.step);
        }
    }
    // Rounding may leave a crumb behind the last share.
    mix.last().map(|share| &share.step)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
