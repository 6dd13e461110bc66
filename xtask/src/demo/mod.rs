//! `cargo xtask demo`: a server that fails in every way, hosts that call it by one policy, and the
//! same hosts without it.

mod cast;
mod check;
mod child;
mod decisions;
mod figures;
mod options;
mod page;
mod record;
mod results;
mod run;
mod scenario;
mod server;
mod stage;
mod table;

use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use crate::process;
use cast::Cast;
use options::Options;

/// Builds what is missing and shows it.
pub fn run(arguments: &[String]) -> Result<()> {
    let options = Options::parse(arguments)?;
    if let Some(hosts) = &options.stage {
        return stage::run(hosts, &options);
    }
    let cast = Cast::build()?;
    if options.check {
        check::run(&cast)?;
    } else {
        perform(&cast, &options)?;
    }
    cast.close()
}

/// Servers and hosts all live in the group of one child of ours: whatever ends this command ends
/// the group, and no signal can come between two of them.
fn perform(cast: &Cast, options: &Options) -> Result<()> {
    let mut stage = Command::new(std::env::current_exe()?);
    stage.arg("demo").arg(format!("--stage={}", cast.names().join(",")));
    let ended = process::run(stage.args(options.for_stage()));
    if ended.is_err() {
        // On a signal the thread that killed the group is about to end us with the signal's number.
        std::thread::sleep(Duration::from_millis(200));
    }
    ended
}
