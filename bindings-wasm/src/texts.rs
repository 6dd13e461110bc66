//! Header values in and out.

use stormproof::classify;
use stormproof::idempotency::{KeyForm, header_value};
use stormproof::retry_after::Fields;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::buffers::{self, bytes_at, text_at};
use crate::calls::code;

/// The wait in milliseconds that a response asks for; negative: none.
///
/// The values of `retry-after-ms`, `x-ms-retry-after-ms`, `retry-after` and `date` stand in the
/// text buffer one after the other; a negative length means that the response has no such field.
/// `wall` is the host's wall clock in milliseconds since 1970.
#[wasm_bindgen]
pub fn retry_after(ms_len: i32, x_ms_len: i32, plain_len: i32, date_len: i32, wall: f64) -> f64 {
    buffers::with(|buffers| {
        let mut rest = 0;
        let mut next = |len| field(&buffers.text, &mut rest, len);
        let fields = Fields {
            retry_after_ms: next(ms_len),
            x_ms_retry_after_ms: next(x_ms_len),
            retry_after: next(plain_len),
            date: next(date_len),
        };
        fields.delay_ms(wall as u64).map_or(-1.0, |millis| millis as f64)
    })
}

/// Writes the header's value for the idempotency key that stands in the text buffer; answers its
/// length, or a negative number where it is no key. Forms: 0 raw, 1 ietf.
#[wasm_bindgen]
pub fn idempotency_value(key_len: u32, form: u32) -> i32 {
    buffers::with(|buffers| {
        let form = KeyForm::from_code(code(form)).unwrap_or(KeyForm::Raw);
        match header_value(text_at(&buffers.text, 0, key_len), form) {
            Some(value) => buffers.put_text(&value) as i32,
            None => -1,
        }
    })
}

/// May the method whose name stands in the text buffer be repeated without further effect?
#[wasm_bindgen]
pub fn is_idempotent_method(len: u32) -> u32 {
    buffers::with(|buffers| {
        u32::from(classify::is_idempotent_method(bytes_at(&buffers.text, 0, len)))
    })
}

fn field<'a>(buffer: &'a [u8], start: &mut u32, len: i32) -> Option<&'a [u8]> {
    let len = u32::try_from(len).ok()?;
    let field = bytes_at(buffer, *start, len);
    *start = start.saturating_add(len);
    Some(field)
}
