//! `cargo xtask doctor`: what this machine lacks and how to get it. The other verbs make the same checks before they need a thing.

use std::fmt;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{process, workspace};

/// A thing that a step needs and that is not there.
#[derive(Debug)]
pub struct Missing {
    what: String,
    remedy: String,
}

impl Missing {
    /// `what` is missing; `remedy` says how to get it.
    pub fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is missing: {}", self.what, self.remedy)
    }
}

impl std::error::Error for Missing {}

/// Prints one line for each thing that the commands need.
pub fn run(_: &[String]) -> Result<()> {
    let checks = [
        node(),
        python().map(|python| format!("{} {}", python.program, python.version)),
        target("wasm32-unknown-unknown"),
        target("thumbv7em-none-eabi"),
        program("chromium").map(|path| path.display().to_string()),
        program("qemu-system-arm").map(|path| path.display().to_string()),
    ];
    let mut lacking = 0;
    for check in checks {
        match check {
            Ok(found) => println!("ok       {found}"),
            Err(error) => {
                lacking += 1;
                println!("MISSING  {error:#}");
            }
        }
    }
    if lacking > 0 {
        bail!("{lacking} of the things above must be installed first");
    }
    Ok(())
}

/// Node and npm; answers with Node's version.
pub fn node() -> Result<String> {
    let remedy = "install Node 20 or newer from https://nodejs.org (or your system's package `nodejs` and `npm`)";
    let Ok(version) = process::read(Command::new("node").arg("--version")) else {
        bail!(Missing::new("node", remedy));
    };
    let major =
        version.trim_start_matches('v').split('.').next().and_then(|n| n.parse::<u32>().ok());
    if major.is_none_or(|major| major < 20) {
        bail!(Missing::new(format!("node 20 (here is {version})"), remedy));
    }
    if process::read(Command::new("npm").arg("--version")).is_err() {
        bail!(Missing::new("npm", remedy));
    }
    Ok(format!("node {version}"))
}

/// A Python interpreter that can make virtual environments.
pub struct Python {
    /// Name to call it by.
    pub program: &'static str,
    /// Its version in full.
    pub version: String,
}

/// Python 3.10 or newer.
pub fn python() -> Result<Python> {
    let remedy = "install Python 3.10 or newer with its venv module from https://www.python.org (Debian, Ubuntu: apt-get install python3 python3-venv)";
    let probe =
        "import sys, venv, ensurepip; assert sys.version_info >= (3, 10); print(sys.version)";
    for program in ["python3", "python3.13", "python3.12", "python3.11", "python3.10", "python"] {
        if let Ok(version) = process::read(Command::new(program).args(["-c", probe])) {
            let version = version.split_whitespace().next().unwrap_or_default().to_owned();
            return Ok(Python { program, version });
        }
    }
    bail!(Missing::new("python3 >= 3.10 with venv", remedy))
}

/// The Rust target, which is installed when rustup can do it.
pub fn target(name: &str) -> Result<String> {
    let sysroot = process::read(
        Command::new("rustc").current_dir(workspace::root()).args(["--print", "sysroot"]),
    )?;
    let library = std::path::Path::new(&sysroot).join("lib/rustlib").join(name).join("lib");
    if !library.is_dir() {
        let mut rustup = Command::new("rustup");
        rustup.current_dir(workspace::root()).args(["target", "add", name]);
        if process::run(&mut rustup).is_err() || !library.is_dir() {
            bail!(Missing::new(format!("Rust target {name}"), format!("rustup target add {name}")));
        }
    }
    Ok(format!("target {name}"))
}

/// What the tests need of the system: Debian's packages, named like their programs.
const PACKAGES: &str = "tests/system-packages.txt";

/// A program of a package of the system, which is installed where that is allowed.
pub fn program(name: &str) -> Result<PathBuf> {
    let packages = std::fs::read_to_string(workspace::path(PACKAGES)).context(PACKAGES)?;
    if !packages.lines().any(|line| line == name) {
        bail!("{PACKAGES} does not name {name}");
    }
    if let Some(path) = found(name) {
        return Ok(path);
    }
    if rustix::process::geteuid().is_root() && found("apt-get").is_some() {
        let install = ["install", "--yes", "--no-install-recommends", name];
        for arguments in [&["update"][..], &install] {
            let mut apt = Command::new("apt-get");
            // A failure shows in what is not there afterwards.
            let _ = process::run(apt.env("DEBIAN_FRONTEND", "noninteractive").args(arguments));
        }
    }
    found(name).ok_or_else(|| {
        let remedy = format!("apt-get install {name} (or your system's package of it)");
        Missing::new(name, remedy).into()
    })
}

fn found(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// A subcommand of cargo that does not come with it.
pub fn cargo_command(toolchain: &str, name: &str, remedy: &str) -> Result<()> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(workspace::root()).env("RUSTUP_TOOLCHAIN", toolchain);
    if process::read(cargo.args([name, "--version"])).is_err() {
        bail!(Missing::new(format!("cargo +{toolchain} {name}"), remedy));
    }
    Ok(())
}

/// A source that another part of the repository brings.
pub fn source(path: &str) -> Result<()> {
    if !workspace::path(path).exists() {
        bail!(Missing::new(path, "it belongs to the repository"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_tests_need_is_listed() {
        assert!(program("sh").unwrap_err().to_string().ends_with("does not name sh"));
        assert!(found("sh").is_some());
        assert_eq!(found("no program has this name"), None);
    }
}
