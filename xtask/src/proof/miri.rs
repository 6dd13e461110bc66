//! The tests of the core in an interpreter that sees undefined behaviour, leaks and races.
//!
//! It is a thousand times slower, so some tests are smaller there (`cfg!(miri)`): `hand_over` has 20
//! courses of 3,000, the threads of `drive` 80 calls of 8,000, `vectors` 3 files of 17; the calendar and the
//! thousandths are taken in steps. Two are left out and counted as such: the table of a million slots,
//! and the documents of all vectors. Tests that only repeat the same code often (`hostile`, `jitter`, `laws`,
//! `machines`, `sentences`, `size`) are not among them.

use std::process::Command;

use anyhow::{Result, bail};

use super::Size;
use crate::{doctor, process, workspace};

const REMEDY: &str = "rustup component add --toolchain nightly miri rust-src";

const TESTS: [&str; 5] = ["documents", "drive", "hand_over", "policy_doc", "vectors"];

/// Runs the unit tests of `core` and these.
pub fn run(_: Size) -> Result<String> {
    doctor::cargo_command("nightly", "miri", REMEDY)?;
    let mut cargo = Command::new("cargo");
    cargo.current_dir(workspace::root()).env("RUSTUP_TOOLCHAIN", "nightly");
    // The tests read vectors, documents and the clock.
    cargo.env("MIRIFLAGS", "-Zmiri-disable-isolation");
    cargo.args(["miri", "test", "--package=stormproof", "--lib"]);
    let text = process::tee(cargo.args(TESTS.map(|test| format!("--test={test}"))))?;
    let (passed, ignored) = (sum(&text, "passed"), sum(&text, "ignored"));
    if passed == 0 {
        bail!("no test has run");
    }
    let figures = format!("proof miri: {passed} tests passed, {ignored} left out");
    println!("{figures}");
    Ok(figures)
}

/// Of all lines `test result: ok. 3 passed; 0 failed; …`.
fn sum(text: &str, what: &str) -> u64 {
    let results = text.lines().filter(|line| line.starts_with("test result: "));
    let counts = results.flat_map(|line| line.split(['.', ';'])).filter_map(|part| {
        let (count, name) = part.trim().split_once(' ')?;
        (name == what).then(|| count.parse::<u64>().ok())?
    });
    counts.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_added_up() {
        let text = "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.10s\n\
            running 2 tests\n\
            test result: ok. 4 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.25s\n";
        assert_eq!((sum(text, "passed"), sum(text, "ignored")), (7, 1));
    }
}
