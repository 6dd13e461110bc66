//! The integer interface answers whatever it is asked: nothing panics, nothing traps.
//!
//! Calls are drawn at random, from seeds and from what a fuzzer has found, through every function
//! that the module exports: with handles and ids that are fresh, stale, freed, foreign or garbage,
//! with times that are NaN, infinite, negative or huge, with lengths beyond the text buffer and
//! numbers that no enum has. The sources of `bindings-wasm` answer them here, with every overflow
//! checked; in Node the module that is shipped, `core.wasm`, must give the same answers and leave
//! the same buffers.

extern crate alloc;

use stormproof::Reason;

#[path = "../../../bindings-wasm/src/buffers.rs"]
mod buffers;
#[path = "../../../bindings-wasm/src/calls.rs"]
mod calls;
#[path = "../../../bindings-wasm/src/engines.rs"]
mod engines;
#[path = "../../../bindings-wasm/src/policies.rs"]
mod policies;
#[path = "../../../bindings-wasm/src/texts.rs"]
mod texts;

mod call;
mod dice;
mod draft;
mod ledger;
mod linked;
#[cfg(target_arch = "wasm32")]
mod shipped;
mod traffic;

use call::{Call, Reply};
use dice::Dice;
use ledger::Ledger;
use traffic::Traffic;

const SEEDS: u64 = 24;
const CALLS_PER_SEED: usize = 4_000;

/// Inputs that the fuzzer has found, from which calls are drawn like from a seed.
const SAVED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/saved_inputs.rs"));

// One test: the sources share their buffers.
#[cfg(not(target_arch = "wasm32"))]
#[test]
fn drawn_calls_are_answered() {
    random(|_, _| {});
    saved(|| |_, _| {});
}

#[cfg(target_arch = "wasm32")]
#[wasm_bindgen_test::wasm_bindgen_test]
fn the_shipped_module_gives_the_same_answers() {
    let mut count = 0;
    let load = || {
        let shipped = shipped::Module::load();
        move |call: &Call, reply: &Reply| {
            let other = shipped.answer(call);
            let told = || format!("{call:?}\nlinked:  {reply:?}\nshipped: {other:?}");
            assert!(other.as_ref() == Ok(reply), "{}", told());
        }
    };
    let compare = load();
    random(|call, reply| {
        count += 1;
        compare(call, reply);
    });
    saved(load);
    let saved = SAVED.len();
    wasm_bindgen_test::console_log!(
        "core.wasm answered {count} calls and {saved} saved inputs as its sources do"
    );
}

/// Draws calls and checks what becomes of them. Every reason to end a call must come up.
fn random(mut compare: impl FnMut(&Call, &Reply)) {
    let mut past = Past(Vec::new());
    let mut ledger = Ledger::default();
    for seed in 0..SEEDS {
        let mut traffic = Traffic::new(Dice::from_seed(seed));
        for _ in 0..CALLS_PER_SEED {
            one(&mut traffic, &mut ledger, &mut past, &mut compare);
        }
    }
    let missing: Vec<_> = Reason::ALL.iter().filter(|reason| !ledger.saw(**reason)).collect();
    assert!(missing.is_empty(), "no call ended with {missing:?}");
}

/// Draws the calls of each saved input, from a module as it is loaded.
fn saved<Compare: FnMut(&Call, &Reply)>(mut load: impl FnMut() -> Compare) {
    assert!(!SAVED.is_empty(), "there are saved inputs");
    for (_, input) in SAVED {
        linked::load();
        let mut compare = load();
        let mut past = Past(Vec::new());
        let mut ledger = Ledger::default();
        let mut traffic = Traffic::new(Dice::from_input(input));
        while !traffic.is_over() {
            one(&mut traffic, &mut ledger, &mut past, &mut compare);
        }
    }
}

/// One call.
fn one(
    traffic: &mut Traffic,
    ledger: &mut Ledger,
    past: &mut Past,
    compare: &mut impl FnMut(&Call, &Reply),
) {
    let call = traffic.draw(ledger);
    let before = call.cells.unwrap_or_else(linked::cells);
    past.0.push(call.clone());
    let reply = linked::answer(&call);
    compare(&call, &reply);
    if let Err(fault) = ledger.enter(&call, &before, &reply) {
        panic!("{fault}: {reply:?}");
    }
}

/// Tells after a panic what led to it.
struct Past(Vec<Call>);

impl Drop for Past {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let (count, from) = (self.0.len(), self.0.len().saturating_sub(20));
            eprintln!("call {count}; the last ones:");
            for call in &self.0[from..] {
                eprintln!("  {call:?}");
            }
        }
    }
}
