//! What the command line asks for.

use anyhow::{Context, Result, bail};

/// The options of `cargo xtask demo`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// A storm of 9 s in place of 24 s.
    pub quick: bool,
    /// Runs twice and judges the figures.
    pub check: bool,
    /// Kills the servers this long after the start.
    pub kill_server_at_ms: Option<u64>,
    /// We are the child that runs these hosts.
    pub stage: Option<Vec<String>>,
}

impl Options {
    /// Reads the command line.
    pub fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--quick" => options.quick = true,
                "--check" => options.check = true,
                "--kill-server-at" => {
                    let millis = arguments.next().context("--kill-server-at needs milliseconds")?;
                    options.kill_server_at_ms =
                        Some(millis.parse().context("--kill-server-at needs milliseconds")?);
                }
                other => match other.strip_prefix("--stage=") {
                    Some(hosts) => {
                        options.stage = Some(hosts.split(',').map(str::to_owned).collect());
                    }
                    None => bail!(
                        "cargo xtask demo [--quick] [--check] [--kill-server-at MS], not `{other}`"
                    ),
                },
            }
        }
        Ok(options)
    }

    /// The words that tell the child the same.
    pub fn for_stage(&self) -> Vec<String> {
        let mut words = Vec::new();
        if self.quick {
            words.push("--quick".into());
        }
        if let Some(millis) = self.kill_server_at_ms {
            words.extend(["--kill-server-at".into(), millis.to_string()]);
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_to_the_stage_is_what_was_said() {
        let options = Options { quick: true, kill_server_at_ms: Some(3000), ..Options::default() };
        assert_eq!(Options::parse(&options.for_stage()).unwrap(), options);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for words in [&["--fast"][..], &["--kill-server-at"], &["--kill-server-at", "soon"]] {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert!(Options::parse(&words).is_err(), "{words:?}");
        }
    }
}
