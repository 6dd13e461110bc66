//! Policies drawn at random. Each aspect has figures that fit each other; now and then those of two
//! aspects do not, and another policy is drawn.

use alloc::vec::Vec;

use stormproof::policy::{Given, Section};
use stormproof::{Engine, Policy, Preset};

use crate::dice::Dice;

/// A value of a policy document. Numbers are whole thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// `null`
    Null,
    /// `true`, `false`
    Flag(bool),
    /// A number.
    Thousandths(u32),
    /// A text.
    Text(&'static str),
}

use Value::{Flag, Null, Text};

/// A path of the document and what stands there; a member of a list comes once for each.
pub type Field = (&'static str, Value);

const fn n(number: u32) -> Value {
    Value::Thousandths(number * 1_000)
}

const fn thousandths(number: u32) -> Value {
    Value::Thousandths(number)
}

/// For each aspect the groups of fields of which one or none is taken.
const ASPECTS: &[&[&[Field]]] = &[
    SECTIONS,
    ATTEMPTS,
    DELAYS,
    REPETITION,
    RETRY_AFTER,
    RULES,
    OPENING,
    PROBES,
    COUNTING,
    BUDGET,
    COSTS,
    BULKHEAD,
    RELEASE,
    TIMEOUTS,
    TABLE,
    STATUSES,
];

const SECTIONS: &[&[Field]] = &[
    &[],
    &[],
    &[],
    &[("retry", Flag(false))],
    &[("breaker", Flag(false))],
    &[("budget", Flag(false))],
    &[("bulkhead", Flag(false))],
];

const ATTEMPTS: &[&[Field]] = &[
    &[("retry.maxAttempts", n(2))],
    &[("retry.maxAttempts", n(6)), ("retry.waitForCircuit", Flag(true))],
    &[("retry.maxAttempts", n(20))],
    &[("retry.waitForCircuit", Flag(true))],
];

const DELAYS: &[&[Field]] = &[
    &[("retry.baseMs", n(0)), ("retry.jitter", Text("none"))],
    &[("retry.baseMs", n(20)), ("retry.jitter", Text("none")), ("retry.factor", n(3))],
    &[("retry.baseMs", thousandths(333)), ("retry.capMs", n(5)), ("retry.jitter", Text("equal"))],
    &[("retry.capMs", Null), ("retry.factor", thousandths(1_500)), ("retry.jitter", Text("equal"))],
    &[("retry.baseMs", n(10)), ("retry.capMs", n(900)), ("retry.jitter", Text("decorrelated"))],
    &[("retry.baseMs", n(1)), ("retry.capMs", n(400)), ("retry.minDelayMs", n(7))],
    &[("retry.factor", n(10)), ("retry.capMs", n(60_000))],
    &[("retry.baseMs", thousandths(333)), ("retry.factor", thousandths(1_377))],
];

const REPETITION: &[&[Field]] = &[
    &[("safety", Text("unsafe"))],
    &[("safety", Text("keyed")), ("retry.unsafe", Text("never"))],
    &[("retry.unsafe", Text("always"))],
    &[("retry.unsafe", Text("certain")), ("safety", Text("once"))],
];

const RETRY_AFTER: &[&[Field]] = &[
    &[("retryAfter.maxMs", n(2_000))],
    &[("retryAfter.maxMs", n(500_000)), ("overallTimeoutMs", n(900_000))],
    &[("retryAfter.combine", Text("max"))],
    &[("retryAfter.combine", Text("spread")), ("retryAfter.maxMs", n(130_000))],
];

const RULES: &[&[Field]] = &[
    &[("breaker.failureThreshold", n(3))],
    &[("breaker.failureThreshold", n(40)), ("breaker.rollingWindowMs", n(60_000))],
    &[("breaker.consecutiveFailures", n(4)), ("breaker.rollingWindowMs", n(700))],
    &[("breaker.failureRate", thousandths(500)), ("breaker.minimumCalls", n(6))],
    &[("breaker.noSuccessFailures", n(2))],
    &[
        ("breaker.slowCallRate", thousandths(300)),
        ("breaker.slowCallDurationMs", n(150)),
        ("breaker.minimumCalls", n(5)),
    ],
    &[
        ("breaker.slowCallRate", thousandths(667)),
        ("breaker.slowCallDurationMs", n(1_000)),
        ("breaker.failureRate", Null),
        ("breaker.consecutiveFailures", n(9)),
    ],
];

const OPENING: &[&[Field]] = &[
    &[("breaker.openDurationMs", n(300))],
    &[("breaker.openDurationMs", n(1_000)), ("breaker.openJitter", Flag(false))],
    &[("breaker.openDurationMs", n(200)), ("breaker.openGrowth", n(2))],
    &[
        ("breaker.openDurationMs", thousandths(333_333)),
        ("breaker.openGrowth", thousandths(1_777)),
        ("breaker.openCapMs", n(20_000)),
    ],
    &[("breaker.honorRetryAfter", Flag(false))],
];

const PROBES: &[&[Field]] = &[
    &[("breaker.probes", n(3))],
    &[("breaker.probes", n(2)), ("breaker.successThreshold", n(5))],
    &[("breaker.successThreshold", n(1)), ("breaker.probeLeaseMs", n(60))],
];

const COUNTING: &[&[Field]] = &[
    &[("breaker.count429", Flag(true))],
    &[("breaker.countDeadline", Flag(false))],
    &[("breaker.scope", Text("call"))],
    &[("breaker.scope", Text("call")), ("breaker.countDeadline", Flag(false))],
];

const BUDGET: &[&[Field]] = &[
    &[("budget.capacity", Text("auto")), ("budget.initial", n(30))],
    &[("budget.capacity", n(3))],
    &[("budget.capacity", n(200)), ("budget.refillPerSuccess", n(1))],
    &[("budget.capacity", n(50)), ("budget.initial", n(0)), ("budget.refillPerSecond", n(5))],
    &[("budget.capacity", thousandths(10_500)), ("budget.refillPerSecond", thousandths(333))],
];

const COSTS: &[&[Field]] = &[
    &[("budget.cost", thousandths(100))],
    &[("budget.costTimeout", n(2)), ("budget.costThrottled", n(0))],
    &[("budget.costNetwork", thousandths(250)), ("budget.costServer", thousandths(1_750))],
];

const BULKHEAD: &[&[Field]] = &[
    &[("bulkhead.maxConcurrent", n(1))],
    &[("bulkhead.maxConcurrent", n(2)), ("bulkhead.maxQueue", n(0))],
    &[("bulkhead.maxConcurrent", n(4)), ("bulkhead.queueTimeoutMs", n(120))],
    &[
        ("bulkhead.maxConcurrent", n(3)),
        ("bulkhead.maxQueue", n(6)),
        ("bulkhead.queueTimeoutMs", n(5_000)),
    ],
    &[("bulkhead.maxConcurrent", n(12))],
];

const RELEASE: &[&[Field]] = &[
    &[("bulkhead.release", Text("timeout"))],
    &[("bulkhead.release", Text("settled")), ("bulkhead.abandonedLeaseMs", n(900))],
    &[("bulkhead.abandonedLeaseMs", n(15_000))],
];

const TIMEOUTS: &[&[Field]] = &[
    &[("attemptTimeoutMs", n(100))],
    &[("attemptTimeoutMs", n(900)), ("overallTimeoutMs", n(2_000))],
    &[("attemptTimeoutMs", Null)],
    &[("attemptTimeoutMs", n(4_000)), ("overallTimeoutMs", Null)],
    &[("overallTimeoutMs", thousandths(250_500))],
];

const TABLE: &[&[Field]] = &[&[("maxCalls", n(7))], &[("maxCalls", n(40))], &[("maxCalls", Null)]];

const STATUSES: &[&[Field]] = &[
    &[("classify.success", n(404)), ("classify.permanent", n(503)), ("classify.permanent", n(529))],
    &[("classify.transient", n(400)), ("classify.transient", n(404))],
    &[("classify.throttled", n(503)), ("classify.permanent", n(421))],
];

/// The values of one policy document.
#[derive(Clone, Debug)]
pub struct Draft(Vec<Field>);

impl Draft {
    /// Draws until an engine can be built of it.
    pub(crate) fn draw(dice: &mut Dice) -> (Self, Engine) {
        loop {
            let draft = Self::draw_once(dice);
            if let Ok(engine) = Engine::new(&draft.policy()) {
                return (draft, engine);
            }
        }
    }

    fn draw_once(dice: &mut Dice) -> Self {
        let mut fields = Vec::new();
        let preset = dice.pick(Preset::ALL);
        if preset != Preset::Default || dice.one_in(4) {
            fields.push(("preset", Text(preset.name())));
        }
        for groups in ASPECTS {
            if dice.below(5) < 2 {
                fields.extend(dice.pick(groups));
            }
        }
        let mut draft = Self(fields);
        draft.tidy();
        draft
    }

    /// What belongs to a section that is off has no place in a document, nor has a second value.
    fn tidy(&mut self) {
        let off: Vec<&str> = Section::ALL
            .iter()
            .map(|section| section.path())
            .filter(|path| self.0.contains(&(path, Flag(false))))
            .collect();
        self.0.retain(|(path, _)| {
            let section = path.split('.').next().unwrap_or_default();
            section == *path || !off.contains(&section)
        });
        let all = self.0.clone();
        let mut place = 0;
        self.0.retain(|(path, _)| {
            place += 1;
            let comes_again = all[place..].iter().any(|(other, _)| other == path);
            path.starts_with("classify.") || !comes_again
        });
    }

    /// The values with their paths.
    pub fn fields(&self) -> &[Field] {
        &self.0
    }

    fn policy(&self) -> Policy {
        let mut policy = Policy::new();
        for (path, value) in &self.0 {
            policy.set(path, value.given());
        }
        policy
    }
}

impl Value {
    /// The number as hosts hand it over.
    pub fn number(thousandths: u32) -> f64 {
        f64::from(thousandths) / 1_000.0
    }

    fn given(self) -> Given<'static> {
        match self {
            Self::Null => Given::Null,
            Self::Flag(flag) => Given::Flag(flag),
            Self::Thousandths(number) => Given::Number(Self::number(number)),
            Self::Text(text) => Given::Text(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;

    use stormproof::policy::{Domain, Knob};

    use super::*;

    #[test]
    fn every_knob_that_decides_is_turned() {
        let turned: BTreeSet<&str> =
            ASPECTS.iter().flat_map(|groups| groups.concat()).map(|(path, _)| path).collect();
        for knob in Knob::ALL {
            let row = knob.row();
            let decides =
                !matches!(row.domain, Domain::Text(_)) && !row.path.starts_with("idempotency.");
            assert_eq!(turned.contains(row.path), decides, "{}", row.path);
        }
    }

    #[test]
    fn every_group_is_a_policy_of_its_own() {
        for group in ASPECTS.iter().flat_map(|groups| groups.iter()) {
            Draft(group.to_vec()).policy().check().expect("a policy");
        }
    }
}
