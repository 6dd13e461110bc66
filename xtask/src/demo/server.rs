//! The fault server and its control port.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::child::Child;
use crate::workspace;

const PATIENCE: Duration = Duration::from_secs(5);

/// A running server.
pub struct Server {
    child: Child,
    port: u16,
    control_port: u16,
}

impl Server {
    /// Starts one that plays the scenario in this file.
    pub fn start(scenario: &Path) -> Result<Self> {
        let (ears, heard) = mpsc::channel();
        let mut command = Command::new(workspace::target().join("debug/fault-server"));
        command.arg("--exit-with-stdin").arg("--scenario").arg(scenario);
        let mut child = Child::spawn(&mut command, 0, &ears)?;
        let line = heard.recv_timeout(PATIENCE).context("the server does not start")?.line;
        let Some(line) = line else {
            bail!("the server does not start: {}", child.failure().unwrap_or_default());
        };
        let ports: Value = serde_json::from_str(&line)?;
        let port = |name: &str| {
            let port = ports[name].as_u64().and_then(|port| u16::try_from(port).ok());
            port.with_context(|| format!("no {name} in {line}"))
        };
        Ok(Self { port: port("port")?, control_port: port("control_port")?, child })
    }

    /// Where clients find it.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Asks the control port.
    pub fn get(&self, path: &str) -> Result<Value> {
        self.ask("GET", path, "")
    }

    /// Orders something at the control port.
    pub fn post(&self, path: &str, body: &str) -> Result<Value> {
        self.ask("POST", path, body)
    }

    /// Ends it as a crash would.
    pub fn kill(&mut self) {
        self.child.kill();
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> Result<Value> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.control_port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: demo\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        match answer.split_once("\r\n\r\n") {
            Some((head, body)) if head.starts_with("HTTP/1.1 200") => {
                Ok(serde_json::from_str(body)?)
            }
            _ => bail!("{method} {path}: {answer}"),
        }
    }
}
