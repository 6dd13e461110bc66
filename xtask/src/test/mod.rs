//! `cargo xtask test`: every test there is, all languages, as named steps.

mod packages;
mod report;
mod steps;
mod vectors;

use std::time::Instant;

use anyhow::{Result, bail};

use report::{Report, Verdict};
use steps::STEPS;

/// Runs all steps, the quick ones, or those that are named.
pub fn run(arguments: &[String]) -> Result<()> {
    let selection = Selection::parse(arguments)?;
    if selection.list {
        for step in STEPS {
            println!("{:<14} {}", step.name, step.about);
        }
        println!("{:<14} {}", vectors::NAME, vectors::ABOUT);
        return Ok(());
    }
    let mut report = Report::default();
    let mut runs = Vec::new();
    for step in STEPS.iter().filter(|step| selection.has(step)) {
        println!("\n== {}: {}", step.name, step.about);
        let start = Instant::now();
        let result = (step.run)();
        let elapsed = start.elapsed();
        if let Some(host) = step.vectors {
            runs.push(vectors::Run::new(step.name, host, &result));
        }
        report.add(step.name, Verdict::of(result.map(drop)), elapsed);
    }
    if selection.has_vectors() {
        println!("\n== {}: {}", vectors::NAME, vectors::ABOUT);
        for line in runs.iter().flat_map(vectors::Run::lines) {
            println!("{line}");
        }
        let start = Instant::now();
        let result = vectors::compare(&runs).map(|hosts| println!("{hosts}"));
        let verdict = Verdict::of(result);
        report.add(vectors::NAME, verdict, start.elapsed());
    }
    report.close()
}

struct Selection {
    quick: bool,
    list: bool,
    names: Vec<String>,
}

impl Selection {
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut selection = Self { quick: false, list: false, names: Vec::new() };
        for argument in arguments {
            match argument.as_str() {
                "--quick" => selection.quick = true,
                "--list" => selection.list = true,
                name if name == vectors::NAME || STEPS.iter().any(|step| step.name == name) => {
                    selection.names.push(name.to_owned());
                }
                _ => bail!("`{argument}` is no step: see cargo xtask test --list"),
            }
        }
        Ok(selection)
    }

    fn has(&self, step: &steps::Step) -> bool {
        if self.names.is_empty() {
            return step.quick || !self.quick;
        }
        self.names
            .iter()
            .any(|name| name == step.name || (name == vectors::NAME && step.vectors.is_some()))
    }

    /// Are the hosts compared? All must be among the steps, but those that are not quick when only
    /// the quick ones are asked for.
    fn has_vectors(&self) -> bool {
        let is_quick = self.quick && self.names.is_empty();
        STEPS
            .iter()
            .filter(|step| step.vectors.is_some() && (step.quick || !is_quick))
            .all(|step| self.has(step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(arguments: &[&str]) -> Option<Vec<&'static str>> {
        let arguments: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
        let selection = Selection::parse(&arguments).unwrap();
        let chosen = STEPS.iter().filter(|step| selection.has(step));
        selection.has_vectors().then(|| chosen.filter_map(|step| step.vectors).collect())
    }

    #[test]
    fn all_hosts_are_compared_or_none() {
        let all = ["rust", "wasm", "node", "python"];
        assert_eq!(hosts(&[]).unwrap(), all);
        assert_eq!(hosts(&["fmt", "vectors"]).unwrap(), all);
        assert_eq!(hosts(&["--quick"]).unwrap(), ["rust", "node", "python"]);
        assert_eq!(hosts(&["rust", "node", "pytest"]), None);
    }
}
