//! A policy document, handed to the policy value by value as every host does it.

use serde_json::Value as Json;
use stormproof::Policy;
use stormproof::policy::Given;

pub fn policy(document: &Json) -> Policy {
    let mut policy = Policy::new();
    for (key, value) in document.as_object().into_iter().flatten() {
        walk(&mut policy, key, value);
    }
    policy
}

fn walk(policy: &mut Policy, path: &str, value: &Json) {
    let given = match value {
        Json::Null => Given::Null,
        Json::Bool(flag) => Given::Flag(*flag),
        Json::Number(number) => Given::Number(number.as_f64().unwrap_or(f64::NAN)),
        Json::String(text) => Given::Text(text),
        Json::Array(members) if path.starts_with("classify.") => {
            return members.iter().for_each(|member| walk(policy, path, member));
        }
        Json::Array(_) => Given::Other,
        Json::Object(_) => odd_number(value).map_or(Given::Object, Given::Number),
    };
    policy.set(path, given);
    if let (Json::Object(fields), Given::Object) = (value, given) {
        for (key, value) in fields {
            walk(policy, &format!("{path}.{key}"), value);
        }
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
