//! `docs/policy.md` says what the table of knobs says. `UPDATE_DOCS=1` writes it anew.

use std::fmt::Write;

use stormproof::Preset;
use stormproof::policy::{Domain, Knob};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/policy.md");

const HEAD: &str = "\
# The policy document

The object that the TypeScript constructor takes, as JSON, is the policy document of every host: `Policy::from_json`,
`ResilientClient.fromJson`, `ResilientClient.from_file`. What is left out has its default. `null` is none. `false` at
`retry`, `breaker`, `budget` or `bulkhead` switches the section off. Durations are milliseconds, up to 36,525 days, down to
a nanosecond; tokens, factors and rates are numbers with up to three decimals. Python spells the same fields in snake case,
without the unit, in seconds: `retry.baseMs` is `Retry(base=…)`.

A document that cannot be is refused when the client is built, with the same code and field in every host: `unknown_field`,
`wrong_type`, `out_of_range`, `too_fine`, `unknown_name`, `contradiction`, `bad_document`, `unreadable_file`.

`classify.success`, `classify.transient`, `classify.throttled` and `classify.permanent` are lists of HTTP statuses that the
policy classes otherwise than the table of [the semantics](semantics.md) does, 64 in all.

";

const TAIL: &str = "
A lone caller of a fresh default client never gets a sixth attempt, whatever `retry.maxAttempts` says: five failures
without a success open the circuit, and a fresh budget holds five tokens. A dependency that hangs for longer than
`breaker.probeLeaseMs` reads `half_open`, not `open`.

## Presets

`\"preset\"` names the figures to start from; it changes only what it names.

";

#[test]
fn the_document_is_the_table() {
    let mut text = String::from(HEAD);
    text.push_str("| field | takes | default | what it does |\n|---|---|---|---|\n");
    for knob in Knob::ALL {
        let row = knob.row();
        let null = if row.nullable { " or `null`" } else { "" };
        let takes = format!("{}{null}", takes(row.domain));
        let default = default(row.domain, row.default());
        let doc = knob.doc().split_whitespace().collect::<Vec<_>>().join(" ");
        writeln!(text, "| `{}` | {takes} | {default} | {doc} |", row.path).unwrap();
    }
    text.push_str(TAIL);
    for preset in Preset::ALL {
        let figures: Vec<_> = Knob::ALL
            .iter()
            .filter_map(|knob| {
                let value = preset.figure(*knob)?;
                let value = default(knob.row().domain, Some(value));
                Some(format!("`{}` {value}", knob.row().path))
            })
            .collect();
        let figures = if figures.is_empty() { "the defaults".into() } else { figures.join(", ") };
        writeln!(text, "- **`{}`**: {figures}.", preset.name()).unwrap();
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(PATH, &text).unwrap();
    }
    let written = std::fs::read_to_string(PATH).unwrap();
    assert!(written == text, "docs/policy.md is stale: run the test with UPDATE_DOCS=1");
}

fn takes(domain: Domain) -> String {
    match domain {
        Domain::Count(min, max) => format!("whole number, {min} to {max}"),
        Domain::Span(min, _) => format!("ms, from {}", min as f64 / 1e6),
        Domain::Thousandths(min, max) => format!("{} to {}", thousandths(min), thousandths(max)),
        Domain::ThousandthsOrAuto(min, max) => {
            format!("{} to {} or `\"auto\"`", thousandths(min), thousandths(max))
        }
        Domain::Flag => "`true`, `false`".into(),
        Domain::Choice(names) => {
            names.iter().map(|name| format!("`\"{name}\"`")).collect::<Vec<_>>().join(", ")
        }
        Domain::Text(true) => "header name".into(),
        Domain::Text(false) => "text".into(),
    }
}

fn default(domain: Domain, value: Option<u64>) -> String {
    match (domain, value) {
        (Domain::ThousandthsOrAuto(..), None) => "`\"auto\"`".into(),
        (Domain::Text(_), None) => "–".into(),
        (_, None) => "`null`".into(),
        (Domain::Count(..), Some(value)) => value.to_string(),
        (Domain::Span(..), Some(value)) => (value as f64 / 1e6).to_string(),
        (Domain::Thousandths(..) | Domain::ThousandthsOrAuto(..), Some(value)) => {
            thousandths(value)
        }
        (Domain::Flag, Some(value)) => format!("`{}`", value != 0),
        (Domain::Choice(names), Some(value)) => format!("`\"{}\"`", names[value as usize]),
        (Domain::Text(_), Some(_)) => unreachable!("a text has no default here"),
    }
}

fn thousandths(value: u64) -> String {
    (value as f64 / 1e3).to_string()
}
