//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use lexopt::prelude::*;

/// What the caller asked for.
#[derive(Default)]
pub struct Arguments {
    pub url: String,
    pub policy: PathBuf,
    pub log: PathBuf,
    pub seed: u64,
    /// Users: as many calls are open at once.
    pub calls: u32,
    pub load: Duration,
}

impl Arguments {
    /// Reads the command line of this process.
    pub fn from_env() -> Result<Self, lexopt::Error> {
        let mut parser = lexopt::Parser::from_env();
        let mut arguments = Self::default();
        while let Some(argument) = parser.next()? {
            match argument {
                Long("url") => arguments.url = parser.value()?.string()?,
                Long("policy") => arguments.policy = parser.value()?.into(),
                Long("log") => arguments.log = parser.value()?.into(),
                Long("seed") => arguments.seed = parser.value()?.parse()?,
                Long("calls") => arguments.calls = parser.value()?.parse()?,
                Long("seconds") => {
                    arguments.load = Duration::from_secs(parser.value()?.parse()?);
                }
                _ => return Err(argument.unexpected()),
            }
        }
        match arguments.url.is_empty() || arguments.policy.as_os_str().is_empty() {
            true => Err("--url and --policy are needed".into()),
            false => Ok(arguments),
        }
    }
}
