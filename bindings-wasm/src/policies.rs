//! Drafting a policy, one value of its document at a time.

use stormproof::Policy;
use stormproof::policy::Given;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::buffers::{self, Buffers, text_at};

/// Begins a draft; the one before, if any, is dropped.
#[wasm_bindgen]
pub fn policy_new() {
    buffers::with(|buffers| buffers.draft = Policy::new());
}

/// Puts one value into the draft. Its path stands in the text buffer, a text value right behind it.
/// Kinds: 0 null, 1 truth value (0 or 1), 2 number, 3 text, 4 object, 5 anything else.
#[wasm_bindgen]
pub fn policy_set(path_len: u32, kind: u32, number: f64, text_len: u32) {
    buffers::with(|buffers| {
        let Buffers { text, draft, .. } = buffers;
        let given = match kind {
            0 => Given::Null,
            1 => Given::Flag(number != 0.0),
            2 => Given::Number(number),
            3 => Given::Text(text_at(text, path_len, text_len)),
            4 => Given::Object,
            _ => Given::Other,
        };
        draft.set(text_at(text, 0, path_len), given);
    });
}
