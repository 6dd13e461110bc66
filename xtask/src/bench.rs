//! `cargo xtask bench`: what decisions, calls and packages cost.

use std::process::Command;

use anyhow::Result;

use crate::{build, process, workspace};

/// Times and instructions of the core, then the added time of a call and the size of each package.
pub fn run(_: &[String]) -> Result<()> {
    core()?;
    npm()?;
    python()
}

fn core() -> Result<()> {
    const PACKAGE: &str = "--package=stormproof-benches";
    process::run(cargo().args(["bench", PACKAGE]))?;
    if process::read(Command::new("valgrind").arg("--version")).is_err() {
        println!(
            "instruction counts: skipped, valgrind is missing (Debian, Ubuntu: apt-get install valgrind)"
        );
        return Ok(());
    }
    // The report runs the program that it counts, which `cargo run` alone would not build.
    process::run(cargo().args(["build", "--release", PACKAGE, "--bins"]))?;
    process::run(cargo().args(["run", "--release", PACKAGE, "--bin=report"]))
}

fn npm() -> Result<()> {
    build::npm::build()?;
    for arguments in [&["scripts/size.mjs"][..], &["--expose-gc", "bench/call.mjs"]] {
        let mut node = Command::new("node");
        process::run(node.current_dir(workspace::path("npm")).args(arguments))?;
    }
    Ok(())
}

fn python() -> Result<()> {
    build::python::build()?;
    let mut python = Command::new(workspace::venv_program("python"));
    process::run(python.arg(workspace::path("bindings-python/bench/call.py")))
}

fn cargo() -> Command {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(workspace::root());
    cargo
}
