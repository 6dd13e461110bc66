//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use lexopt::prelude::*;

/// The hosts there are.
pub const HOSTS: [&str; 3] = ["rust", "node", "python"];

/// What is asked for.
pub struct Options {
    /// Everything random is drawn from it.
    pub seed: u64,
    /// How many runs, each of the next seed.
    pub runs: u64,
    /// How long the load lasts.
    pub load: Duration,
    /// Users of each host: as many calls are open at once.
    pub calls: u32,
    /// Which hosts run.
    pub hosts: Vec<String>,
    /// Where logs, scenarios and the policy go.
    pub folder: PathBuf,
    /// The interpreter that has the packages.
    pub python: PathBuf,
    /// Reads what an earlier run has left in the folder, and runs nothing.
    pub check_only: bool,
}

impl Options {
    /// Reads the command line of this process.
    pub fn from_env() -> Result<Self, lexopt::Error> {
        Self::read(lexopt::Parser::from_env())
    }

    fn read(mut parser: lexopt::Parser) -> Result<Self, lexopt::Error> {
        let mut options = Self {
            seed: fastrand::u64(1..1_000_000_000),
            runs: 1,
            load: Duration::from_secs(60),
            calls: 2_400,
            hosts: HOSTS.map(str::to_owned).to_vec(),
            folder: PathBuf::from("target/chaos"),
            python: PathBuf::from(".venv/bin/python"),
            check_only: false,
        };
        while let Some(argument) = parser.next()? {
            match argument {
                Long("seed") => options.seed = parser.value()?.parse()?,
                Long("runs") => options.runs = parser.value()?.parse()?,
                Long("seconds") => {
                    options.load = Duration::from_secs(parser.value()?.parse_with(seconds)?);
                }
                Long("calls") => options.calls = parser.value()?.parse()?,
                Long("hosts") => options.hosts = parser.value()?.parse_with(hosts)?,
                Long("folder") => options.folder = parser.value()?.into(),
                Long("python") => options.python = parser.value()?.into(),
                Long("check") => options.check_only = true,
                _ => return Err(argument.unexpected()),
            }
        }
        Ok(options)
    }
}

fn seconds(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(seconds @ 10..=3_600) => Ok(seconds),
        _ => Err("allowed: 10 to 3600".into()),
    }
}

fn hosts(text: &str) -> Result<Vec<String>, String> {
    let names: Vec<String> = text.split(',').map(str::to_owned).collect();
    match names.iter().find(|name| !HOSTS.contains(&name.as_str())) {
        Some(name) => Err(format!("{name:?} is none of {}", HOSTS.join(", "))),
        None => Ok(names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_a_run_and_nonsense_is_refused() {
        let read = |words: &[&str]| Options::read(lexopt::Parser::from_args(words));
        let options = read(&["--seed", "7", "--hosts", "node,rust", "--seconds", "12"]).unwrap();
        assert_eq!((options.seed, options.load.as_secs()), (7, 12));
        assert_eq!(options.hosts, ["node", "rust"]);
        for words in [&["--hosts", "perl"][..], &["--seconds", "0"], &["--seed", "x"], &["--fast"]]
        {
            assert!(read(words).is_err(), "{words:?}");
        }
    }
}
