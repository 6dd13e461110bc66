//! The Python package, installed in place into `.venv`.

use std::fs;
use std::process::Command;

use anyhow::Result;

use crate::stamp::Step;
use crate::{doctor, process, workspace};

/// Shows that this environment, and not one that it replaced, has the package.
const INSTALLED: &str = ".venv/stormproof-is-installed";

/// Makes `.venv` with the tools that `tests/requirements.txt` names.
pub fn install() -> Result<()> {
    let python = doctor::python()?;
    let facts = [python.program, &python.version];
    let environment =
        Step { name: "venv", inputs: &[], facts: &facts, outputs: &[".venv/bin/python"] };
    environment.run(|| {
        process::run(
            Command::new(python.program)
                .current_dir(workspace::root())
                .args(["-m", "venv", "--clear", ".venv"]),
        )
    })?;
    let packages = Step {
        name: "pip",
        inputs: &["tests/requirements.txt", ".venv/pyvenv.cfg"],
        facts: &facts,
        outputs: &[".venv/bin/maturin", ".venv/bin/pytest", ".venv/bin/mypy"],
    };
    packages.run(|| {
        process::run(
            Command::new(workspace::venv_program("python")).current_dir(workspace::root()).args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--requirement",
                "tests/requirements.txt",
            ]),
        )
    })
}

/// Builds the extension and installs the package in place.
pub fn build() -> Result<()> {
    install()?;
    let step = Step {
        name: "python",
        inputs: &[
            "Cargo.toml",
            "Cargo.lock",
            "rust-toolchain.toml",
            "core/Cargo.toml",
            "core/src",
            "bindings-python/Cargo.toml",
            "bindings-python/pyproject.toml",
            "bindings-python/src",
            ".venv/pyvenv.cfg",
            "xtask/src/build/python.rs",
        ],
        facts: &[],
        outputs: &["bindings-python/python/stormproof/_core.abi3.so", INSTALLED],
    };
    // The wheel's own profile: what is tested and measured is what ships, and one build serves both.
    step.run(|| {
        process::run(maturin("develop").arg("--release"))?;
        fs::write(workspace::path(INSTALLED), "")?;
        Ok(())
    })
}

/// maturin, at work on the package and the environment.
pub fn maturin(verb: &str) -> Command {
    let mut command = Command::new(workspace::venv_program("maturin"));
    command
        .current_dir(workspace::path("bindings-python"))
        .env("VIRTUAL_ENV", workspace::path(".venv"))
        .arg(verb);
    command
}
