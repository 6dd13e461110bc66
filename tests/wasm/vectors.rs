//! The shared vectors, run by the runner of `core/tests` as WebAssembly.
#![cfg(target_arch = "wasm32")]

use wasm_bindgen_test::{console_log, wasm_bindgen_test};

#[path = "../../core/tests/vectors/calls.rs"]
mod calls;
#[path = "../../core/tests/vectors/expect.rs"]
mod expect;
#[path = "../../core/tests/vectors/policy.rs"]
mod policy;
#[path = "../../core/tests/vectors/run.rs"]
mod run;
#[path = "../../core/tests/vectors/single.rs"]
mod single;
#[path = "../../core/tests/vectors/suite.rs"]
mod suite;
#[path = "../../core/tests/vectors/trail.rs"]
mod trail;

/// Names and texts.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/vectors.rs"));

#[wasm_bindgen_test]
fn vectors() {
    let mut suite = suite::Suite::default();
    for (name, text) in FILES {
        suite.file(name, text);
    }
    console_log!("{}", suite.line("wasm"));
    suite.close();
}
