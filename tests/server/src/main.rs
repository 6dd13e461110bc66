//! `fault-server [--scenario FILE] [--port N] [--journal FILE] [--exit-with-stdin]`
//!
//! Prints one line of JSON once it listens: `{"port":P,"control_port":C}`.
#![forbid(unsafe_code)]

mod arguments;
mod signals;

use arguments::Arguments;
use fault_server::{Journal, Scenario, Server};
use signals::Signals;
use std::io::{self, Read, Write};
use std::process::{ExitCode, exit};

/// Something that the caller wrote is wrong.
const MISUSE: u8 = 2;

fn main() -> ExitCode {
    let started = Arguments::from_env().and_then(|arguments| {
        let scenario = scenario(&arguments)?;
        Ok((arguments, scenario))
    });
    match started {
        Err(message) => {
            eprintln!("fault-server: {message}");
            ExitCode::from(MISUSE)
        }
        Ok((arguments, scenario)) => match serve(&arguments, scenario) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("fault-server: {error}");
                ExitCode::FAILURE
            }
        },
    }
}

fn scenario(arguments: &Arguments) -> Result<Scenario, String> {
    let Some(file) = &arguments.scenario else {
        return Ok(Scenario::default());
    };
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("--scenario {}: {error}", file.display()))?;
    Scenario::parse(&text).map_err(|invalid| format!("{}: {invalid}", file.display()))
}

#[tokio::main(worker_threads = 2)]
async fn serve(arguments: &Arguments, scenario: Scenario) -> io::Result<()> {
    // Whoever has read the line may signal at once.
    let mut signals = Signals::new()?;
    let journal = arguments.journal.as_deref().map(Journal::create).transpose()?;
    let server = Server::start_with_journal(scenario, arguments.port, journal)?;
    println!("{{\"port\":{},\"control_port\":{}}}", server.port(), server.control_port());
    io::stdout().flush()?;
    if arguments.exit_with_stdin {
        std::thread::spawn(exit_with_stdin);
    }
    tokio::select! {
        () = server.ended() => {}
        () = signals.any() => {}
    }
    Ok(())
}

/// The parent holds the other end of stdin: when it dies, so do we.
fn exit_with_stdin() {
    let mut sink = [0; 256];
    let mut stdin = io::stdin().lock();
    while matches!(stdin.read(&mut sink), Ok(1..)) {}
    exit(0);
}
