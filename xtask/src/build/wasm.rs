//! `core.wasm`: the core for every JavaScript runtime, without imports.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::json;
use wasm_bindgen_cli_support::Bindgen;
use wasmparser::{Parser, Payload};

use super::npm;
use crate::stamp::Step;
use crate::{doctor, process, workspace};

const TARGET: &str = "wasm32-unknown-unknown";

/// The module as the npm package carries it.
pub const MODULE: &str = "npm/dist/core.wasm";

/// The same as a TypeScript module, for the bundle.
const BYTES: &str = "npm/src/wasm-bytes.ts";

/// What the module may use.
// `--all-features` makes binaryen write an import section that Node 20 cannot read.
pub const FEATURES: &[&str] = &[
    "--mvp-features",
    "--enable-bulk-memory",
    "--enable-bulk-memory-opt",
    "--enable-sign-ext",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-multivalue",
    "--enable-reference-types",
    "--enable-call-indirect-overlong",
];

/// Builds the module and its TypeScript twin.
pub fn build() -> Result<()> {
    doctor::node()?;
    doctor::target(TARGET)?;
    npm::install()?;
    let step = Step {
        name: "wasm",
        inputs: &[
            "Cargo.toml",
            "Cargo.lock",
            ".cargo/config.toml",
            "rust-toolchain.toml",
            "core/Cargo.toml",
            "core/src",
            "bindings-wasm/Cargo.toml",
            "bindings-wasm/src",
            "npm/package-lock.json",
            "xtask/src/build/wasm.rs",
        ],
        facts: &[],
        outputs: &[MODULE, BYTES],
    };
    step.run(work)
}

/// Fails when the built module needs anything from its host.
pub fn check_imports() -> Result<()> {
    let surface = Surface::of(&fs::read(workspace::path(MODULE))?)?;
    if !surface.imports.is_empty() {
        bail!("{MODULE} imports {}", surface.imports.join(", "));
    }
    println!("{MODULE}: 0 imports, {} exports", surface.exports.len());
    Ok(())
}

fn work() -> Result<()> {
    process::run(Command::new("cargo").current_dir(workspace::root()).args([
        "build",
        "--profile",
        "wasm",
        "--target",
        TARGET,
        "--package",
        "stormproof-wasm",
    ]))?;
    let folder = workspace::target().join("wasm-bindgen");
    bindgen(&folder)?;
    shrink(&folder)?;

    let bytes = fs::read(folder.join("core.wasm"))?;
    let surface = Surface::of(&bytes)?;
    if !surface.imports.is_empty() {
        bail!(
            "the module imports {}: export free functions that take and return numbers only",
            surface.imports.join(", ")
        );
    }
    fs::create_dir_all(workspace::path("npm/dist"))?;
    fs::write(workspace::path(MODULE), &bytes)?;
    fs::create_dir_all(workspace::path("npm/src"))?;
    fs::write(workspace::path(BYTES), typescript(&bytes))?;
    println!("{MODULE}: {} bytes, 0 imports, exports {}", bytes.len(), surface.exports.join(" "));
    Ok(())
}

fn bindgen(folder: &Path) -> Result<()> {
    let module = workspace::target().join(TARGET).join("wasm/stormproof_wasm.wasm");
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(&module)
        .out_name("stormproof")
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true);
    bindgen.bundler(true)?;
    bindgen.generate(folder).with_context(|| format!("wasm-bindgen on {}", module.display()))
}

/// Drops the glue of wasm-bindgen, which numbers do not need, and optimises the rest.
fn shrink(folder: &Path) -> Result<()> {
    let bound = folder.join("stormproof_bg.wasm");
    let graph = folder.join("graph.json");
    let kept = folder.join("kept.wasm");
    fs::write(&graph, Surface::of(&fs::read(&bound)?)?.graph())?;

    let mut metadce = Command::new(workspace::npm_program("wasm-metadce"));
    metadce.args(FEATURES).arg(&bound).arg("--graph-file").arg(&graph).arg("-o").arg(&kept);
    // It lists every function that it removed.
    process::read(&mut metadce)?;

    let mut optimise = Command::new(workspace::npm_program("wasm-opt"));
    optimise.arg("-O3").args(FEATURES);
    optimise.args(["--strip-debug", "--strip-producers", "--strip-target-features"]);
    optimise.arg(&kept).arg("-o").arg(folder.join("core.wasm"));
    process::run(&mut optimise)
}

/// Names of what a module takes and gives.
#[derive(Default)]
struct Surface {
    imports: Vec<String>,
    exports: Vec<String>,
}

impl Surface {
    fn of(module: &[u8]) -> Result<Self> {
        let mut surface = Self::default();
        for payload in Parser::new(0).parse_all(module) {
            match payload? {
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        let import = import?;
                        surface.imports.push(format!("{}.{}", import.module, import.name));
                    }
                }
                Payload::ExportSection(section) => {
                    for export in section {
                        surface.exports.push(export?.name.to_owned());
                    }
                }
                _ => {}
            }
        }
        Ok(surface)
    }

    /// Our own exports and the memory, from which the host reads step buffers, as the roots of `wasm-metadce`.
    /// Names with two underscores belong to wasm-bindgen.
    fn graph(&self) -> String {
        let kept: Vec<&String> =
            self.exports.iter().filter(|name| !name.starts_with("__")).collect();
        let mut nodes = vec![json!({ "name": "root", "root": true, "reaches": kept })];
        nodes.extend(kept.iter().map(|name| json!({ "name": name, "export": name })));
        json!(nodes).to_string()
    }
}

fn typescript(module: &[u8]) -> String {
    format!(
        "// Written by `cargo xtask build wasm`: core.wasm in base64.\nconst bytes: string =\n  \"{}\";\nexport default bytes;\n",
        base64(module)
    )
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk
            .iter()
            .enumerate()
            .fold(0, |word, (i, byte)| word | u32::from(*byte) << (16 - 8 * i));
        for digit in 0..4 {
            if digit <= chunk.len() {
                text.push(char::from(DIGITS[(word >> (18 - 6 * digit) & 63) as usize]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_each_length_of_the_last_group() {
        assert_eq!(base64(b""), "");
        assert_eq!(base64(b"f"), "Zg==");
        assert_eq!(base64(b"fo"), "Zm8=");
        assert_eq!(base64(b"foo"), "Zm9v");
        assert_eq!(base64(&[0xfb, 0xef, 0xff, 0xff]), "++///w==");
    }
}
