//! A trace of a million steps: traffic that depends on nothing but a seed, through engines of many
//! policies, and a digest of all that they answer.
//!
//! The library needs no operating system, so that a microcontroller makes the same trace by itself.
//! What cannot run it replays its inputs, which the program of this crate writes down. The README
//! beside it describes both, and the digest.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod calls;
mod clock;
pub mod coverage;
mod dice;
pub mod digest;
pub mod draft;
mod host;
pub mod input;
mod trace;
mod weather;

pub use trace::{Moment, run};

/// How many steps the trace has.
pub const STEPS: u64 = 1_000_000;

/// How many steps of it share a digest.
pub const BLOCK: u64 = 10_000;
