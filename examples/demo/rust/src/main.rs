//! `demo-host --url URL --policy FILE [--host-name NAME] [--rate N] [--seconds S] [--naive | --trace SEED]`
//!
//! Calls one dependency N times a second, whatever becomes of the calls, and prints a line of JSON
//! four times a second. `dependency.rs` is the part to learn from.
#![forbid(unsafe_code)]

mod arguments;
mod dependency;
mod http;
mod load;
mod naive;
mod report;
mod stdin;
mod trace;

use std::process::ExitCode;

use arguments::{Arguments, Mode};
use dependency::Dependency;
use http::Http;
use naive::Naive;

fn main() -> ExitCode {
    match Arguments::from_env().map_err(Into::into).and_then(|arguments| run(&arguments)) {
        Ok(lost) if lost > 0 => ExitCode::FAILURE,
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("demo-host: {error}");
            ExitCode::from(2)
        }
    }
}

/// Answers how many calls were lost.
fn run(arguments: &Arguments) -> Result<u64, Box<dyn std::error::Error>> {
    let http = Http::new(&arguments.url, &arguments.host_name);
    if arguments.start_with_stdin {
        stdin::wait_for_a_line()?;
    }
    match &arguments.mode {
        Mode::Resilient => {
            let dependency = Dependency::new(&arguments.policy, None, http)?;
            Ok(load::run(dependency, arguments.rate, arguments.seconds))
        }
        Mode::Naive => Ok(load::run(Naive::new(http), arguments.rate, arguments.seconds)),
        Mode::Trace(seed) => {
            let dependency = Dependency::new(&arguments.policy, Some(*seed), http)?;
            trace::run(&dependency);
            Ok(0)
        }
    }
}
