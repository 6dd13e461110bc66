//! `chaos-host --url URL --policy FILE --log FILE --seed N --calls N --seconds S`
//!
//! Makes calls by the policy and writes down what happens. Each step is answered on stdout and waits
//! for a line on stdin: warm, rest, rested, load, drained, rest, rested.

mod arguments;
mod counting;
mod cues;
mod journal;
mod operation;
mod rest;
mod users;

use std::process::ExitCode;
use std::sync::Arc;

use tokio::runtime::Builder;

use arguments::Arguments;
use cues::Cues;
use journal::Journal;
use users::Users;

type Error = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let ran = Arguments::from_env().map_err(Error::from).and_then(|arguments| {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        runtime.block_on(run(&arguments))
    });
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("chaos-host: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: &Arguments) -> Result<(), Error> {
    let journal = Arc::new(Journal::create(&arguments.log)?);
    journal.start();
    let users = Arc::new(Users::new(arguments, Arc::clone(&journal))?);
    let mut cues = Cues::listen();
    users.burst(arguments.calls).await;
    rest(&users, &mut cues, "before", "warm").await;
    cues.next().await;
    users.load(arguments.calls, arguments.load).await;
    rest(&users, &mut cues, "after", "drained").await;
    Ok(())
}

async fn rest(users: &Users, cues: &mut Cues, stage: &str, done: &str) {
    users.journal.flush();
    println!("{done}");
    cues.next().await;
    let line = rest::measure(users, stage).await;
    users.journal.write(line);
    users.journal.flush();
    println!("rested");
}
