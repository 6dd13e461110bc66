//! The memory of the board, and the linker script that asks for it.

use std::path::PathBuf;

/// Arm's application note AN386: a Cortex-M4 with 4 MB of code memory and 4 MB of data memory.
const MEMORY: &str = "MEMORY
{
  FLASH : ORIGIN = 0x00000000, LENGTH = 4M
  RAM : ORIGIN = 0x20000000, LENGTH = 4M
}
";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system != "none") {
        return;
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("set by cargo"));
    std::fs::write(out.join("memory.x"), MEMORY).expect("a writable OUT_DIR");
    println!("cargo::rustc-link-search={}", out.display());
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
}
