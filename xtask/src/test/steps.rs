//! The steps in their order. Each makes what it needs, so that it can be run alone.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use super::packages;
use crate::proof::{self, Size};
use crate::{build, doctor, process, workspace};

/// One line of the report.
pub struct Step {
    /// What `cargo xtask test NAME` calls it.
    pub name: &'static str,
    /// What it shows.
    pub about: &'static str,
    /// Whether `--quick` has it.
    pub quick: bool,
    /// The host of whose vectors it prints a line.
    pub vectors: Option<&'static str>,
    /// Answers with what was printed, as far as the vectors are in it.
    pub run: fn() -> Result<String>,
}

const fn quick(name: &'static str, about: &'static str, run: fn() -> Result<String>) -> Step {
    Step { name, about, quick: true, vectors: None, run }
}

const fn full(name: &'static str, about: &'static str, run: fn() -> Result<String>) -> Step {
    Step { name, about, quick: false, vectors: None, run }
}

impl Step {
    const fn with_vectors_of(self, host: &'static str) -> Self {
        Self { vectors: Some(host), ..self }
    }
}

/// All steps but the comparison of the vectors, which comes last.
pub const STEPS: &[Step] = &[
    quick("fmt", "the Rust code is formatted", fmt),
    full("clippy", "the Rust code has no warnings", clippy),
    full("no-std", "the core builds without std", no_std),
    quick("rust", "tests of the Rust crates", rust).with_vectors_of("rust"),
    full("walk", "every reachable state of small worlds keeps the laws", walk),
    quick("xtask", "tests of these commands", xtask),
    full("doc", "the core's documentation has no warnings", doc),
    quick("wasm", "core.wasm has no imports", wasm),
    full("wasm-test", "vectors and integer interface as WebAssembly", wasm_test)
        .with_vectors_of("wasm"),
    quick("npm", "the npm package builds and its types hold", npm),
    quick("node", "tests of the npm package", node).with_vectors_of("node"),
    quick("python", "the Python package builds and its types hold", python),
    quick("pytest", "tests of the Python package", pytest).with_vectors_of("python"),
    full("trace", proof::trace::ABOUT, trace),
    full("npm-package", "the packed npm package runs in an empty project", packages::npm),
    full("wheel", "the wheel runs in an empty environment, the sdist builds", packages::python),
    full("demo", "the demo shows the storm and loses no call, also when the server dies", demo),
    full("chaos", proof::chaos::ABOUT, chaos),
];

const WASM: &str = "wasm32-unknown-unknown";
const BOARD: &str = "thumbv7em-none-eabi";
const WASM_TESTS: &str = "--package=stormproof-wasm-tests";

fn fmt() -> Result<String> {
    silent(process::run(cargo().args(["fmt", "--all", "--check"])))
}

fn clippy() -> Result<String> {
    let deny = ["--", "--deny", "warnings"];
    process::run(cargo().args(["clippy", "--workspace", "--all-targets"]).args(deny))?;
    doctor::target(WASM)?;
    let tests = ["clippy", WASM_TESTS, "--tests", "--target", WASM];
    process::run(cargo().args(tests).args(deny))?;
    doctor::target(BOARD)?;
    let firmware = ["clippy", "--package=stormproof-trace-firmware", "--target", BOARD];
    silent(process::run(cargo().args(firmware).args(deny)))
}

fn no_std() -> Result<String> {
    for target in [BOARD, WASM] {
        doctor::target(target)?;
        process::run(cargo().args([
            "build",
            "--package",
            "stormproof",
            "--no-default-features",
            "--target",
            target,
        ]))?;
    }
    Ok(String::new())
}

fn rust() -> Result<String> {
    // An extension module is linked by the interpreter that loads it: pytest tests that crate.
    let arguments = [
        "test",
        "--workspace",
        "--exclude=stormproof-python",
        "--exclude=xtask",
        "--",
        "--show-output",
    ];
    process::tee(cargo().args(arguments))
}

