//! The policy document: the object that the TypeScript constructor takes, as JSON.

use std::path::Path;
use std::string::{String, ToString};

use serde_json::Value as Json;

use super::{Given, Policy};
use crate::error::{ErrorCode, PolicyError};
use crate::idempotency;

/// No knob lies deeper.
const MAX_DEPTH: usize = 3;

/// A policy with the texts that belong to it.
#[derive(Clone, Debug)]
pub struct Document {
    /// The figures.
    pub policy: Policy,
    /// What the dependency is called.
    pub name: Option<String>,
    /// The header that carries an idempotency key.
    pub idempotency_header: String,
    /// The header that tells the milliseconds left.
    pub time_left_header: Option<String>,
    /// The header that tells the number of the attempt.
    pub attempt_header: Option<String>,
}

impl Policy {
    /// Reads and checks a policy document.
    ///
    /// ```
    /// use stormproof::Policy;
    ///
    /// let error = Policy::from_json(r#"{"retry": {"baseMS": 100}}"#).unwrap_err();
    /// assert_eq!(error.to_string(), "retry.baseMS is not a field of a policy; did you mean retry.baseMs?");
    /// ```
    pub fn from_json(text: &str) -> Result<Self, PolicyError> {
        Ok(Document::from_json(text)?.policy)
    }
}

impl Document {
    /// Reads and checks the document at `path`.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, PolicyError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|error| PolicyError {
            code: ErrorCode::UnreadableFile,
            field: String::new(),
            value: Some(path.display().to_string()),
            allowed: error.to_string(),
        })?;
        Self::from_json(&text)
    }

    /// Reads and checks a document.
    pub fn from_json(text: &str) -> Result<Self, PolicyError> {
        let bad = |value: &str, allowed: String| PolicyError {
            code: ErrorCode::BadDocument,
            field: String::new(),
            value: Some(value.into()),
            allowed,
        };
        let json: Json = serde_json::from_str(text)
            .map_err(|error| bad("the policy document is not JSON", error.to_string()))?;
        let Json::Object(fields) = &json else {
            return Err(bad("the policy document", "must be a JSON object".into()));
        };
        let mut policy = Policy::new();
        for (key, value) in fields {
            walk(&mut policy, &escaped(key), value);
        }
        policy.check().map_err(|error| with_value(error, &json))?;
        let text = |path| look_up(&json, path).and_then(Json::as_str).map(Into::into);
        Ok(Self {
            name: text("name"),
            idempotency_header: text("idempotency.header")
                .unwrap_or_else(|| idempotency::HEADER.into()),
            time_left_header: text("propagate.timeLeftHeader"),
            attempt_header: text("propagate.attemptHeader"),
            policy,
        })
    }
}

/// Hands every value below `path` to the policy: an object before its fields, a list of statuses
/// one by one. Every host walks its documents like this.
fn walk(policy: &mut Policy, path: &str, value: &Json) {
    if let (Json::Array(members), true) = (value, path.starts_with("classify.")) {
        return members.iter().for_each(|member| policy.set(path, given(member)));
    }
    // What belongs in a list does not stand alone.
    let alone = path.starts_with("classify.") && !value.is_object();
    policy.set(path, if alone { Given::Other } else { given(value) });
    let fields = value.as_object().filter(|_| path.split('.').count() < MAX_DEPTH);
    for (key, value) in fields.into_iter().flatten() {
        walk(policy, &std::format!("{path}.{}", escaped(key)), value);
    }
}

/// A dot inside a key is none between keys.
fn escaped(key: &str) -> String {
    key.replace('.', "\\.")
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

fn look_up<'a>(json: &'a Json, path: &str) -> Option<&'a Json> {
    if let Some(value) = json.get(path) {
        return Some(value);
    }
    path.split('.').try_fold(json, |json, key| json.get(key))
}

fn with_value(mut error: PolicyError, json: &Json) -> PolicyError {
    if error.value.is_none() {
        error.value = look_up(json, &error.field).map(ToString::to_string);
    }
    error
}
