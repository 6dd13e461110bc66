//! Vectors that ask one question.

use serde_json::Value as Json;
use stormproof::classify::is_idempotent_method;
use stormproof::idempotency::{KeyForm, header_value};
use stormproof::retry_after::Fields;
use stormproof::step::Safety;
use stormproof::{Engine, Policy};

use crate::policy::policy;
use crate::run::by_name;
use crate::suite::Faults;

pub fn check(vector: &Json) -> Faults {
    match differs(vector) {
        Ok(None) => Faults::new(),
        Ok(Some(fault)) | Err(fault) => vec![fault],
    }
}

fn differs(vector: &Json) -> Result<Option<String>, String> {
    let has = |field: &str| !vector[field].is_null();
    let (expected, got) = if has("policy_error") {
        let expected = &vector["policy_error"];
        let expected = format!("{} {}", text(&expected["code"])?, text(&expected["field"])?);
        (expected, verdict(&policy(&vector["policy"])))
    } else if has("policy_ok") {
        ("fine".into(), verdict(&policy(&vector["policy"])))
    } else if has("retry_after") {
        let delay = delay_ms(&vector["retry_after"])?;
        let delay = delay.map_or(Json::Null, Json::from);
        (vector["delay_ms"].to_string(), delay.to_string())
    } else if has("classify") {
        (text(&vector["kind"])?.into(), kind(&vector["classify"])?.into())
    } else if has("method") {
        let idempotent = is_idempotent_method(text(&vector["method"])?.as_bytes());
        (vector["idempotent"].to_string(), idempotent.to_string())
    } else if has("key") {
        let form = by_name(KeyForm::ALL, KeyForm::name, text(&vector["form"])?)?;
        let header = header_value(text(&vector["key"])?, form);
        let header = header.map_or(Json::Null, Json::from);
        (vector["header"].to_string(), header.to_string())
    } else {
        return Err("nothing to check".into());
    };
    Ok((expected != got).then(|| format!("expected {expected}, got {got}")))
}

fn verdict(policy: &Policy) -> String {
    match policy.check() {
        Ok(()) => "fine".into(),
        Err(error) => format!("{} {}", error.code.name(), error.field),
    }
}

fn delay_ms(question: &Json) -> Result<Option<u64>, String> {
    let field = |name: &str| joined(&question["fields"][name]);
    let (milliseconds, prefixed) = (field("retry-after-ms")?, field("x-ms-retry-after-ms")?);
    let (seconds, date) = (field("retry-after")?, field("date")?);
    let wall_ms = question["wall_ms"].as_u64().ok_or("no wall clock")?;
    let fields = Fields {
        retry_after_ms: milliseconds.as_deref(),
        x_ms_retry_after_ms: prefixed.as_deref(),
        retry_after: seconds.as_deref(),
        date: date.as_deref(),
    };
    Ok(fields.delay_ms(wall_ms))
}

/// The lines of a field as one value, in Latin-1.
fn joined(lines: &Json) -> Result<Option<Vec<u8>>, String> {
    let Some(lines) = lines.as_array() else {
        return Ok(None);
    };
    let lines: Result<Vec<&str>, String> = lines.iter().map(text).collect();
    let bytes: Result<Vec<u8>, _> = lines?.join(", ").chars().map(u8::try_from).collect();
    bytes.map(Some).map_err(|_| "not Latin-1".into())
}

fn kind(question: &Json) -> Result<&'static str, String> {
    let engine = Engine::new(&policy(&question["policy"])).map_err(|error| error.to_string())?;
    let safety = match question["safety"].as_str() {
        Some(name) => by_name(Safety::ALL, Safety::name, name)?,
        None => Safety::Idempotent,
    };
    let status = question["status"].as_u64().and_then(|status| u16::try_from(status).ok());
    let status = status.ok_or("no status")?;
    let outcome = engine.classify(status, question["retry_after_ms"].as_u64(), safety);
    Ok(outcome.kind.name())
}

fn text(json: &Json) -> Result<&str, String> {
    json.as_str().ok_or_else(|| format!("{json} is no text"))
}