fn walk() -> Result<String> {
    proof::walk::run(Size::Ci)
}

// Apart from the others, so that its dependencies keep the features they were just built with.
fn xtask() -> Result<String> {
    silent(process::run(cargo().args(["test", "--package", "xtask"])))
}

fn doc() -> Result<String> {
    silent(process::run(cargo().env("RUSTDOCFLAGS", "-D warnings").args([
        "doc",
        "--no-deps",
        "--package",
        "stormproof",
    ])))
}

fn wasm() -> Result<String> {
    build::wasm::build()?;
    silent(build::wasm::check_imports())
}

fn wasm_test() -> Result<String> {
    // One test loads the module that is shipped.
    build::wasm::build()?;
    // What debuggers need makes the modules five times as large and the runner slow.
    let lean = "--config=profile.dev.debug=false";
    let runner = ["build", lean, WASM_TESTS, "--features=runner", "--bin=wasm-test-runner"];
    process::run(cargo().args(runner))?;
    let runner = workspace::target().join("debug/wasm-test-runner");
    // As a list, or cargo would split the path at its spaces.
    let runner = serde_json::json!([runner]);
    process::tee(cargo().args([
        "test",
        lean,
        WASM_TESTS,
        "--target",
        WASM,
        &format!("--config=target.{WASM}.runner={runner}"),
        "--",
        "--nocapture",
    ]))
}

fn npm() -> Result<String> {
    build::npm::build()?;
    let mut tsc = Command::new(workspace::npm_program("tsc"));
    silent(process::run(tsc.current_dir(workspace::path("npm")).arg("--noEmit")))
}

fn node() -> Result<String> {
    build::npm::build()?;
    doctor::source("npm/test")?;
    let folder = workspace::path("npm");
    let mut tests = Vec::new();
    find(&folder.join("test"), ".test.ts", &mut tests)?;
    if tests.is_empty() {
        bail!("npm/test has no file that ends in .test.ts");
    }
    let mut node = Command::new("node");
    node.current_dir(&folder)
        .args(["--import", "tsx", "--test", "--test-reporter=spec"])
        .args(tests.iter().filter_map(|test| test.strip_prefix(&folder).ok()));
    process::tee(&mut node)
}

fn python() -> Result<String> {
    build::python::build()?;
    let mut mypy = Command::new(workspace::venv_program("mypy"));
    mypy.current_dir(workspace::root()).args([
        "--config-file=bindings-python/pyproject.toml",
        "--strict",
        "--cache-dir=target/mypy",
        "bindings-python/python/stormproof",
    ]);
    silent(process::run(&mut mypy))
}

fn pytest() -> Result<String> {
    build::python::build()?;
    let folders: Vec<&str> = ["tests/python", "bindings-python/tests"]
        .into_iter()
        .filter(|folder| workspace::path(folder).exists())
        .collect();
    if folders.is_empty() {
        doctor::source("tests/python")?;
    }
    let mut pytest = Command::new(workspace::venv_program("pytest"));
    pytest
        .current_dir(workspace::root())
        .env("PYTHONUNBUFFERED", "1")
        .args(["--config-file=bindings-python/pyproject.toml", "--rootdir=.", "--capture=no"])
        .args(folders);
    process::tee(&mut pytest)
}

fn trace() -> Result<String> {
    proof::trace::run(Size::Ci)
}

fn demo() -> Result<String> {
    silent(crate::demo::run(&["--quick".into(), "--check".into()]))
}

fn chaos() -> Result<String> {
    proof::chaos::run(Size::Ci)
}

fn cargo() -> Command {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(workspace::root());
    cargo
}

fn silent(result: Result<()>) -> Result<String> {
    result.map(|()| String::new())
}

fn find(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) -> Result<()> {
    let mut entries = std::fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()?;
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            find(&entry, ending, found)?;
        } else if entry.to_string_lossy().ends_with(ending) {
            found.push(entry);
        }
    }
    Ok(())
}
