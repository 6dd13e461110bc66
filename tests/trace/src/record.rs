//! The inputs of the trace as files: records of 40 bytes, and the policies as documents.

use serde_json::{Map, Value as Json, json};
use stormproof::step::{ChangeCause, Circuit, Kind, Phase, Safety, Why};
use stormproof::time::Instant;
use stormproof::{Control, Reason};
use stormproof_trace::draft::{Draft, Value};
use stormproof_trace::input::{Input, NAME};
use stormproof_trace::{BLOCK, STEPS};

/// In place of a number that is not there.
const NONE: u64 = 1 << 63;
/// In place of a safety: that of the policy.
const BY_POLICY: u8 = u8::MAX;

/// One input; the README tells the places of the fields.
pub type Record = [u8; 40];

#[derive(Default)]
struct Fields {
    operation: u8,
    code: u8,
    flag: u8,
    status: u16,
    call: u64,
    extra: u64,
}

/// From here on the engine has the policy at this place of the list.
pub fn policy(place: usize) -> Record {
    Fields { extra: place as u64, ..Fields::default() }.record(0, 0)
}

/// One input.
pub fn input(now: Instant, input: &Input, word: u64) -> Record {
    let code = |safety: Option<Safety>| safety.map_or(BY_POLICY, Safety::code);
    let or_none = |number: Option<u64>| number.unwrap_or(NONE);
    let of = |operation| Fields { operation, ..Fields::default() };
    let fields = match *input {
        Input::Start { safety, deadline, cancelled } => Fields {
            code: code(safety),
            flag: u8::from(cancelled),
            extra: or_none(deadline.map(Instant::as_nanos)),
            ..of(1)
        },
        Input::Settled(call, outcome) => Fields {
            code: outcome.kind.code(),
            flag: outcome.phase.code(),
            status: outcome.status,
            call: call.to_bits(),
            extra: or_none(outcome.retry_after_ms),
            ..of(2)
        },
        Input::Answered { call, status, retry_after_ms, safety } => Fields {
            code: code(safety),
            status,
            call: call.to_bits(),
            extra: or_none(retry_after_ms),
            ..of(3)
        },
        Input::Elapsed(call) => Fields { call: call.to_bits(), ..of(4) },
        Input::Cancelled(call) => Fields { call: call.to_bits(), ..of(5) },
        Input::Poll => of(6),
        Input::Control(order) => Fields { code: order.code(), ..of(7) },
        Input::Snapshot => of(8),
        Input::Explain(_) => of(9),
    };
    fields.record(now.as_nanos(), word)
}

impl Fields {
    fn record(self, now: u64, word: u64) -> Record {
        let mut record = [0; 40];
        record[..3].copy_from_slice(&[self.operation, self.code, self.flag]);
        record[4..6].copy_from_slice(&self.status.to_le_bytes());
        let numbers = [now, self.call, word, self.extra];
        for (bytes, number) in record[8..].chunks_exact_mut(8).zip(numbers) {
            bytes.copy_from_slice(&number.to_le_bytes());
        }
        record
    }
}

/// The policies, and what else those need to know who replay the records.
#[derive(Default)]
pub struct Documents(Vec<Json>);

impl Documents {
    /// Answers with the place of this policy.
    pub fn add(&mut self, draft: &Draft) -> usize {
        self.0.push(document(draft));
        self.0.len() - 1
    }

    /// All of it as one text. The names stand in the order of their numbers.
    pub fn json(&self) -> String {
        let names = json!({
            "safeties": Safety::NAMES,
            "kinds": Kind::NAMES,
            "phases": Phase::NAMES,
            "controls": Control::NAMES,
            "reasons": Reason::NAMES,
            "whys": Why::NAMES,
            "circuits": Circuit::NAMES,
            "causes": ChangeCause::NAMES,
        });
        json!({ "steps": STEPS, "block": BLOCK, "name": NAME, "names": names, "policies": self.0 })
            .to_string()
    }
}

fn document(draft: &Draft) -> Json {
    let mut document = Map::new();
    for (path, value) in draft.fields() {
        let value = match *value {
            Value::Null => Json::Null,
            Value::Flag(flag) => json!(flag),
            Value::Thousandths(number) => json!(Value::number(number)),
            Value::Text(text) => json!(text),
        };
        let Some((section, key)) = path.split_once('.') else {
            document.insert((*path).into(), value);
            continue;
        };
        let fields = document.entry(section).or_insert_with(|| json!({}));
        if section == "classify" {
            let statuses = fields.as_object_mut().expect("a section").entry(key);
            let statuses = statuses.or_insert_with(|| json!([]));
            statuses.as_array_mut().expect("a list").push(value);
        } else {
            fields[key] = value;
        }
    }
    document.into()
}
