//! `core.wasm` as plain JavaScript, for engines without WebAssembly.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::targets::folder;
use crate::{build, process, workspace};

const SATURATING: &str = "tests/trace/replay/saturating.wat";

/// Converts the module that is shipped; answers with the file.
pub fn module() -> Result<PathBuf> {
    let (text, lowered, script) =
        (folder().join("core.wat"), folder().join("lowered.wat"), folder().join("core.mjs"));
    let mut disassemble = Command::new(workspace::npm_program("wasm-dis"));
    disassemble.arg(workspace::path(build::wasm::MODULE)).arg("-o").arg(&text);
    process::read(&mut disassemble)?;
    let conversions = fs::read_to_string(workspace::path(SATURATING))?;
    fs::write(&lowered, with_traps(&fs::read_to_string(&text)?, &conversions)?)?;

    let features = build::wasm::FEATURES.iter();
    let features = features.filter(|name| **name != "--enable-nontrapping-float-to-int");
    let mut convert = Command::new(workspace::npm_program("wasm2js"));
    process::read(convert.args(features).arg(&lowered).arg("-o").arg(&script))?;
    Ok(script)
}

/// The module without conversions that saturate. Binaryen's own pass for it,
/// `--llvm-nontrapping-fptoint-lowering`, is made for C, where a double out of range has no integer:
/// Rust's `1e300 as u64` became 0.
fn with_traps(module: &str, conversions: &str) -> Result<String> {
    let mut text = module.trim_end().strip_suffix(')').context("a module ends in )")?.to_owned();
    for integer in ["i32", "i64"] {
        let call = format!("(call $saturating.{integer}.");
        text = text.replace(&format!("({integer}.trunc_sat_"), &call);
    }
    for called in text.split("(call $saturating.").skip(1) {
        let name: String = called.chars().take_while(|c| !c.is_whitespace()).collect();
        if !conversions.contains(&format!("(func $saturating.{name} ")) {
            bail!("{SATURATING} has no conversion {name}");
        }
    }
    Ok(text + conversions + ")\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_become_calls_of_what_is_there() {
        let conversions = "(func $saturating.i64.f64_u (param $x f64))\n";
        let module = "(module (i64.trunc_sat_f64_u\n (local.get 0)))\n";
        let expected =
            format!("(module (call $saturating.i64.f64_u\n (local.get 0)){conversions})\n");
        assert_eq!(with_traps(module, conversions).unwrap(), expected);
        let error = with_traps("(module (i32.trunc_sat_f32_s (f32.const 1)))", conversions);
        assert!(error.unwrap_err().to_string().ends_with("has no conversion i32.f32_s"));
    }
}
