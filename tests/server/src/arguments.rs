//! The command line.

use lexopt::prelude::{Long, Short, ValueExt};
use std::path::PathBuf;

const USAGE: &str =
    "fault-server [--scenario FILE] [--port N] [--journal FILE] [--exit-with-stdin]";

/// What the caller asks for.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    pub(crate) scenario: Option<PathBuf>,
    /// 0 is any free port.
    pub(crate) port: u16,
    pub(crate) journal: Option<PathBuf>,
    pub(crate) exit_with_stdin: bool,
}

impl Arguments {
    /// Reads the command line; `--help` prints the usage and exits.
    pub(crate) fn from_env() -> Result<Self, String> {
        Self::read(lexopt::Parser::from_env()).map_err(|error| format!("{error}\nusage: {USAGE}"))
    }

    fn read(mut parser: lexopt::Parser) -> Result<Self, lexopt::Error> {
        let mut arguments = Self::default();
        while let Some(argument) = parser.next()? {
            match argument {
                Long("scenario") => arguments.scenario = Some(parser.value()?.into()),
                Long("port") => arguments.port = parser.value()?.parse()?,
                Long("journal") => arguments.journal = Some(parser.value()?.into()),
                Long("exit-with-stdin") => arguments.exit_with_stdin = true,
                Long("help") | Short('h') => {
                    println!("{USAGE}");
                    std::process::exit(0);
                }
                other => return Err(other.unexpected()),
            }
        }
        Ok(arguments)
    }
}
