//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use lexopt::prelude::*;

/// How the calls are made.
pub enum Mode {
    /// With stormproof.
    Resilient,
    /// With the loop that people write without it.
    Naive,
    /// A few calls one after the other, with the random words of this seed.
    Trace(u64),
}

/// What the caller asked for.
pub struct Arguments {
    pub url: String,
    pub policy: PathBuf,
    /// Sent as `x-host`.
    pub host_name: String,
    /// Calls a second.
    pub rate: f64,
    pub seconds: Duration,
    pub mode: Mode,
    /// Starts at the first line of stdin and ends when stdin does.
    pub start_with_stdin: bool,
}

impl Arguments {
    /// Reads the command line of this process.
    pub fn from_env() -> Result<Self, lexopt::Error> {
        let mut parser = lexopt::Parser::from_env();
        let mut arguments = Self {
            url: String::new(),
            policy: PathBuf::new(),
            host_name: "rust".into(),
            rate: 25.0,
            seconds: Duration::from_secs(10),
            mode: Mode::Resilient,
            start_with_stdin: false,
        };
        while let Some(argument) = parser.next()? {
            match argument {
                Long("url") => arguments.url = parser.value()?.string()?,
                Long("policy") => arguments.policy = parser.value()?.into(),
                Long("host-name") => arguments.host_name = parser.value()?.string()?,
                Long("rate") => arguments.rate = parser.value()?.parse()?,
                Long("seconds") => {
                    let seconds: f64 = parser.value()?.parse()?;
                    arguments.seconds =
                        Duration::try_from_secs_f64(seconds).map_err(|e| e.to_string())?;
                }
                Long("naive") => arguments.mode = Mode::Naive,
                Long("trace") => arguments.mode = Mode::Trace(parser.value()?.parse()?),
                Long("start-with-stdin") => arguments.start_with_stdin = true,
                _ => return Err(argument.unexpected()),
            }
        }
        match arguments.url.is_empty() || arguments.policy.as_os_str().is_empty() {
            true => Err("--url and --policy are needed".into()),
            false => Ok(arguments),
        }
    }
}
