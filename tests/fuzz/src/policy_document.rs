//! Policy documents: JSON as it comes, or one that is drawn from the table of knobs.

mod draft;

use std::ops::RangeInclusive;

use arbitrary::Unstructured;
use serde_json::Value as Json;
use stormproof::policy::{Given, Knob};
use stormproof::step::Safety;
use stormproof::{Engine, ErrorCode, Policy, PolicyError};

use crate::course;

/// Checks one document. Input that begins like a JSON object is one; all else is drawn from.
pub fn check(input: &[u8]) {
    if let (Some(b'{' | b'[' | b'"' | b' '), Ok(text)) = (input.first(), str::from_utf8(input)) {
        return document(text);
    }
    let mut source = Unstructured::new(input);
    let fields = draft::document(&mut source).unwrap_or_default();
    document(&Json::Object(fields).to_string());
    draft::number(&mut source);
}

fn document(text: &str) {
    let checked = Policy::from_json(text);
    let Ok(Json::Object(fields)) = serde_json::from_str(text) else {
        let error = checked.expect_err("no JSON object, no policy");
        assert_eq!(error.code, ErrorCode::BadDocument, "{error}");
        return spoken(&error);
    };
    let fields = Json::Object(fields);
    let walked = backwards(&fields);
    match (&checked, walked.check()) {
        (Ok(policy), Ok(())) => {
            let statuses = if fields.get("classify").is_some() { 0..=1_000 } else { 500..=504 };
            usable(policy, &walked, statuses);
        }
        (Err(error), Err(other)) => {
            let same = (&error.code, &error.field, &error.allowed);
            assert_eq!(same, (&other.code, &other.field, &other.allowed), "in whatever order");
            spoken(error);
            assert!(names_a_field(error, &fields), "{error} names no field of {text}");
        }
        (_, other) => panic!("{text}: {checked:?}, but backwards {other:?}"),
    }
}

/// The same document, its fields given last to first.
fn backwards(document: &Json) -> Policy {
    let mut policy = Policy::new();
    walk(&mut policy, "", document, 0);
    policy
}

/// No knob lies deeper.
const MAX_DEPTH: usize = 3;

fn walk(policy: &mut Policy, above: &str, value: &Json, depth: usize) {
    let fields = value.as_object().filter(|_| depth < MAX_DEPTH);
    for (key, value) in fields.into_iter().flatten().rev() {
        let key = key.replace('.', "\\.");
        let path = if above.is_empty() { key } else { format!("{above}.{key}") };
        match value {
            Json::Array(members) if path.starts_with("classify.") => {
                members.iter().rev().for_each(|member| policy.set(&path, given(member)));
            }
            Json::Object(_) => policy.set(&path, Given::Object),
            _ if path.starts_with("classify.") => policy.set(&path, Given::Other),
            _ => policy.set(&path, given(value)),
        }
        walk(policy, &path, value, depth + 1);
    }
}

fn given(value: &Json) -> Given<'_> {
    match value {
        Json::Null => Given::Null,
        Json::Bool(flag) => Given::Flag(*flag),
        Json::Number(number) => Given::Number(number.as_f64().unwrap_or(f64::NAN)),
        Json::String(text) => Given::Text(text),
        Json::Array(_) => Given::Other,
        Json::Object(_) => Given::Object,
    }
}

/// An error says something: which field, what stands there, what is allowed.
fn spoken(error: &PolicyError) {
    let text = error.to_string();
    assert!(text.contains(&error.field) && text.contains(&error.allowed), "{text}");
    assert!(!error.allowed.is_empty(), "{text} says what is allowed");
}

/// Does the field that an error names stand in the document? One side of a contradiction may be a
/// default.
fn names_a_field(error: &PolicyError, document: &Json) -> bool {
    let is_known = Knob::at(&error.field).is_some() || error.field.starts_with("classify.");
    match error.code {
        ErrorCode::Contradiction => is_known && document.as_object().is_some_and(|d| !d.is_empty()),
        _ => stands(document, &error.field),
    }
}

/// Do keys with dots between them lead along `path`? A key may hold dots itself.
fn stands(value: &Json, path: &str) -> bool {
    value.as_object().into_iter().flatten().any(|(key, below)| match path.strip_prefix(key) {
        Some("") => true,
        Some(rest) => rest.strip_prefix('.').is_some_and(|rest| stands(below, rest)),
        None => false,
    })
}

/// Both policies build engines that do the same.
fn usable(policy: &Policy, same: &Policy, statuses: RangeInclusive<u16>) {
    let engine = Engine::new(policy).expect("a policy that was checked builds an engine");
    let other = Engine::new(same).expect("so does the same policy");
    for status in statuses {
        for safety in Safety::ALL {
            let classes = [&engine, &other].map(|engine| engine.classify(status, Some(5), *safety));
            assert_eq!(classes[0], classes[1], "status {status}");
        }
    }
    course::play_both(engine, other, SHORT);
}

/// As good as any: calls, failures, late results, waits, polls, an order or two.
const SHORT: &[u8] = &{
    let mut course = [0; 300];
    let mut place = 0;
    while place < course.len() {
        course[place] = (place * place * 31 + place * 7) as u8;
        place += 1;
    }
    course
};
