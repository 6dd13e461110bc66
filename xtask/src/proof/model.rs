//! The core against a model of `docs/semantics.md`, step by step.

use std::process::Command;

use anyhow::Result;

use super::Size;
use crate::{process, workspace};

/// About ten seconds.
const CI_STEPS: &str = "1000000";
/// Some minutes.
const FULL_STEPS: &str = "20000000";

/// Plays random courses to both, with the overflow checks of a debug build.
pub fn run(size: Size) -> Result<String> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(workspace::root());
    cargo.args(["test", "--package=stormproof-model", "--test=agree", "--", "--show-output"]);
    let steps = if size == Size::Full { FULL_STEPS } else { CI_STEPS };
    process::tee(cargo.env("STORMPROOF_PROOF_STEPS", steps))
}
