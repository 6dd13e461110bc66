//! The integer interface of `bindings-wasm`, which must answer whatever it is asked: a panic here is
//! a trap there.
//!
//! Calls are drawn as the test of the interface draws them, from the input instead of a seed, and
//! held against the same ledger.

use crate::dice::Dice;
use crate::ledger::Ledger;
use crate::linked;
use crate::traffic::Traffic;

/// Checks one course of calls, from a module as it is loaded.
pub fn check(input: &[u8]) {
    linked::load();
    let mut ledger = Ledger::default();
    let mut traffic = Traffic::new(Dice::from_input(input));
    while !traffic.is_over() {
        let call = traffic.draw(&ledger);
        let before = call.cells.unwrap_or_else(linked::cells);
        let reply = linked::answer(&call);
        if let Err(fault) = ledger.enter(&call, &before, &reply) {
            panic!("{fault}: {call:?}: {reply:?}");
        }
    }
}
