//! What the fuzzers check, one file to a target, and the inputs that they have found.
//!
//! Each target turns bytes into a use of one boundary and holds the laws against what comes of it.
//! `cargo test` does so with the saved inputs of `corpus`; `targets` has the programs that look for
//! more of them with libFuzzer.
#![allow(missing_docs)]

extern crate alloc;

pub mod course;
pub mod policy_document;
pub mod retry_after;
pub mod wasm_boundary;

// The sources of the integer interface and of its test, which call each other from the root.
#[path = "../../../bindings-wasm/src/buffers.rs"]
pub mod buffers;
#[path = "../../wasm/abi/call.rs"]
pub mod call;
#[path = "../../../bindings-wasm/src/calls.rs"]
pub mod calls;
#[path = "../../wasm/abi/dice.rs"]
pub mod dice;
#[path = "../../wasm/abi/draft.rs"]
pub mod draft;
#[path = "../../../bindings-wasm/src/engines.rs"]
pub mod engines;
#[path = "../../wasm/abi/ledger.rs"]
pub mod ledger;
#[path = "../../wasm/abi/linked.rs"]
pub mod linked;
#[path = "../../../bindings-wasm/src/policies.rs"]
pub mod policies;
#[path = "../../../bindings-wasm/src/texts.rs"]
pub mod texts;
#[path = "../../wasm/abi/traffic.rs"]
pub mod traffic;

/// What a fuzzer is for.
pub struct Target {
    /// The name of its program and of the folder of its inputs.
    pub name: &'static str,
    /// Panics where something does not hold.
    pub check: fn(&[u8]),
}

/// All targets that need nothing but Rust.
pub const TARGETS: &[Target] = &[
    Target { name: "retry_after", check: retry_after::check },
    Target { name: "policy_document", check: policy_document::check },
    Target { name: "course", check: course::check },
    Target { name: "wasm_boundary", check: wasm_boundary::check },
];
