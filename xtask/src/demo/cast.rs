//! The hosts that this machine can run.

use std::process::Command;

use anyhow::{Result, bail};

use crate::doctor::Missing;
use crate::{build, process, workspace};

/// Every host, in the order of the table.
const NAMES: [&str; 3] = ["rust", "node", "python"];

/// The hosts that are built, and what the others lack.
pub struct Cast {
    names: Vec<&'static str>,
    missing: Vec<String>,
}

impl Cast {
    /// Builds the server and the hosts. A host whose tools are missing is left out.
    pub fn build() -> Result<Self> {
        let mut cargo = Command::new("cargo");
        cargo.current_dir(workspace::root());
        process::run(cargo.args(["build", "--package=fault-server", "--package=demo-host"]))?;
        let mut cast = Self { names: Vec::new(), missing: Vec::new() };
        for name in NAMES {
            let built = match name {
                "node" => build::npm::build(),
                "python" => build::python::build(),
                _ => Ok(()),
            };
            match built {
                Ok(()) => cast.names.push(name),
                Err(error) if error.is::<Missing>() => {
                    cast.missing.push(format!("no {name} host: {error:#}"));
                }
                Err(error) => return Err(error),
            }
        }
        cast.say_what_is_missing();
        Ok(cast)
    }

    /// The hosts that can run.
    pub fn names(&self) -> &[&'static str] {
        &self.names
    }

    /// Says again what was missing. Where CI runs, nothing may be.
    pub fn close(&self) -> Result<()> {
        self.say_what_is_missing();
        let strict = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
        if strict && !self.missing.is_empty() {
            bail!("{} of {} hosts are missing", self.missing.len(), NAMES.len());
        }
        Ok(())
    }

    fn say_what_is_missing(&self) {
        for line in &self.missing {
            println!("{line}");
        }
    }
}

/// The program of a host, without arguments.
pub fn command(name: &str) -> Command {
    let mut command = match name {
        "node" => script("node", "examples/demo/node/host.mjs"),
        "python" => script(workspace::venv_program("python"), "examples/demo/python/host.py"),
        _ => Command::new(workspace::target().join("debug/demo-host")),
    };
    command.current_dir(workspace::root());
    command
}

fn script(program: impl AsRef<std::ffi::OsStr>, path: &str) -> Command {
    let mut command = Command::new(program);
    command.arg(workspace::path(path));
    command
}

/// The version of what runs a host.
pub fn version(name: &str) -> String {
    let mut command = match name {
        "node" => Command::new("node"),
        "python" => Command::new(workspace::venv_program("python")),
        _ => Command::new("rustc"),
    };
    command.current_dir(workspace::root()).arg("--version");
    let version = process::read(&mut command).unwrap_or_default();
    let number = version.split(' ').find(|word| word.contains('.')).unwrap_or(&version);
    number.trim_start_matches('v').to_owned()
}
