//! The laws of the random waits, by statistics.

use std::process::Command;

use anyhow::Result;

use super::Size;
use crate::{process, workspace};

/// Eight times the waits of CI find what is a third as wrong.
const FULL_SAMPLES: &str = "1048576";

/// Judges the waits of `core/tests/jitter.rs`.
pub fn run(size: Size) -> Result<String> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(workspace::root());
    cargo.args(["test", "--package=stormproof", "--test=jitter", "--", "--show-output"]);
    if size == Size::Full {
        cargo.env("STORMPROOF_JITTER_SAMPLES", FULL_SAMPLES);
    }
    process::tee(&mut cargo)
}
