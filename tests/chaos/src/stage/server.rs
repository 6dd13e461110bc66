//! The servers of one host: one after the other, on the same port.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::child::Child;

const PATIENCE: Duration = Duration::from_secs(10);

/// Below the ports that systems give to clients: a client that is refused must not find itself, and
/// nobody may take the port while its server is dead.
const PORTS: std::ops::Range<u16> = 20_000..32_000;

/// A port, and the server on it while there is one.
pub struct Servers {
    folder: PathBuf,
    port: u16,
    running: Option<Child>,
    lives: usize,
}

impl Servers {
    /// Finds a port. Scenarios and journals go to `folder`.
    pub fn new(folder: &Path) -> Result<Self> {
        let is_free = |port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
        let port = std::iter::repeat_with(|| fastrand::u16(PORTS)).take(100).find(is_free);
        let port = port.context("no port is free")?;
        Ok(Self { folder: folder.to_owned(), port, running: None, lives: 0 })
    }

    /// Where clients find it.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Starts a server that plays this scenario.
    pub fn start(&mut self, scenario: &Value) -> Result<()> {
        let file = |kind| self.folder.join(format!("server-{}.{kind}", self.lives));
        let (scenario_file, journal) = (file("json"), file("jsonl"));
        fs::write(&scenario_file, scenario.to_string())?;
        let program = std::env::current_exe()?.with_file_name("fault-server");
        let mut command = Command::new(program);
        command.args(["--exit-with-stdin", "--port", &self.port.to_string()]);
        command.arg("--scenario").arg(&scenario_file).arg("--journal").arg(&journal);
        // What the dead one's sockets hold of the port is given back within moments.
        for _ in 0..20 {
            let mut server = Child::spawn(&mut command)?;
            if server.hear(PATIENCE).is_ok() {
                self.running = Some(server);
                self.lives += 1;
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        bail!("no server starts on port {}", self.port)
    }

    /// SIGKILL.
    pub fn kill(&mut self) {
        self.running = None;
    }
}
