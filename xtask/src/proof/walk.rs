//! Every reachable state of small worlds.

use std::process::Command;

use anyhow::Result;

use super::Size;
use crate::{process, workspace};

/// The worlds of every run, or larger ones as well.
pub fn run(size: Size) -> Result<String> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(workspace::root()).args(["run", "--release", "--package=stormproof-walk"]);
    if size == Size::Full {
        cargo.args(["--", "--full"]);
    }
    process::tee(&mut cargo)
}
