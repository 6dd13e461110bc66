//! Policy documents: JSON in, a policy and its texts out.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use stormproof::policy::Document;
use stormproof::{Engine, ErrorCode, Policy};

fn code(text: &str) -> (ErrorCode, String) {
    let error = Policy::from_json(text).expect_err("the document is wrong");
    (error.code, error.field)
}

/// The vectors walk their documents on their own, as a host does; so does `from_json`.
#[test]
#[cfg_attr(miri, ignore = "reading all files takes a quarter of an hour")]
fn the_vectors_hold_for_documents_that_are_json() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors");
    let mut asked = 0;
    for entry in std::fs::read_dir(folder).expect("the folder of vectors") {
        let path = entry.expect("an entry of the folder").path();
        if path.extension().is_none_or(|end| end != "json") {
            continue;
        }
        let text = std::fs::read_to_string(path).expect("a readable file");
        let file: Json = serde_json::from_str(&text).expect("a file of vectors");
        for vector in file["vectors"].as_array().into_iter().flatten() {
            let document = vector["policy"].to_string();
            // A number that JSON cannot write.
            if document.contains("$number") {
                continue;
            }
            let expected = &vector["policy_error"];
            let answer = match Policy::from_json(&document) {
                Ok(_) => Json::Null,
                Err(error) => serde_json::json!({"code": error.code.name(), "field": error.field}),
            };
            if !expected.is_null() || vector["policy_ok"] == true {
                assert_eq!(answer, *expected, "{}", vector["id"]);
                asked += 1;
            }
        }
    }
    assert!(asked > 90, "only {asked} vectors ask for a verdict");
}

#[test]
fn the_texts_come_with_the_figures() {
    let document = Document::from_json(
        r#"{"name": "payments", "retry": {"maxAttempts": 2}, "idempotency": {"header": "X-Key"},
            "propagate": {"timeLeftHeader": "X-Left", "attemptHeader": null}}"#,
    )
    .expect("the document is right");
    assert_eq!(document.name.as_deref(), Some("payments"));
    assert_eq!(document.idempotency_header, "X-Key");
    assert_eq!(document.time_left_header.as_deref(), Some("X-Left"));
    assert_eq!(document.attempt_header, None);
    assert!(Engine::new(&document.policy).is_ok());
    let bare = Document::from_json("{}").expect("an empty document is the default policy");
    assert_eq!((bare.name, bare.attempt_header), (None, None));
    assert_eq!(bare.idempotency_header, "Idempotency-Key");
}

#[test]
fn header_names_are_tokens() {
    let header = |name: &str| {
        let document = serde_json::json!({"propagate": {"attemptHeader": name}});
        Policy::from_json(&document.to_string()).map_err(|error| error.code)
    };
    for name in ["X-Attempt", "!#$%&'*+-.^_`|~09azAZ"] {
        assert!(header(name).is_ok(), "{name}");
    }
    for name in ["", "two words", "a:b", "grün", "a\u{7f}"] {
        assert_eq!(header(name).err(), Some(ErrorCode::UnknownName), "{name:?}");
    }
    assert_eq!(code(r#"{"name": ""}"#), (ErrorCode::UnknownName, "name".into()));
}

#[test]
fn what_is_no_object_is_no_document() {
    for text in ["", "{", "[]", "7", "null", r#"{"retry": }"#] {
        assert_eq!(code(text), (ErrorCode::BadDocument, String::new()), "{text}");
    }
    let error = Policy::from_json("[]").expect_err("a list is no document");
    assert_eq!(error.to_string(), "the policy document: must be a JSON object");
    let error = Policy::from_json("{").expect_err("half a document is none");
    assert!(error.to_string().starts_with("the policy document is not JSON: "), "{error}");
}

#[test]
fn an_error_spells_the_value_of_the_document() {
    let error = |text| Policy::from_json(text).expect_err("the document is wrong");
    assert_eq!(error(r#"{"retry": {"factor": -2}}"#).value.as_deref(), Some("-2"));
    assert_eq!(error(r#"{"retry": {"jitter": "loud"}}"#).value.as_deref(), Some(r#""loud""#));
    assert_eq!(error(r#"{"retry": {"factor": true}}"#).value.as_deref(), Some("true"));
    // The core spells a value that contradicts another, defaults included.
    assert_eq!(error(r#"{"retry": {"baseMs": 30000}}"#).value.as_deref(), Some("20000 ms"));
    // A dot inside a key is none between keys.
    let dotted = error(r#"{"retry.factor": 9}"#);
    assert_eq!((dotted.field.as_str(), dotted.value.as_deref()), ("retry.factor", Some("9")));
}

#[test]
fn what_lies_deeper_than_any_knob_is_not_looked_at() {
    assert_eq!(code(r#"{"a": {"b": {"c": {"d": 1}}}}"#), (ErrorCode::UnknownField, "a".into()));
    let knob = r#"{"retry": {"factor": {"x": {"y": 1}}}}"#;
    assert_eq!(code(knob), (ErrorCode::UnknownField, "retry.factor.x".into()));
}

#[test]
fn a_document_is_read_from_its_file() {
    let file = Temporary::new(r#"{"name": "files", "breaker": false}"#);
    let document = Document::from_file(&file.0).expect("the file is a policy document");
    assert_eq!(document.name.as_deref(), Some("files"));
    let gone = file.0.with_extension("gone");
    let error = Document::from_file(&gone).expect_err("there is no such file");
    assert_eq!(error.code, ErrorCode::UnreadableFile);
    assert!(error.to_string().starts_with(&format!("{}: ", gone.display())), "{error}");
}

/// A file that goes with its test.
struct Temporary(PathBuf);

impl Temporary {
    fn new(text: &str) -> Self {
        let name = format!("stormproof-policy-{}.json", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).expect("the temporary folder is writable");
        Self(path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        _ = std::fs::remove_file(&self.0);
    }
}
