//! The trace of `tests/trace`: a million steps, and one digest of them on every target.

mod block;
mod targets;
mod wasm2js;

use std::fs;

use anyhow::{Context, Result, bail};

use super::Size;
use crate::doctor::Missing;
use crate::workspace;
use block::Trace;
use targets::TARGETS;

/// What it shows.
pub const ABOUT: &str = "a million steps, the same on every target";

/// The digest that was looked at and accepted.
const ACCEPTED: &str = "tests/trace/hash.txt";

/// Both sizes are the same: the trace has a million steps.
pub fn run(_: Size) -> Result<String> {
    let accepted = fs::read_to_string(workspace::path(ACCEPTED)).context(ACCEPTED)?;
    let figures = run_on(TARGETS, accepted.trim())?;
    println!("{figures}");
    Ok(figures)
}

/// A target that this machine cannot run skips the whole, unless the others are at fault.
fn run_on(targets: &[fn() -> Result<String>], accepted: &str) -> Result<String> {
    let mut traces: Vec<Trace> = Vec::new();
    let mut missing = None;
    for target in targets {
        match target() {
            Ok(text) => {
                let trace = Trace::read(&text)?;
                println!("{trace}");
                traces.push(trace);
            }
            Err(error) if error.is::<Missing>() => {
                println!("{error:#}");
                missing = missing.or(Some(error));
            }
            Err(error) => return Err(error),
        }
    }
    let figures = compare(&traces)?;
    check_accepted(&traces, accepted)?;
    missing.map_or(Ok(figures), Err)
}

/// Fails unless all say the same. Answers with the line of the part.
fn compare(traces: &[Trace]) -> Result<String> {
    let (first, others) = traces.split_first().context("no target ran the trace")?;
    let faults: Vec<String> = others.iter().filter_map(|trace| trace.differs(first)).collect();
    if !faults.is_empty() {
        bail!("{}", faults.join("; "));
    }
    let targets: Vec<&str> = traces.iter().map(|trace| trace.target.as_str()).collect();
    let Trace { steps, hash, .. } = first;
    Ok(format!("proof trace: {steps} steps, hash {hash} on {}", targets.join(", ")))
}

fn check_accepted(traces: &[Trace], accepted: &str) -> Result<()> {
    for Trace { hash, .. } in traces {
        if hash != accepted {
            bail!(
                "the targets agree, but the decisions have changed: the hash is {hash}, that in \
                 {ACCEPTED} is {accepted}; if they ought to have changed: echo {hash} > {ACCEPTED}"
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(target: &str, blocks: &[&str]) -> Trace {
        let lines = blocks.iter().enumerate().map(|(n, hash)| format!("block {} {hash}\n", n + 1));
        let last = blocks.last().unwrap();
        let end = format!("trace {target}: {}0000 steps, hash {last}\n", blocks.len());
        Trace::read(&(lines.collect::<String>() + &end)).unwrap()
    }

    const A: &str = "aaaaaaaaaaaaaaaa";
    const B: &str = "bbbbbbbbbbbbbbbb";

    #[test]
    fn equal_traces_agree() {
        let line = compare(&[trace("x86-64", &[A, B]), trace("wasm (Node)", &[A, B])]).unwrap();
        let expected = "proof trace: 20000 steps, hash bbbbbbbbbbbbbbbb on x86-64, wasm (Node)";
        assert_eq!(line, expected);
    }

    #[test]
    fn the_first_block_that_differs_is_named() {
        let (one, other) = (trace("x86-64", &[A, A, A]), trace("Python", &[A, B, A]));
        let error = compare(&[one, other]).unwrap_err().to_string();
        assert_eq!(error, "Python differs from x86-64 from block 2 on (steps 10001 to 20000)");
        let (one, shorter) = (trace("x86-64", &[A, B]), trace("Python", &[A]));
        let error = compare(&[one, shorter]).unwrap_err().to_string();
        assert_eq!(error, "Python made 10000 steps, x86-64 made 20000");
    }

    #[test]
    fn a_target_that_is_missing_skips_what_is_otherwise_right() {
        let one = || Ok(format!("block 1 {A}\ntrace x86-64: 10000 steps, hash {A}\n"));
        let other = || Ok(format!("block 1 {B}\ntrace Python: 10000 steps, hash {B}\n"));
        let none =
            || Err(Missing::new("qemu-system-arm", "apt-get install qemu-system-arm").into());
        assert!(run_on(&[one, none], A).unwrap_err().is::<Missing>());
        assert!(!run_on(&[one, none, other], A).unwrap_err().is::<Missing>());
        assert!(!run_on(&[one, none], B).unwrap_err().is::<Missing>());
        assert!(run_on(&[one, one], A).is_ok());
    }

    #[test]
    fn other_decisions_must_be_accepted() {
        let traces = [trace("x86-64", &[A, B])];
        assert!(check_accepted(&traces, B).is_ok());
        let error = check_accepted(&traces, A).unwrap_err().to_string();
        assert!(error.ends_with(&format!("echo {B} > tests/trace/hash.txt")), "{error}");
    }
}
