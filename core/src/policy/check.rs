//! From settings to values, or to the first thing that is wrong with them.

use alloc::string::String;

use super::knob::{Domain, Knob, Section};
use super::number::to_units;
use super::plan::Plan;
use super::setting::{LONGEST_LABEL, Setting, TimeUnit, Value};
use super::{Fault, Policy, Preset, StatusFault};
use crate::classify::StatusClass;
use crate::error::{ErrorCode, PolicyError};
use crate::text::Text;
use crate::time::nanos;

impl Policy {
    /// Checks every figure.
    pub fn check(&self) -> Result<(), PolicyError> {
        self.plan().map(|_| ())
    }

    pub(crate) fn plan(&self) -> Result<Plan, PolicyError> {
        if let Some(fault) = &self.fault {
            return Err(self.report(fault));
        }
        let mut values = [Value::None; Knob::COUNT];
        for knob in Knob::ALL {
            values[*knob as usize] = self.value(*knob)?;
        }
        Plan::new(&Values { policy: self, values })
    }

    pub(super) fn is_named(&self, knob: Knob) -> bool {
        !matches!(self.settings[knob as usize], Setting::Unset)
    }

    fn value(&self, knob: Knob) -> Result<Value, PolicyError> {
        let row = knob.row();
        let setting = self.settings[knob as usize];
        let checked = match (setting, row.domain) {
            (Setting::Unset, _) => Ok(self.preset.value(knob).unwrap_or(row.default)),
            (Setting::Null, _) if row.nullable => Ok(Value::None),
            (Setting::UnknownName, _) => Err(ErrorCode::UnknownName),
            (Setting::Text, Domain::Text(_)) => Ok(Value::None),
            (Setting::Flag(flag), Domain::Flag) => Ok(Value::Of(u64::from(flag))),
            (Setting::Choice(_), Domain::ThousandthsOrAuto(..)) => Ok(Value::Auto),
            (Setting::Choice(place), Domain::Choice(names)) if usize::from(place) < names.len() => {
                Ok(Value::Of(u64::from(place)))
            }
            (Setting::Span(span), Domain::Span(min, max)) => {
                let span = nanos(span);
                let fits = (min..=max).contains(&span);
                fits.then_some(Value::Of(span)).ok_or(ErrorCode::OutOfRange)
            }
            (Setting::Number(number), domain) => self.number(number, domain),
            _ => Err(ErrorCode::WrongType),
        };
        checked.map_err(|code| self.error(code, knob))
    }

    fn number(&self, number: f64, domain: Domain) -> Result<Value, ErrorCode> {
        let (scale, min, max) = match domain {
            Domain::Count(min, max) => (1, min, max),
            Domain::Span(min, max) => (self.unit.nanos(), min, max),
            Domain::Thousandths(min, max) | Domain::ThousandthsOrAuto(min, max) => {
                (1_000, min, max)
            }
            Domain::Flag | Domain::Choice(_) | Domain::Text(_) => return Err(ErrorCode::WrongType),
        };
        to_units(number, scale, min, max).map(Value::Of)
    }

    fn error(&self, code: ErrorCode, knob: Knob) -> PolicyError {
        let row = knob.row();
        let mut allowed = String::new();
        allow(&mut allowed, row.domain, self.unit);
        if row.nullable {
            allowed.text(" or null");
        }
        PolicyError { code, field: row.path.into(), value: self.spelled(knob), allowed }
    }

    /// The value as far as the core can spell it; numbers that a host gave are the host's to spell.
    fn spelled(&self, knob: Knob) -> Option<String> {
        match (self.settings[knob as usize], knob.row().domain) {
            (Setting::Null, _) => Some("null".into()),
            (Setting::Flag(flag), _) => Some(if flag { "true" } else { "false" }.into()),
            (Setting::Span(span), _) => {
                let mut text = String::new();
                span_text(&mut text, nanos(span), self.unit);
                Some(text)
            }
            _ => None,
        }
    }

    fn report(&self, fault: &Fault) -> PolicyError {
        let (code, field, allowed) = match fault {
            Fault::UnknownField(path) => {
                (ErrorCode::UnknownField, without_escapes(path), nearest(path))
            }
            Fault::Preset => {
                let mut allowed = String::new();
                names(&mut allowed, Preset::NAMES);
                (ErrorCode::UnknownName, "preset".into(), allowed)
            }
            Fault::GroupType(path) => {
                let section = Section::ALL.iter().any(|section| section.path() == path);
                let allowed = if section { "false or an object" } else { "an object" };
                (ErrorCode::WrongType, path.clone(), allowed.into())
            }
            Fault::TooManyStatuses => {
                (ErrorCode::OutOfRange, "classify".into(), "64 statuses in all lists".into())
            }
            Fault::Statuses(class, fault) => {
                let mut field = String::from("classify.");
                field.text(StatusClass::NAMES[usize::from(*class)]);
                let (code, allowed) = match fault {
                    StatusFault::Type => {
                        (ErrorCode::WrongType, "a list of statuses from 100 to 999")
                    }
                    StatusFault::Range => (ErrorCode::OutOfRange, "statuses from 100 to 999"),
                    StatusFault::Conflict => (ErrorCode::Contradiction, "each status in one list"),
                };
                (code, field, allowed.into())
            }
        };
        PolicyError { code, field, value: None, allowed }
    }
}

