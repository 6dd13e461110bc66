//! The shared vectors: every host must have passed the same number and made the same steps.

use std::fmt;

use anyhow::{Result, bail};

use crate::doctor::Missing;

/// What `cargo xtask test NAME` calls the comparison.
pub const NAME: &str = "vectors";

/// What it shows.
pub const ABOUT: &str = "all hosts took the same decisions";

/// What one step printed about the vectors of its host.
pub struct Run {
    step: &'static str,
    host: &'static str,
    lines: Result<Vec<Line>, String>,
    skipped: bool,
}

impl Run {
    /// The vector lines within what the step printed; a step that failed tells nothing.
    pub fn new(step: &'static str, host: &'static str, result: &Result<String>) -> Self {
        match result {
            Ok(text) => Self {
                step,
                host,
                lines: Ok(text.lines().filter_map(Line::parse).collect()),
                skipped: false,
            },
            Err(error) => Self {
                step,
                host,
                lines: Err(format!("{error:#}")),
                skipped: error.is::<Missing>(),
            },
        }
    }

    /// The lines, to be shown together.
    pub fn lines(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().flatten()
    }
}

/// `vectors <host>: N passed, N failed, steps <16 hex digits>`.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    host: String,
    passed: u64,
    failed: u64,
    steps: String,
}

impl Line {
    /// Test runners put their own text in front of a line.
    fn parse(text: &str) -> Option<Self> {
        let text = &text[text.rfind("vectors ")? + "vectors ".len()..];
        let (host, counts) = text.split_once(": ")?;
        let mut parts = counts.trim().splitn(3, ", ");
        let passed = parts.next()?.strip_suffix(" passed")?.parse().ok()?;
        let failed = parts.next()?.strip_suffix(" failed")?.parse().ok()?;
        let steps = parts.next()?.strip_prefix("steps ")?.get(..16)?;
        let hex = steps.bytes().all(|byte| byte.is_ascii_hexdigit());
        hex.then(|| Self {
            host: host.to_owned(),
            passed,
            failed,
            steps: steps.to_ascii_lowercase(),
        })
    }

    fn faults(&self, first: &Self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.failed > 0 || self.passed == 0 {
            faults.push(format!("{} passed {} and failed {}", self.host, self.passed, self.failed));
        }
        if self.passed != first.passed {
            faults.push(format!(
                "{} passed {}, {} passed {}",
                first.host, first.passed, self.host, self.passed
            ));
        }
        if self.steps != first.steps {
            faults.push(format!(
                "{} made the steps {}, {} made {}",
                first.host, first.steps, self.host, self.steps
            ));
        }
        faults
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, passed, failed, steps } = self;
        write!(f, "vectors {host}: {passed} passed, {failed} failed, steps {steps}")
    }
}

/// Fails unless each run has the line of its host and all lines say the same. Answers with the
/// hosts that took part.
pub fn compare(runs: &[Run]) -> Result<String> {
    let faults = faults(runs);
    if !faults.is_empty() {
        bail!("{}", faults.join("; "));
    }
    if let Some(run) = runs.iter().find(|run| run.skipped) {
        bail!(Missing::new(format!("the run of step {}", run.step), "see there"));
    }
    let hosts: Vec<&str> =
        runs.iter().flat_map(Run::lines).map(|line| line.host.as_str()).collect();
    Ok(format!("{} hosts agree: {}", hosts.len(), hosts.join(", ")))
}

fn faults(runs: &[Run]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut first: Option<&Line> = None;
    for run in runs {
        match &run.lines {
            Ok(lines) => {
                if !lines.iter().any(|line| line.host == run.host) {
                    let Run { step, host, .. } = run;
                    faults.push(format!("step {step} printed no line `vectors {host}: …`"));
                }
                for line in lines {
                    faults.extend(line.faults(first.get_or_insert(line)));
                }
            }
            Err(_) if run.skipped => {}
            Err(error) => faults.push(format!("step {} failed ({error})", run.step)),
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(host: &'static str, text: &str) -> Run {
        Run::new(host, host, &Ok(text.to_owned()))
    }

    fn fault(runs: &[Run]) -> String {
        compare(runs).unwrap_err().to_string()
    }

    const RUST: &str =
        "test vectors ... vectors rust: 12 passed, 0 failed, steps 00ff00ff00ff00ff\nok";
    const NODE: &str = "vectors node: 12 passed, 0 failed, steps 00FF00ff00ff00ff";

    #[test]
    fn a_line_is_found_behind_the_text_of_a_runner() {
        let line =
            Line::parse("test all ... vectors rust: 3 passed, 1 failed, steps 0123456789abcdef.")
                .unwrap();
        assert_eq!((line.host.as_str(), line.passed, line.failed), ("rust", 3, 1));
        assert_eq!(Line::parse("vectors rust: 3 passed, 1 failed, steps 01234"), None);
        assert_eq!(Line::parse("vectors are read from a file: 3"), None);
    }

    #[test]
    fn equal_runs_agree() {
        let hosts = compare(&[run("rust", RUST), run("node", NODE)]).unwrap();
        assert_eq!(hosts, "2 hosts agree: rust, node");
    }

    #[test]
    fn other_steps_other_counts_failures_and_silence_are_faults() {
        let other = NODE.replace("00FF", "00fe");
        assert!(fault(&[run("rust", RUST), run("node", &other)]).contains("made the steps"));
        let fewer = NODE.replace("12 passed", "11 passed");
        assert!(
            fault(&[run("rust", RUST), run("node", &fewer)])
                .contains("rust passed 12, node passed 11")
        );
        let failed = NODE.replace("0 failed", "1 failed");
        assert!(fault(&[run("rust", RUST), run("node", &failed)]).contains("failed 1"));
        assert!(fault(&[run("rust", RUST), run("node", "")]).contains("step node printed no line"));
        assert!(fault(&[run("rust", RUST), run("wasm", NODE)]).contains("no line `vectors wasm: "));
        let none = "vectors rust: 0 passed, 0 failed, steps 00ff00ff00ff00ff";
        assert!(fault(&[run("rust", none)]).contains("passed 0"));
    }

    #[test]
    fn a_run_that_was_skipped_skips_the_comparison() {
        let skipped = Run::new("node", "node", &Err(Missing::new("node", "install it").into()));
        assert!(compare(&[run("rust", RUST), skipped]).unwrap_err().is::<Missing>());
    }
}
