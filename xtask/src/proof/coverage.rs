//! How much of the core its own tests run.

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value as Json;

use super::Size;
use crate::{doctor, process, workspace};

/// Percent of the lines, and of the branches, that the tests have to run.
const LEAST: f64 = 98.0;

const REMEDY: &str =
    "rustup component add --toolchain nightly llvm-tools; cargo install --locked cargo-llvm-cov";

/// Counts lines and branches of `core/src` under the tests of `core`.
pub fn run(_: Size) -> Result<String> {
    doctor::cargo_command("nightly", "llvm-cov", REMEDY)?;
    let file = workspace::target().join("coverage.json");
    let mut cargo = Command::new("cargo");
    cargo.current_dir(workspace::root()).env("RUSTUP_TOOLCHAIN", "nightly");
    cargo.args(["llvm-cov", "--package=stormproof", "--branch", "--json"]);
    // The statistics of the jitter run the same code over and over.
    cargo.env("STORMPROOF_JITTER_SAMPLES", "8192");
    process::run(cargo.arg("--output-path").arg(&file))?;
    let report: Json = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let data = &report["data"][0];
    let lines = data["totals"]["lines"]["percent"].as_f64().context("no percentage of lines")?;
    let ways = ways(data);
    let taken = ways.values().filter(|times| **times > 0).count();
    let branches = 100.0 * taken as f64 / ways.len() as f64;
    let figures = format!("proof coverage: {lines:.2} % of lines, {branches:.2} % of branches");
    println!("{figures}");
    if lines < LEAST || branches < LEAST {
        bail!("at least {LEAST} % of each are asked for:\n{}", left(data));
    }
    Ok(figures)
}

/// How often each way of each branch in the sources was taken. What is inlined or generic is counted
/// once for each copy in the report.
fn ways(data: &Json) -> BTreeMap<String, u64> {
    let mut ways = BTreeMap::new();
    for file in data["files"].as_array().into_iter().flatten() {
        let (name, branches) = (&file["filename"], file["branches"].as_array());
        for branch in branches.into_iter().flatten().filter_map(Json::as_array) {
            for way in [4, 5] {
                let place = format!("{name}:{}:{} way {way}", branch[0], branch[1]);
                *ways.entry(place).or_default() += branch[way].as_u64().unwrap_or(0);
            }
        }
    }
    ways
}

/// The ways that no test takes, and how many lines of each file none runs.
fn left(data: &Json) -> String {
    let mut text = String::new();
    for (place, _) in ways(data).iter().filter(|(_, times)| **times == 0) {
        text += &format!("{place}\n");
    }
    for file in data["files"].as_array().into_iter().flatten() {
        let count = |name: &str| file["summary"]["lines"][name].as_u64().unwrap_or(0);
        let lines = count("count") - count("covered");
        if lines > 0 {
            text += &format!("{}: {lines} lines\n", file["filename"]);
        }
    }
    text
}