/// The checked values of a policy, and what the user named of them.
pub(super) struct Values<'a> {
    pub policy: &'a Policy,
    values: [Value; Knob::COUNT],
}

impl Values<'_> {
    pub fn get(&self, knob: Knob) -> Value {
        self.values[knob as usize]
    }

    pub fn some(&self, knob: Knob) -> Option<u64> {
        self.get(knob).some()
    }

    /// The value of a knob that always has one.
    pub fn of(&self, knob: Knob) -> u64 {
        self.some(knob).unwrap_or_default()
    }

    pub fn is_on(&self, knob: Knob) -> bool {
        self.of(knob) != 0
    }

    pub fn is_off(&self, section: Section) -> bool {
        self.policy.off[section as usize]
    }

    /// `knob` has a value that `allowed` forbids.
    pub fn contradiction(&self, knob: Knob, allowed: &str, bound: Option<Knob>) -> PolicyError {
        let unit = self.policy.unit;
        let mut text = String::from(allowed);
        if let Some(bound) = bound {
            text.text(" ").text(bound.row().path).text(" (");
            self.spell(&mut text, bound, unit);
            text.text(")");
        }
        let mut value = String::new();
        self.spell(&mut value, knob, unit);
        let field = knob.row().path.into();
        PolicyError { code: ErrorCode::Contradiction, field, value: Some(value), allowed: text }
    }

    fn spell(&self, text: &mut String, knob: Knob, unit: TimeUnit) {
        match (self.get(knob), knob.row().domain) {
            (Value::Of(span), Domain::Span(..)) => span_text(text, span, unit),
            (Value::Of(count), Domain::Count(..)) => _ = text.number(count),
            (Value::Of(part), _) => _ = text.thousandths(part),
            (Value::Auto, _) => _ = text.text("auto"),
            (Value::None, _) => _ = text.text("null"),
        }
    }
}

fn span_text(text: &mut String, span: u64, unit: TimeUnit) {
    match unit {
        TimeUnit::Milliseconds => text.millis(span),
        TimeUnit::Seconds => text.seconds(span),
    };
    text.text(" ").text(unit.name());
}

fn allow(text: &mut String, domain: Domain, unit: TimeUnit) {
    match domain {
        Domain::Count(min, max) => {
            text.text("a whole number from ").number(min).text(" to ").number(max);
        }
        Domain::Span(min, _) => {
            text.text("a duration from ");
            span_text(text, min, unit);
            // A century, the end of every span.
            text.text(" to 36525 days");
        }
        Domain::Thousandths(min, max) | Domain::ThousandthsOrAuto(min, max) => {
            text.text("a number from ").thousandths(min).text(" to ").thousandths(max);
            text.text(" in steps of 0.001");
            if matches!(domain, Domain::ThousandthsOrAuto(..)) {
                text.text(" or \"auto\"");
            }
        }
        Domain::Flag => _ = text.text("true or false"),
        Domain::Choice(known) => names(text, known),
        Domain::Text(true) => _ = text.text("a header name"),
        Domain::Text(false) => {
            text.text("a text of 1 to ").number(LONGEST_LABEL as u64);
            text.text(" characters, none of them a control character");
        }
    }
}

fn names(text: &mut String, known: &[&str]) {
    for (place, name) in known.iter().enumerate() {
        text.text(if place == 0 { "\"" } else { ", \"" }).text(name).text("\"");
    }
}

/// A dot inside a key. A backslash before anything else is the key's own.
const ESCAPED_DOT: &str = "\\.";

fn without_escapes(path: &str) -> String {
    path.replace(ESCAPED_DOT, ".")
}

/// "did you mean …?", for a path that no knob has.
fn nearest(path: &str) -> String {
    if path.contains(ESCAPED_DOT) {
        return "fields of a section stand inside it, without dots in their names".into();
    }
    let sections = Section::ALL.iter().map(|section| section.path());
    let paths = Knob::ALL.iter().map(|knob| knob.row().path).chain(sections);
    let closest = paths.map(|known| (slips(known, path), known)).min_by_key(|(slips, _)| *slips);
    let mut text = String::new();
    match closest {
        Some((slips, known)) if slips <= MOST_SLIPS => {
            text.text("did you mean ").text(known).text("?");
        }
        _ => _ = text.text("no field has a name like it"),
    }
    text
}

/// How many slips lead from the known path to the given one; to leave its section out is one.
fn slips(known: &str, path: &str) -> usize {
    let whole = distance(known.as_bytes(), path.as_bytes());
    match known.split_once('.') {
        Some((_, field)) => whole.min(distance(field.as_bytes(), path.as_bytes()) + 1),
        None => whole,
    }
}

/// More typing errors than this are another word.
const MOST_SLIPS: usize = 4;

/// Damerau's distance without transpositions over at most 40 bytes: enough to tell typing errors.
fn distance(known: &[u8], given: &[u8]) -> usize {
    const WIDTH: usize = 40;
    let given = &given[..given.len().min(WIDTH)];
    let mut row: [usize; WIDTH + 1] = core::array::from_fn(|place| place);
    for (above, byte) in known.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = above + 1;
        for (place, other) in given.iter().enumerate() {
            let same = byte.eq_ignore_ascii_case(other);
            let cost = (diagonal + usize::from(!same)).min(row[place] + 1).min(row[place + 1] + 1);
            diagonal = row[place + 1];
            row[place + 1] = cost;
        }
    }
    row[given.len()]
}
