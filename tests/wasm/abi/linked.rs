//! The binding as it is linked here: its sources, with checks of arithmetic.

use stormproof::Policy;

use crate::buffers::{self, Buffers, STEP_LEN, TEXT_LEN};
use crate::call::{Call, Cells, Reply};
use crate::{calls, engines, policies, texts};

/// Begins anew, as a module does that is loaded.
pub fn load() {
    let (text, step) = ([0; TEXT_LEN], [0.0; STEP_LEN]);
    let (engines, draft) = (engines::Pool(Vec::new()), Policy::new());
    buffers::with(|buffers| *buffers = Buffers { text, step, engines, draft, word: None });
}

/// The step buffer as it stands.
pub fn cells() -> Cells {
    buffers::with(|buffers| buffers.step)
}

pub fn answer(call: &Call) -> Reply {
    buffers::with(|buffers| write(buffers, call));
    let answer = dispatch(call);
    buffers::with(|Buffers { text, step, .. }| Reply { answer, text: text.to_vec(), cells: *step })
}

fn write(buffers: &mut Buffers, call: &Call) {
    if let Some(text) = &call.text {
        buffers.text[..text.len()].copy_from_slice(text);
    }
    if let Some(cells) = call.cells {
        buffers.step = cells;
    }
}

fn dispatch(call: &Call) -> f64 {
    let number = |place: usize| call.arguments[place];
    let word = |place: usize| number(place) as u32;
    match call.function {
        "policy_new" => policies::policy_new(),
        "policy_set" => policies::policy_set(word(0), word(1), number(2), word(3)),
        "engine_free" => engines::engine_free(word(0)),
        "reseed" => engines::reseed(word(0), word(1), word(2)),
        "set_word" => engines::set_word(word(0), word(1)),
        _ => return asked(call),
    }
    0.0
}

fn asked(call: &Call) -> f64 {
    let number = |place: usize| call.arguments[place];
    let word = |place: usize| number(place) as u32;
    let code = match call.function {
        "engine_new" => engines::engine_new(),
        "start" => calls::start(word(0), number(1), word(2), number(3), word(4)),
        "on_settled" => {
            let (kind, status, phase) = (word(3), word(4), word(5));
            calls::on_settled(word(0), number(1), number(2), kind, status, phase, number(6))
        }
        "on_answered" => {
            let (status, retry_after, safety) = (word(3), number(4), word(5));
            calls::on_answered(word(0), number(1), number(2), status, retry_after, safety)
        }
        "on_elapsed" => calls::on_elapsed(word(0), number(1), number(2)),
        "on_cancelled" => calls::on_cancelled(word(0), number(1), number(2)),
        "poll_ready" => calls::poll_ready(word(0), number(1)),
        "control" => calls::control(word(0), number(1), word(2)),
        "classify" => calls::classify(word(0), word(1), number(2), word(3)),
        "snapshot" => calls::snapshot(word(0), number(1)),
        "explain" => calls::explain(word(0), word(1)),
        "is_idempotent_method" => texts::is_idempotent_method(word(0)),
        "idempotency_value" => return f64::from(texts::idempotency_value(word(0), word(1))),
        "retry_after" => {
            let length = |place: usize| number(place) as i32;
            return texts::retry_after(length(0), length(1), length(2), length(3), number(4));
        }
        other => panic!("{other} is not called"),
    };
    f64::from(code)
}
