//! Inputs that nobody thought of: those that were saved, or more of them.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::Size;
use crate::doctor::{self, Missing};
use crate::{build, process, workspace};

/// A program of `tests/fuzz/targets`.
struct Target {
    name: &'static str,
    /// Bytes. Longer inputs only repeat themselves, and take longer.
    longest: u32,
}

const TARGETS: &[Target] = &[
    Target { name: "retry_after", longest: 512 },
    Target { name: "policy_document", longest: 1_024 },
    Target { name: "course", longest: 1_024 },
    Target { name: "wasm_boundary", longest: 1_024 },
    Target { name: "python_boundary", longest: 400 },
];

/// How long a full run looks for more inputs of each target; `STORMPROOF_FUZZ_SECONDS` says otherwise.
const SECONDS: u32 = 300;
const PROGRAMS: &str = "tests/fuzz/targets";

/// Runs the saved inputs, and in full looks for more of them.
pub fn run(size: Size) -> Result<String> {
    let saved = saved()?;
    if size == Size::Ci {
        return line(&format!("{} targets, {saved} saved inputs hold", TARGETS.len()));
    }
    toolchain()?;
    let seconds = match std::env::var("STORMPROOF_FUZZ_SECONDS") {
        Ok(text) => text.parse().context("STORMPROOF_FUZZ_SECONDS")?,
        Err(_) => SECONDS,
    };
    let found = TARGETS.iter().map(|target| target.search(seconds)).collect::<Result<Vec<_>>>()?;
    line(&format!("{saved} saved inputs hold; no defect in {}", found.join(", ")))
}

fn line(figures: &str) -> Result<String> {
    let line = format!("proof fuzz: {figures}");
    println!("{line}");
    Ok(line)
}

/// Runs the saved inputs of all targets without a fuzzer; answers how many there are.
fn saved() -> Result<usize> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(workspace::root());
    let text = process::tee(cargo.args([
        "test",
        "--package=stormproof-fuzz",
        "--test=corpus",
        "--",
        "--show-output",
    ]))?;
    build::python::build()?;
    let mut pytest = Command::new(workspace::venv_program("pytest"));
    pytest.current_dir(workspace::root()).args([
        "--config-file=bindings-python/pyproject.toml",
        "--rootdir=.",
        "--capture=no",
        "bindings-python/tests/test_boundary.py",
    ]);
    let text = text + &process::tee(&mut pytest)?;
    TARGETS.iter().map(|target| target.saved(&text)).sum()
}

/// libFuzzer comes with cargo-fuzz and is built by a nightly compiler; one program brings an
/// interpreter.
fn toolchain() -> Result<()> {
    let has = |program: &str, arguments: &[&str]| {
        process::read(Command::new(program).current_dir(workspace::root()).args(arguments)).is_ok()
    };
    if !has("cargo", &["+nightly", "--version"]) {
        bail!(Missing::new("a nightly Rust", "rustup toolchain install nightly --profile minimal"));
    }
    if !has("cargo", &["fuzz", "--version"]) {
        bail!(Missing::new("cargo-fuzz", "cargo install cargo-fuzz"));
    }
    let shared = "import sysconfig; assert sysconfig.get_config_var('Py_ENABLE_SHARED')";
    if !has(doctor::python()?.program, &["-c", shared]) {
        bail!(Missing::new(
            "libpython as a shared library",
            "install python3-dev, or build Python with --enable-shared"
        ));
    }
    Ok(())
}

impl Target {
    /// How many inputs were run, as the tests have printed it.
    fn saved(&self, text: &str) -> Result<usize> {
        let mark = format!("fuzz {}: ", self.name);
        let count = text.lines().find_map(|line| line.split_once(&mark)?.1.split(' ').next());
        let count = count.with_context(|| format!("nothing ran the inputs of {}", self.name))?;
        Ok(count.parse()?)
    }

    /// Looks for inputs that go where no other went; one that fails ends the search.
    fn search(&self, seconds: u32) -> Result<String> {
        let folder = workspace::target().join("fuzz").join(self.name);
        let corpus = folder.join("corpus");
        fs::create_dir_all(&corpus)?;
        let log = folder.join("log");
        let saved = workspace::path("tests/fuzz/corpus").join(self.name);
        let mut fuzz = Command::new("cargo");
        fuzz.current_dir(workspace::root())
            .args(["+nightly", "fuzz", "run", "--fuzz-dir", PROGRAMS, self.name])
            .args([&corpus, &saved])
            .arg("--")
            .arg(format!("-max_total_time={seconds}"))
            .arg(format!("-max_len={}", self.longest))
            .arg(format!("-artifact_prefix={}/", folder.display()))
            .stderr(File::create(&log)?);
        let start = Instant::now();
        process::run(&mut fuzz).with_context(|| told(&log))?;
        let text = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
        let figures = figures(&text).with_context(|| log.display().to_string())?;
        println!("fuzz {}: {figures} in {} s", self.name, start.elapsed().as_secs());
        Ok(format!("{} {figures} ({seconds} s)", self.name))
    }
}

/// What went wrong: what the panic said, and where everything stands.
fn told(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let from =
        text.lines().skip_while(|line| !line.contains("panicked") && !line.contains("error"));
    let head: Vec<_> = from.take(8).collect();
    format!("{}\nsee {}", head.join("\n"), log.display())
}

/// Executions, edges, features and inputs, of libFuzzer's last line:
/// `#77205 DONE cov: 2069 ft: 4964 corp: 723/40Kb …`.
fn figures(log: &str) -> Result<String> {
    let done = log.lines().rev().find(|line| line.contains("\tDONE ")).context("no line DONE")?;
    let after = |mark: &str| {
        let mut words = done.split_whitespace();
        words.find(|word| *word == mark);
        words.next().and_then(|word| word.split('/').next())
    };
    let runs = done.trim_start_matches('#').split_whitespace().next();
    match (runs, after("cov:"), after("ft:"), after("corp:")) {
        (Some(runs), Some(edges), Some(features), Some(inputs)) => {
            Ok(format!("{runs} runs, {edges} edges, {features} features, {inputs} inputs"))
        }
        _ => bail!("`{done}` has no figures"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_the_last_line() {
        let log = "#2\tINITED cov: 1 ft: 2 corp: 1/1b\n#77205\tDONE   cov: 2069 ft: 4964 corp: 723/40Kb lim: 86\nDone 77205 runs";
        let expected = "77205 runs, 2069 edges, 4964 features, 723 inputs";
        assert_eq!(super::figures(log).unwrap(), expected);
        assert!(super::figures("#1\tpulse cov: 3").is_err());
    }

    #[test]
    fn every_program_is_run_and_has_saved_inputs() {
        let manifest = fs::read_to_string(workspace::path(PROGRAMS).join("Cargo.toml")).unwrap();
        let programs = manifest.matches("[[bin]]").count();
        assert_eq!(programs, TARGETS.len());
        for target in TARGETS {
            assert!(manifest.contains(&format!("name = \"{}\"", target.name)), "{}", target.name);
            let saved = workspace::path("tests/fuzz/corpus").join(target.name);
            assert!(fs::read_dir(saved).unwrap().next().is_some(), "{}", target.name);
        }
    }
}
