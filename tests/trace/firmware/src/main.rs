//! The trace on a Cortex-M4 without an operating system. What it finds it prints by semihosting.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod board;

#[cfg(not(target_os = "none"))]
fn main() {
    eprintln!("this program is for boards: cargo build --target thumbv7em-none-eabi");
    std::process::exit(1);
}
