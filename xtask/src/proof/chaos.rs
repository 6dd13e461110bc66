//! Hosts and servers, end to end: see `tests/chaos`.

use std::process::Command;

use anyhow::Result;

use super::Size;
use crate::{build, process, workspace};

/// What the step and the part show.
pub const ABOUT: &str = "three hosts under load hold the laws while their servers are killed";

/// A minute in CI; ten minutes in full: five seeds, two minutes each.
pub fn run(size: Size) -> Result<String> {
    build::npm::build()?;
    build::python::build()?;
    let packages = ["--package=fault-server", "--package=stormproof-chaos", "--package=chaos-host"];
    process::run(Command::new("cargo").current_dir(workspace::root()).arg("build").args(packages))?;
    let mut chaos = Command::new(workspace::target().join("debug/stormproof-chaos"));
    chaos.current_dir(workspace::root()).args(match size {
        Size::Ci => ["--seconds=60", "--runs=1"],
        Size::Full => ["--seconds=120", "--runs=5"],
    });
    chaos.arg("--python").arg(workspace::venv_program("python"));
    chaos.arg("--folder").arg(workspace::target().join("chaos"));
    process::tee(&mut chaos)
}
