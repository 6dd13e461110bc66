//! A program that answers in lines and ends with us.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child as Process, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// A running program. It is killed when this is dropped, and sees the end of its stdin when we die.
pub struct Child {
    process: Process,
    stdin: ChildStdin,
    lines: Receiver<String>,
}

impl Child {
    /// Starts the program. Its stderr is ours.
    pub fn spawn(command: &mut Command) -> Result<Self> {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot run {}", command.get_program().display()))?;
        let stdin = process.stdin.take().context("stdin is piped")?;
        let stdout = process.stdout.take().context("stdout is piped")?;
        let (ears, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if ears.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self { process, stdin, lines })
    }

    /// Writes a line to its stdin.
    pub fn say(&mut self, word: &str) -> Result<()> {
        writeln!(self.stdin, "{word}").context("a program has ended before its time")
    }

    /// The next line of its stdout.
    pub fn hear(&mut self, patience: Duration) -> Result<String> {
        let heard = self.lines.recv_timeout(patience);
        heard.with_context(|| format!("nothing was heard for {} s", patience.as_secs()))
    }

    /// Waits for this line.
    pub fn expect(&mut self, word: &str, patience: Duration) -> Result<()> {
        match self.hear(patience)? {
            line if line == word => Ok(()),
            line => bail!("it says {line:?} instead of {word:?}"),
        }
    }

    /// SIGKILL.
    pub fn kill(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// Waits until it has ended by itself. Answers no where it goes on.
    pub fn wait(&mut self, patience: Duration) -> Result<bool> {
        let end = Instant::now() + patience;
        while Instant::now() < end {
            match self.process.try_wait()? {
                Some(status) if status.success() => return Ok(true),
                Some(status) => bail!("it ended with {status}"),
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        }
        Ok(false)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}
