//! A policy document, handed to the policy value by value as every host does it.

use serde_json::Value as Json;
use stormproof::Policy;
use stormproof::policy::Given;

pub fn policy(document: &Json) -> Policy {
    let mut policy = Policy::new();
    for (key, value) in document.as_object().into_iter().flatten() {
        walk(&mut policy, &key.replace('.', "\\."), value);
    }
    policy
}

fn walk(policy: &mut Policy, path: &str, value: &Json) {
    let listed = path.starts_with("classify.");
    if let (Json::Array(members), true) = (value, listed) {
        return members.iter().for_each(|member| policy.set(path, given(member)));
    }
    let given = given(value);
    let alone = listed && !matches!(given, Given::Object);
    policy.set(path, if alone { Given::Other } else { given });
    if let (Json::Object(fields), Given::Object) = (value, given) {
        for (key, value) in fields {
            walk(policy, &format!("{path}.{}", key.replace('.', "\\.")), value);
        }
    }
}

fn given(value: &Json) -> Given<'_> {
    match value {
        Json::Null => Given::Null,
        Json::Bool(flag) => Given::Flag(*flag),
        Json::Number(number) => Given::Number(number.as_f64().unwrap_or(f64::NAN)),
        Json::String(text) => Given::Text(text),
        Json::Array(_) => Given::Other,
        Json::Object(_) => odd_number(value).map_or(Given::Object, Given::Number),
    }
}

/// `{"$number": "NaN"}`: a number that JSON cannot write.
fn odd_number(value: &Json) -> Option<f64> {
    match value.get("$number")?.as_str()? {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        other => panic!("no number is called {other}"),
    }
}
