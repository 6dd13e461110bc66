//! One server and its hosts.

use std::sync::mpsc::Sender;

use anyhow::Result;

use super::child::{Child, Heard};
use super::record::{Line, Record, Requests, Track};
use super::scenario::Scenario;
use super::server::Server;
use super::{cast, figures};
use crate::workspace;

/// Calls a second of all hosts together: more than half of what the server can answer, so that
/// four tries of each are far more.
pub const RATE: f64 = 75.0;

/// The file that all hosts read.
pub const POLICY: &str = "examples/demo/policy.json";

/// With stormproof, or with the loop that people write without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By the policy.
    With,
    /// Four tries, 100 ms apart, each of at most 1 s.
    Without,
}

impl Way {
    /// What the table and the page call it.
    pub fn title(self) -> &'static str {
        match self {
            Self::With => "with stormproof",
            Self::Without => "without",
        }
    }
}

/// A run that goes on.
pub struct Run {
    /// How its hosts call.
    pub way: Way,
    /// What was heard so far.
    pub record: Record,
    /// Ports and control.
    pub server: Server,
    hosts: Vec<Host>,
    first: usize,
    alive: bool,
}

struct Host {
    child: Child,
    ready: bool,
    over: bool,
}

impl Run {
    /// Starts server and hosts, which wait for their cue. Their numbers begin with `first`.
    pub fn open(
        way: Way,
        scenario: &Scenario,
        names: &[String],
        first: usize,
        ears: &Sender<Heard>,
    ) -> Result<Self> {
        let server = Server::start(&scenario.path)?;
        let (mut hosts, mut tracks) = (Vec::new(), Vec::new());
        for (place, name) in names.iter().enumerate() {
            let mut command = cast::command(name);
            command.arg("--url").arg(server.url());
            command.arg("--policy").arg(workspace::path(POLICY));
            command.args(["--host-name", name, "--start-with-stdin"]);
            command.arg("--rate").arg((RATE / names.len() as f64).to_string());
            command.arg("--seconds").arg((scenario.end_ms() as f64 / 1e3).to_string());
            if way == Way::Without {
                command.arg("--naive");
            }
            let child = Child::spawn(&mut command, first + place, ears)?;
            hosts.push(Host { child, ready: false, over: false });
            tracks.push(Track { name: name.clone(), ..Track::default() });
        }
        let record = Record { tracks, requests: Requests::default() };
        Ok(Self { way, record, server, hosts, first, alive: true })
    }

    /// Takes a line of one of our hosts.
    pub fn on_heard(&mut self, heard: &Heard) {
        let Some(place) = heard.from.checked_sub(self.first) else { return };
        let Some(host) = self.hosts.get_mut(place) else { return };
        let track = &mut self.record.tracks[place];
        match heard.line.as_deref().map(serde_json::from_str::<Line>) {
            Some(Ok(line)) => track.lines.push(line),
            Some(Err(_)) => host.ready = true,
            None => {
                host.over = true;
                track.failure = host.child.failure();
            }
        }
    }

    /// Do all hosts wait for their cue? A dead one never will.
    pub fn is_ready(&self) -> bool {
        self.hosts.iter().all(|host| host.ready || host.over)
    }

    /// Have all hosts ended?
    pub fn is_over(&self) -> bool {
        self.hosts.iter().all(|host| host.over)
    }

    /// The scenario's time and the hosts' begin together.
    pub fn start(&mut self) -> Result<()> {
        self.server.post("/_/start", "")?;
        for host in self.hosts.iter_mut().filter(|host| !host.over) {
            host.child.cue()?;
        }
        Ok(())
    }

    /// Asks the server what it has seen. A server that was killed keeps what it has told.
    pub fn look(&mut self) {
        if !self.alive {
            return;
        }
        if let Ok(timeline) = self.server.get("/_/timeline") {
            self.record.requests = Requests::of(&timeline);
        }
    }

    /// Ends the server as a crash would.
    pub fn kill_server(&mut self) {
        self.look();
        self.server.kill();
        self.alive = false;
    }

    /// Is the server still there?
    pub fn is_served(&self) -> bool {
        self.alive
    }

    /// Requests in the newest whole second.
    pub fn requests_now(&self, t_ms: u64) -> u64 {
        self.record.requests.between(t_ms.saturating_sub(1_100), t_ms.saturating_sub(100))
    }

    /// The most requests in a second.
    pub fn peak(&self) -> u64 {
        figures::peak(&self.record.requests)
    }
}
