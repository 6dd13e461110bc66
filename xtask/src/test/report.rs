//! What became of each step.

use std::time::Duration;

use anyhow::{Result, bail};

use crate::doctor::Missing;

/// What became of one step.
#[derive(Debug, PartialEq)]
pub enum Verdict {
    Passed,
    Failed(String),
    /// Something is missing that the step needs.
    Skipped(String),
}

impl Verdict {
    /// The verdict on this machine: where CI runs, nothing may be skipped.
    pub fn of(result: Result<()>) -> Self {
        let strict = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
        Self::judge(result, strict)
    }

    fn judge(result: Result<()>, strict: bool) -> Self {
        match result {
            Ok(()) => Self::Passed,
            Err(error) if error.is::<Missing>() && !strict => Self::Skipped(format!("{error:#}")),
            Err(error) => Self::Failed(format!("{error:#}")),
        }
    }
}

/// The verdicts of a run.
#[derive(Default)]
pub struct Report {
    lines: Vec<(&'static str, Verdict, Duration)>,
}

impl Report {
    /// Takes and prints a verdict.
    pub fn add(&mut self, name: &'static str, verdict: Verdict, elapsed: Duration) {
        let seconds = elapsed.as_secs_f64();
        match &verdict {
            Verdict::Passed => println!("== {name}: passed in {seconds:.1} s"),
            Verdict::Skipped(reason) => println!("== {name}: skipped, {reason}"),
            Verdict::Failed(reason) => {
                println!(
                    "== {name}: FAILED after {seconds:.1} s, {reason}\n   again: cargo xtask test {name}"
                );
            }
        }
        self.lines.push((name, verdict, elapsed));
    }

    /// Prints the table and fails when a step did.
    pub fn close(self) -> Result<()> {
        println!();
        let [mut passed, mut failed, mut skipped] = [0; 3];
        for (name, verdict, elapsed) in &self.lines {
            let (word, reason) = match verdict {
                Verdict::Passed => ("passed", ""),
                Verdict::Failed(reason) => ("FAILED", reason.as_str()),
                Verdict::Skipped(reason) => ("skipped", reason.as_str()),
            };
            match verdict {
                Verdict::Passed => passed += 1,
                Verdict::Failed(_) => failed += 1,
                Verdict::Skipped(_) => skipped += 1,
            }
            let first_line = reason.lines().next().unwrap_or_default();
            let line =
                format!("{name:<14} {word:<8} {:>7.1} s  {first_line}", elapsed.as_secs_f64());
            println!("{}", line.trim_end());
        }
        let total: Duration = self.lines.iter().map(|line| line.2).sum();
        println!("{:<14} {:<8} {:>7.1} s\n", "all", "", total.as_secs_f64());
        for (name, _, _) in self.lines.iter().filter(|line| matches!(line.1, Verdict::Failed(_))) {
            println!("again: cargo xtask test {name}");
        }
        let rest = if skipped > 0 { format!(", {skipped} skipped") } else { String::new() };
        println!("{passed} passed, {failed} failed{rest}");
        if failed > 0 {
            bail!("{failed} of {} steps failed", self.lines.len());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_skipped_except_in_ci() {
        let missing = || Err(Missing::new("node", "install it").into());
        let reason = String::from("node is missing: install it");
        assert_eq!(Verdict::judge(missing(), false), Verdict::Skipped(reason.clone()));
        assert_eq!(Verdict::judge(missing(), true), Verdict::Failed(reason));
    }

    #[test]
    fn a_failure_is_one_everywhere() {
        let failure = || Err(anyhow::anyhow!("2 tests"));
        assert_eq!(Verdict::judge(failure(), false), Verdict::Failed("2 tests".into()));
        assert_eq!(Verdict::judge(Ok(()), true), Verdict::Passed);
    }
}
