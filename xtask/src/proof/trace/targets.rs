//! How each target runs the trace. The first writes the inputs that the replaying ones read.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::wasm2js;
use crate::stamp::Step;
use crate::{build, doctor, process, workspace};

/// All targets; each answers with what it printed.
pub const TARGETS: &[fn() -> Result<String>] =
    &[native, wasm_in_node, wasm_in_chromium, javascript, python, cortex_m4];

const BOARD: &str = "thumbv7em-none-eabi";

/// Where the inputs are.
pub fn folder() -> PathBuf {
    workspace::target().join("trace")
}

fn native() -> Result<String> {
    let mut cargo = cargo();
    cargo.args(["run", "--quiet", "--release", "--package", "stormproof-trace", "--"]);
    process::capture(cargo.arg(folder()))
}

fn wasm_in_node() -> Result<String> {
    build::wasm::build()?;
    process::capture(&mut node(
        "replay/node.mjs",
        "wasm (Node)",
        workspace::path(build::wasm::MODULE),
    ))
}

fn javascript() -> Result<String> {
    build::wasm::build()?;
    process::capture(&mut node("replay/node.mjs", "wasm2js", wasm2js::module()?))
}

fn wasm_in_chromium() -> Result<String> {
    let chromium = doctor::program("chromium")?;
    build::wasm::build()?;
    install_driver()?;
    let module = workspace::path(build::wasm::MODULE);
    process::capture(&mut node("browser/chromium.mjs", &chromium.to_string_lossy(), module))
}

fn python() -> Result<String> {
    build::python::build()?;
    let mut python = Command::new(workspace::venv_program("python"));
    python.current_dir(workspace::root()).arg("tests/trace/replay/replay.py").arg(folder());
    process::capture(&mut python)
}

fn cortex_m4() -> Result<String> {
    let emulator = doctor::program("qemu-system-arm")?;
    doctor::target(BOARD)?;
    let package = ["build", "--quiet", "--release", "--package", "stormproof-trace-firmware"];
    process::run(cargo().args(package).args(["--target", BOARD]))?;
    let firmware = workspace::target().join(BOARD).join("release/trace-firmware");
    // AN386 is Arm's board with a Cortex-M4. Semihosting is how the program prints and ends.
    let mut qemu = Command::new(emulator);
    qemu.current_dir(workspace::root())
        .args(["-machine", "mps2-an386", "-nographic", "-monitor", "none", "-serial", "null"])
        .args(["-semihosting-config", "enable=on,target=native", "-kernel"])
        .arg(firmware);
    let text = process::capture(&mut qemu)?;
    text.lines().filter(|line| line.starts_with("code ")).for_each(|line| println!("{line}"));
    Ok(text)
}

fn node(script: &str, first: &str, module: PathBuf) -> Command {
    let mut node = Command::new("node");
    node.current_dir(workspace::root()).arg(format!("tests/trace/{script}")).arg(first);
    node.arg(module).arg(folder());
    node
}

/// The package that drives the browser.
fn install_driver() -> Result<()> {
    let node = doctor::node()?;
    let step = Step {
        name: "trace-browser",
        inputs: &["tests/trace/browser/package.json", "tests/trace/browser/package-lock.json"],
        facts: &[&node],
        outputs: &["tests/trace/browser/node_modules/.package-lock.json"],
    };
    step.run(|| {
        let mut npm = Command::new("npm");
        npm.current_dir(workspace::path("tests/trace/browser"));
        process::run(npm.args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]))
    })
}

fn cargo() -> Command {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(workspace::root());
    cargo
}
