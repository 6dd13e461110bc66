//! What must hold of every move. Each law reads a rule of `docs/semantics.md` directly.

mod breaker;
mod bulkhead;
mod call;
mod retry;

use std::fmt::Debug;

use stormproof::proof::State;

use crate::transition::{Live, Transition, live};

/// A law: its name, and what it has to object.
pub type Law = (&'static str, fn(&Transition<'_>) -> Result<(), String>);

pub const LAWS: &[Law] = &[
    ("L1 probes", breaker::probes),
    ("L5 permits", bulkhead::permits),
    ("L6 deadline", call::deadline),
    ("L7 delays", retry::delays),
    ("L10 open time", breaker::open_time),
    ("L11 one ending", call::one_ending),
    ("K1-K6 circuit", breaker::circuit),
    ("B1 C2 memory", retry::memory),
    ("G1-G5 tokens", retry::tokens),
    ("O1 gates", call::gates),
    ("O6 endings", retry::endings),
    ("E5 timers", call::timers),
    ("H2 queue", bulkhead::queue),
    ("H4 left behind", bulkhead::left_behind),
];

fn holds(condition: bool, text: impl FnOnce() -> String) -> Result<(), String> {
    if condition { Ok(()) } else { Err(text()) }
}

fn equal<T: PartialEq + Debug>(what: &str, is: &T, due: &T) -> Result<(), String> {
    holds(is == due, || format!("{what} is {is:?}, due is {due:?}"))
}

fn lives(state: &State) -> impl Iterator<Item = Live<'_>> {
    state.calls.iter().filter_map(live)
}
