//! Programs that run side by side and are heard line by line.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child as Process, Command, Stdio};
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;

use anyhow::{Context, Result};

/// What was heard of the child with this number.
pub struct Heard {
    /// The number that it was given.
    pub from: usize,
    /// A line of its stdout; `None` when that has ended.
    pub line: Option<String>,
}

/// A running program. It is killed when this is dropped, and sees the end of its stdin when we die.
pub struct Child {
    process: Process,
    stderr: Option<JoinHandle<String>>,
}

impl Child {
    /// Starts the program; what it says goes to `ears` under the number `from`.
    pub fn spawn(command: &mut Command, from: usize, ears: &Sender<Heard>) -> Result<Self> {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot run {}", command.get_program().display()))?;
        let stdout = process.stdout.take().context("stdout is piped")?;
        let mut stderr = process.stderr.take().context("stderr is piped")?;
        let ears = ears.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let _ = ears.send(Heard { from, line: Some(line) });
            }
            let _ = ears.send(Heard { from, line: None });
        });
        let stderr = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = stderr.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        });
        Ok(Self { process, stderr: Some(stderr) })
    }

    /// Gives the line that a waiting child starts at.
    pub fn cue(&mut self) -> Result<()> {
        let stdin = self.process.stdin.as_mut().context("stdin is piped")?;
        stdin.write_all(b"go\n").context("a host ended before its start")
    }

    /// Ends it without a word.
    pub fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// After its stdout has ended: what went wrong, if anything.
    pub fn failure(&mut self) -> Option<String> {
        let status = self.process.wait().ok()?;
        if status.success() {
            return None;
        }
        let stderr = self.stderr.take().and_then(|stderr| stderr.join().ok()).unwrap_or_default();
        Some(format!("{status}\n{}", stderr.trim_end()))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}
