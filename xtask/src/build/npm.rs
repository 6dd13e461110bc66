//! The npm package: one bundle for `import`, one for `require`, and the types of both.

use std::process::Command;

use anyhow::Result;

use super::wasm;
use crate::stamp::Step;
use crate::{doctor, process, workspace};

/// Installs the tools that the lock file names.
pub fn install() -> Result<()> {
    let node = doctor::node()?;
    let step = Step {
        name: "npm-ci",
        inputs: &["npm/package.json", "npm/package-lock.json"],
        facts: &[&node],
        outputs: &["npm/node_modules/.package-lock.json"],
    };
    step.run(|| {
        process::run(Command::new("npm").current_dir(workspace::path("npm")).args([
            "ci",
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
        ]))
    })
}

/// Builds `npm/dist`.
pub fn build() -> Result<()> {
    wasm::build()?;
    doctor::source("npm/src/index.ts")?;
    let step = Step {
        name: "npm",
        inputs: &[
            "npm/src",
            "npm/scripts",
            "npm/package.json",
            "npm/package-lock.json",
            "npm/tsconfig.json",
            "npm/tsconfig.build.json",
            "xtask/src/build/npm.rs",
        ],
        facts: &[],
        outputs: &[
            "npm/dist/index.js",
            "npm/dist/index.cjs",
            "npm/dist/index.d.ts",
            "npm/dist/index.d.cts",
        ],
    };
    step.run(|| {
        let folder = workspace::path("npm");
        process::run(Command::new("node").current_dir(&folder).arg("scripts/bundle.mjs"))?;
        process::run(
            Command::new(workspace::npm_program("tsc"))
                .current_dir(&folder)
                .args(["--project", "tsconfig.build.json"]),
        )?;
        process::run(Command::new("node").current_dir(&folder).arg("scripts/declarations.mjs"))
    })
}
