//! Does a test fail for every small change of the core?
//!
//! cargo-mutants changes one expression at a time. The vectors catch most changes and are quickest
//! to build, so they go first; what they miss is tried again with all tests but those of the jitter's
//! statistics, which take longer than all others together. Changes that make no difference are named
//! in `.cargo/mutants.toml`, each with its reason.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use super::Size;
use crate::{doctor, process, workspace};

const MISSED: &str = "missed.txt";
/// Files of results, as cargo-mutants calls them; they grow from round to round, but for the last.
const RESULTS: [&str; 4] = ["caught.txt", "timeout.txt", "unviable.txt", MISSED];

const TESTS: [&str; 9] = [
    "documents",
    "drive",
    "hand_over",
    "hostile",
    "laws",
    "machines",
    "policy_doc",
    "sentences",
    "vectors",
];

const REMEDY: &str = "cargo install --locked cargo-mutants";

/// Tries every mutant. `STORMPROOF_MUTANTS` names a folder of earlier results to go on from.
pub fn run(_: Size) -> Result<String> {
    doctor::cargo_command("stable", "mutants", REMEDY)?;
    let earlier = std::env::var_os("STORMPROOF_MUTANTS");
    let folder = match &earlier {
        Some(folder) => folder.into(),
        None => workspace::target().join("mutants"),
    };
    if earlier.is_none() && folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    round(&folder, &["--test=vectors".into()])?;
    let mut all: Vec<String> = TESTS.iter().map(|test| format!("--test={test}")).collect();
    all.push("--lib".into());
    round(&folder, &all)?;
    tell(&folder)
}

/// Tries with these tests the mutants that no round before has caught.
fn round(folder: &Path, tests: &[String]) -> Result<()> {
    let mut cargo = mutants();
    cargo.args(["--iterate", "--jobs=2", "--colors=never", "--output"]).arg(folder);
    for test in tests {
        // For the build as well, which would make every test there is.
        cargo.arg(format!("--cargo-arg={test}"));
    }
    // It fails where a mutant is missed; what it wrote tells.
    let ended = process::run(&mut cargo);
    for name in RESULTS {
        let new = fs::read_to_string(folder.join("mutants.out").join(name));
        let Ok(new) = new else { return ended };
        let kept = folder.join(name);
        let before = fs::read_to_string(&kept).unwrap_or_default();
        fs::write(kept, if name == MISSED { new } else { before + &new })?;
    }
    Ok(())
}

/// What became of the mutants that there are now.
fn tell(folder: &Path) -> Result<String> {
    let list = process::read(mutants().arg("--list"))?;
    let all = process::read(mutants().args(["--list", "--no-config"]))?;
    let there_are: BTreeSet<&str> = list.lines().collect();
    let mut counts = Vec::new();
    let mut missed = Vec::new();
    for name in RESULTS {
        let text = fs::read_to_string(folder.join(name)).unwrap_or_default();
        let lines: BTreeSet<&str> = text.lines().collect();
        let lines: Vec<&&str> = lines.intersection(&there_are).collect();
        counts.push(lines.len());
        if name == MISSED {
            missed = lines.iter().map(|line| line.to_string()).collect();
        }
    }
    let [caught, timeouts, unviable, _] = counts[..] else { unreachable!("four results") };
    let found = there_are.len();
    let explained = all.lines().count() - found;
    let figures = format!(
        "proof mutants: {found} found, {caught} caught, {timeouts} timeouts, {unviable} unviable, {} missed; {explained} left out with a reason",
        missed.len()
    );
    println!("{figures}");
    if !missed.is_empty() {
        bail!("no test fails for these:\n{}", missed.join("\n"));
    }
    if caught + timeouts + unviable < found {
        bail!("{} were not tried", found - caught - timeouts - unviable);
    }
    Ok(figures)
}

fn mutants() -> Command {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(workspace::root()).args(["mutants", "--package=stormproof"]);
    // Each job builds in its own copy.
    cargo.env_remove("CARGO_TARGET_DIR");
    cargo
}
