//! A copy of the checkout that may be spoilt.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::checks::Check;
use super::faults::Fault;
use crate::{process, workspace};

pub struct Copy {
    root: PathBuf,
}

impl Copy {
    /// What git knows of or would take.
    pub fn new() -> Result<Self> {
        let root = workspace::target().join("trials/checkout");
        let _ = fs::remove_dir_all(&root);
        let files = process::read(Command::new("git").current_dir(workspace::root()).args([
            "ls-files",
            "--cached",
            "--others",
            "--exclude-standard",
        ]))?;
        for file in files.lines().filter(|file| workspace::path(file).is_file()) {
            let to = root.join(file);
            fs::create_dir_all(to.parent().context("a file has a folder")?)?;
            fs::copy(workspace::path(file), to).with_context(|| file.to_owned())?;
        }
        Ok(Self { root })
    }

    /// The answer of `look` while the fault is in.
    pub fn with<T>(&self, fault: &Fault, look: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        let file = self.root.join(fault.file);
        let text = fs::read_to_string(&file)?;
        let spoilt = text.replacen(fault.right, fault.wrong, 1);
        if spoilt == text {
            bail!("the place of `{}` is not found in {}", fault.name, fault.file);
        }
        fs::write(&file, spoilt)?;
        // What does not build would be found by everything.
        process::run(self.cargo().args(["build", "--package=stormproof"]))?;
        let answer = look(self);
        fs::write(&file, text)?;
        answer
    }

    /// Does the check find nothing? What it prints is not shown.
    pub fn passes(&self, check: &Check) -> Result<bool> {
        let mut cargo = self.cargo();
        cargo.args(check.arguments).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(process::run(&mut cargo).is_ok())
    }

    fn cargo(&self) -> Command {
        let mut cargo = Command::new("cargo");
        cargo
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", workspace::target().join("trials/target"));
        cargo
    }
}
