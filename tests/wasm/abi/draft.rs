//! Values of policy documents, mostly such that a client can be built from them.

use stormproof::policy::{Domain, Knob, Section};

use crate::dice::Dice;

/// A path, and the kind, number and text of its value as `policy_set` takes them.
pub struct Value {
    pub path: &'static str,
    pub kind: u32,
    pub number: f64,
    pub text: &'static str,
}

const NULL: u32 = 0;
const FLAG: u32 = 1;
const NUMBER: u32 = 2;
const TEXT: u32 = 3;
const OBJECT: u32 = 4;

impl Value {
    /// A value that its knob takes by itself; together they may contradict each other.
    pub fn fit(dice: &mut Dice) -> Self {
        match dice.below(10) {
            0 => {
                let statuses = dice.pick(&[
                    "classify.success",
                    "classify.transient",
                    "classify.throttled",
                    "classify.permanent",
                ]);
                let status = 100 + dice.below(900);
                Self { path: statuses, kind: NUMBER, number: status as f64, text: "" }
            }
            1 => {
                let section = dice.pick(Section::ALL).path();
                let kind = dice.pick(&[FLAG, OBJECT]);
                Self { path: section, kind, number: dice.below(2) as f64, text: "" }
            }
            _ => Self::of_knob(dice),
        }
    }

    /// Anything at all, at a path that mostly exists.
    pub fn odd(dice: &mut Dice) -> Self {
        let fit = Self::fit(dice);
        let path = if dice.percent(70) {
            fit.path
        } else {
            dice.pick(&["", ".", "preset", "classify", "retry.", "retry.basems", "rétry.baseMs"])
        };
        let text = dice.pick(&["", "auto", "interactive", "none", "\u{1f329} storm", "full"]);
        let number = dice.odd_double();
        Self { path, kind: dice.code() as u32, number, text }
    }

    fn of_knob(dice: &mut Dice) -> Self {
        let knob = if dice.percent(50) { dice.pick(LIVELY) } else { dice.pick(Knob::ALL) };
        let row = knob.row();
        let value = |kind, number, text| Self { path: row.path, kind, number, text };
        if row.nullable && dice.percent(20) {
            return value(NULL, 0.0, "");
        }
        match row.domain {
            Domain::Count(min, max) => value(NUMBER, within(dice, min, max) as f64, ""),
            Domain::Span(min, max) => value(NUMBER, within(dice, min, max) as f64 / 1e6, ""),
            Domain::Thousandths(min, max) => value(NUMBER, within(dice, min, max) as f64 / 1e3, ""),
            Domain::ThousandthsOrAuto(..) if dice.percent(30) => value(TEXT, 0.0, "auto"),
            Domain::ThousandthsOrAuto(min, max) => {
                value(NUMBER, within(dice, min, max) as f64 / 1e3, "")
            }
            Domain::Flag => value(FLAG, dice.below(2) as f64, ""),
            Domain::Choice(names) => value(TEXT, 0.0, dice.pick(names)),
            Domain::Text(_) => value(TEXT, 0.0, "x-name"),
        }
    }
}

/// What leads to queues, probes and refusals.
const LIVELY: &[Knob] = &[
    Knob::MaxAttempts,
    Knob::WaitForCircuit,
    Knob::FailureThreshold,
    Knob::ConsecutiveFailures,
    Knob::OpenDuration,
    Knob::Probes,
    Knob::MaxConcurrent,
    Knob::MaxConcurrent,
    Knob::MaxQueue,
    Knob::QueueTimeout,
    Knob::AbandonedLease,
    Knob::AttemptTimeout,
];

/// Small counts and short times as often as the ends of the range.
fn within(dice: &mut Dice, min: u64, max: u64) -> u64 {
    let few = min.saturating_add(dice.below(8));
    let second = dice.below(2_000) * 1_000_000;
    dice.pick(&[few, few, second, second, min, max]).clamp(min, max)
}
