//! Keys that make a write safe to repeat (draft-ietf-httpapi-idempotency-key-header).

use alloc::string::String;

use crate::step::stable_enum;

/// The header that carries the key unless a policy names another.
pub const HEADER: &str = "Idempotency-Key";

stable_enum! {
    /// How a key is written in its header.
    KeyForm {
        /// As it is: what deployed interfaces take.
        Raw = 0 "raw",
        /// As a structured-field string, in quotes (RFC 8941 §3.3.3).
        Ietf = 1 "ietf",
    }
}

/// Is this a key: 1 to 255 visible ASCII characters?
pub fn is_key(key: &str) -> bool {
    (1..=255).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic())
}

/// The header's value for `key`; `None` when it [is no key](is_key).
///
/// ```
/// use stormproof::idempotency::{KeyForm, header_value};
///
/// assert_eq!(header_value("order-17", KeyForm::Raw).as_deref(), Some("order-17"));
/// assert_eq!(header_value("a\"b", KeyForm::Ietf).as_deref(), Some(r#""a\"b""#));
/// assert_eq!(header_value("two words", KeyForm::Raw), None);
/// ```
pub fn header_value(key: &str, form: KeyForm) -> Option<String> {
    if !is_key(key) {
        return None;
    }
    if form == KeyForm::Raw {
        return Some(key.into());
    }
    let mut value = String::with_capacity(key.len() + 2);
    value.push('"');
    for character in key.chars() {
        if matches!(character, '"' | '\\') {
            value.push('\\');
        }
        value.push(character);
    }
    value.push('"');
    Some(value)
}
