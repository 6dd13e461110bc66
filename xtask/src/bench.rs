//! `cargo xtask bench`: the figures of the core and the size of the npm package.

use std::process::Command;

use anyhow::Result;

use crate::{build, process, workspace};

/// Runs the benches, the instruction counts where valgrind can run, and the size of the bundle.
pub fn run(_: &[String]) -> Result<()> {
    process::run(cargo().args(["bench", "--package", "stormproof-benches"]))?;
    match process::read(Command::new("valgrind").arg("--version")) {
        Ok(_) => process::run(cargo().args([
            "run",
            "--release",
            "--package",
            "stormproof-benches",
            "--bin",
            "report",
        ]))?,
        Err(_) => println!(
            "instruction counts: skipped, valgrind is missing (Debian, Ubuntu: apt-get install valgrind)"
        ),
    }
    build::npm::build()?;
    process::run(Command::new("node").current_dir(workspace::path("npm")).arg("scripts/size.mjs"))
}

fn cargo() -> Command {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(workspace::root());
    cargo
}
