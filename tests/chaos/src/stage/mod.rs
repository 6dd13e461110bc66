//! A host and its servers, from the first call to the last.

mod child;
mod server;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::options::Options;
use crate::policy::Policy;
use crate::scenario::{Life, Scenario};
use child::Child;
use server::Servers;

/// For what a host does at its own pace on a machine that has other things to do.
const PATIENCE: Duration = Duration::from_secs(90);

/// For a host that has closed everything to end.
const FAREWELL: Duration = Duration::from_secs(20);

/// The file that says that a host did not.
pub const GOES_ON: &str = "goes-on";

/// What a run is made of.
struct Play<'a> {
    options: &'a Options,
    seed: u64,
    folder: &'a Path,
    scenario: Scenario,
    ready: Barrier,
}

/// Plays the scenario of the seed to every host at the same time. Each leaves its logs in a folder
/// of its name.
pub fn play(options: &Options, seed: u64, folder: &Path) -> Result<()> {
    // What another run has left would be read as ours.
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder)?;
    let policy = serde_json::to_string_pretty(&Policy::draw(seed))?;
    fs::write(folder.join("policy.json"), policy)?;
    let scenario = Scenario::draw(seed, options.load.as_millis() as u64);
    let ready = Barrier::new(options.hosts.len());
    let play = Play { options, seed, folder, scenario, ready };
    thread::scope(|scope| {
        let hosts = options.hosts.iter().map(|name| scope.spawn(|| play_to(name, &play)));
        let hosts: Vec<_> = hosts.collect();
        hosts.into_iter().try_for_each(|host| host.join().expect("a stage does not panic"))
    })
}

fn play_to(name: &str, play: &Play<'_>) -> Result<()> {
    let host = open(name, play);
    // Also a host that has failed is waited for: the others would wait for ever.
    play.ready.wait();
    host.and_then(|host| host.perform(name, play)).with_context(|| format!("host {name}"))
}

struct Host {
    child: Child,
    servers: Servers,
}

/// Starts a host, which makes as many calls to a calm server as it will make to the others, and
/// then looks at what it holds.
fn open(name: &str, play: &Play<'_>) -> Result<Host> {
    let Play { options, seed, .. } = play;
    let folder = play.folder.join(name);
    fs::create_dir_all(&folder)?;
    let mut servers = Servers::new(&folder)?;
    servers.start(&Life::calm())?;
    let mut command = command(name, options)?;
    command.arg("--url").arg(servers.url());
    command.arg("--policy").arg(play.folder.join("policy.json"));
    command.arg("--log").arg(folder.join("host.jsonl"));
    command.args(["--seed", &seed.to_string(), "--calls", &options.calls.to_string()]);
    command.args(["--seconds", &options.load.as_secs().to_string()]);
    let mut child = Child::spawn(&mut command)?;
    child.expect("warm", PATIENCE)?;
    servers.kill();
    child.say("rest")?;
    child.expect("rested", PATIENCE)?;
    Ok(Host { child, servers })
}

impl Host {
    fn perform(mut self, name: &str, play: &Play<'_>) -> Result<()> {
        let start = Instant::now();
        let sleep_until =
            |ms| thread::sleep(Duration::from_millis(ms).saturating_sub(start.elapsed()));
        self.child.say("load")?;
        let (last, killed) = play.scenario.lives.split_last().context("a scenario has a server")?;
        for life in killed {
            sleep_until(life.from_ms);
            self.servers.start(&life.document())?;
            sleep_until(life.to_ms);
            self.servers.kill();
        }
        sleep_until(last.from_ms);
        self.servers.start(&last.document())?;
        self.child.expect("drained", play.options.load + PATIENCE)?;
        self.servers.kill();
        self.child.say("rest")?;
        self.child.expect("rested", PATIENCE)?;
        if !self.child.wait(FAREWELL)? {
            fs::write(play.folder.join(name).join(GOES_ON), "")?;
        }
        Ok(())
    }
}

fn command(name: &str, options: &Options) -> Result<Command> {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR"));
    Ok(match name {
        "node" => {
            let mut node = Command::new("node");
            node.arg("--expose-gc").arg(scripts.join("node/host.mjs"));
            node
        }
        "python" => {
            let mut python = Command::new(&options.python);
            python.arg(scripts.join("python/host.py"));
            python
        }
        _ => Command::new(std::env::current_exe()?.with_file_name("chaos-host")),
    })
}
