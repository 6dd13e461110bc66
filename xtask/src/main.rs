//! Every command of the README, one file per verb.
#![forbid(unsafe_code)]

mod bench;
mod build;
mod demo;
mod doctor;
mod process;
mod proof;
#[cfg(test)]
mod security;
mod stamp;
mod test;
#[cfg(test)]
mod unsafe_code;
mod workspace;

use std::process::ExitCode;

use anyhow::{Result, bail};

#[cfg(not(unix))]
compile_error!("xtask runs on Linux and macOS; on Windows run it inside WSL");

struct Verb {
    name: &'static str,
    arguments: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Result<()>,
}

const VERBS: &[Verb] = &[
    Verb {
        name: "build",
        arguments: "[wasm | npm | python | packages | third-party]…",
        about: "build the packages (without a name: wasm, npm and python), or the list of code of others",
        run: build::run,
    },
    Verb {
        name: "demo",
        arguments: "[--quick] [--check] [--kill-server-at MS]",
        about: "show a storm and the calm: live table, plots",
        run: demo::run,
    },
    Verb {
        name: "test",
        arguments: "[--quick] [--list] [STEP]…",
        about: "run every test there is, or the named steps",
        run: test::run,
    },
    Verb {
        name: "proof",
        arguments: "[--full] [--list] [PART]…",
        about: "show that the core is right: in CI size, or in full",
        run: proof::run,
    },
    Verb {
        name: "bench",
        arguments: "",
        about: "measure the core and the packages",
        run: bench::run,
    },
    Verb {
        name: "doctor",
        arguments: "",
        about: "say what this machine lacks and how to get it",
        run: doctor::run,
    },
];

fn main() -> ExitCode {
    process::stop_children_on_signals();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<()> {
    match arguments.split_first() {
        None => {
            print!("{}", usage());
            Ok(())
        }
        Some((help, _)) if matches!(help.as_str(), "help" | "-h" | "--help") => {
            print!("{}", usage());
            Ok(())
        }
        Some((name, rest)) => match VERBS.iter().find(|verb| verb.name == name) {
            Some(verb) => (verb.run)(rest),
            None => bail!("there is no `cargo xtask {name}`\n\n{}", usage()),
        },
    }
}

fn usage() -> String {
    let mut text = String::from("usage: cargo xtask VERB\n");
    for verb in VERBS {
        let call = format!("{} {}", verb.name, verb.arguments);
        text += &format!("  {call:<42}  {}\n", verb.about);
    }
    text
}
