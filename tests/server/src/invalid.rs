//! What is wrong with a scenario, a script or a step.

use serde::de::DeserializeOwned;
use std::fmt;

/// JSON that is not what it should be: where it is wrong, and what is allowed there.
#[derive(Debug)]
pub struct Invalid {
    path: String,
    reason: String,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "." => f.write_str(&self.reason),
            path => write!(f, "{path}: {}", self.reason),
        }
    }
}

impl std::error::Error for Invalid {}

/// Reads `T` from the whole of `json`, remembering the path to the first fault.
pub(crate) fn parse<T: DeserializeOwned>(json: &[u8]) -> Result<T, Invalid> {
    let mut reader = serde_json::Deserializer::from_slice(json);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| Invalid {
        path: error.path().to_string(),
        reason: error.into_inner().to_string(),
    })?;
    reader.end().map_err(|error| Invalid { path: ".".into(), reason: error.to_string() })?;
    Ok(value)
}

/// The one sentence that every check of ours speaks: field, value, what is allowed.
pub(crate) fn refuse<E: serde::de::Error>(
    field: &str,
    value: impl fmt::Display,
    allowed: impl fmt::Display,
) -> E {
    E::custom(format_args!("{field} is {value}; allowed: {allowed}"))
}
