//! Child processes: echoed, without stdin, in a group of their own that ends with them.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Group of the child that runs now, 0 for none.
static RUNNING: AtomicI32 = AtomicI32::new(0);

/// A signal has come and its thread is ending the process.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Runs a command whose output goes to the terminal.
pub fn run(command: &mut Command) -> Result<()> {
    echo(command);
    finish(Group::spawn(command)?, command)
}

/// Runs a command whose stdout goes to the terminal and is returned as well.
pub fn tee(command: &mut Command) -> Result<String> {
    copied(command, std::io::stdout())
}

/// Runs a command whose stdout is returned and not shown.
pub fn capture(command: &mut Command) -> Result<String> {
    copied(command, std::io::sink())
}

fn copied(command: &mut Command, to: impl Write + Send + 'static) -> Result<String> {
    echo(command);
    let mut group = Group::spawn(command.stdout(Stdio::piped()))?;
    let stdout = group.child.stdout.take().context("stdout is piped")?;
    let reader = std::thread::spawn(move || copy(stdout, to));
    let result = finish(group, command);
    let text = reader.join().expect("copying does not panic");
    result.map(|()| text)
}

/// The stdout of a command that prints little, trimmed; nothing is echoed.
pub fn read(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run {}", words(command)))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!("{} failed: {}", words(command), stderr.trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// A child is in a group of its own, which the terminal's Ctrl-C does not reach: pass the end on.
pub fn stop_children_on_signals() {
    let mut signals =
        Signals::new([SIGHUP, SIGINT, SIGTERM]).expect("these signals can be handled");
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            ENDING.store(true, Ordering::SeqCst);
            if let Some(group) = Pid::from_raw(RUNNING.load(Ordering::SeqCst)) {
                let _ = kill_process_group(group, Signal::KILL);
            }
            std::process::exit(128 + signal);
        }
    });
}

struct Group {
    child: Child,
    pid: Pid,
}

impl Group {
    fn spawn(command: &mut Command) -> Result<Self> {
        let child = command
            .stdin(Stdio::null())
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot run {}", words(command)))?;
        let pid = Pid::from_child(&child);
        RUNNING.store(pid.as_raw_nonzero().get(), Ordering::SeqCst);
        Ok(Self { child, pid })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Before the child is reaped, so that its number still names this group.
        let _ = kill_process_group(self.pid, Signal::KILL);
        RUNNING.store(0, Ordering::SeqCst);
        let _ = self.child.wait();
    }
}

fn finish(mut group: Group, command: &Command) -> Result<()> {
    // What the child left behind would hold its stdout open: end it before the child is reaped.
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while let Err(error) = waitid(WaitId::Pid(group.pid), options) {
        if error != rustix::io::Errno::INTR {
            return Err(error).context("cannot wait for a child");
        }
    }
    while ENDING.load(Ordering::SeqCst) {
        // The exit code is the signal's to give, not that of the child which it has killed.
        std::thread::park();
    }
    let _ = kill_process_group(group.pid, Signal::KILL);
    let status = group.child.wait()?;
    RUNNING.store(0, Ordering::SeqCst);
    std::mem::forget(group);
    if !status.success() {
        bail!("{} ended with {status}", program(command));
    }
    Ok(())
}

fn copy(mut from: impl Read, mut to: impl Write) -> String {
    let mut bytes = Vec::new();
    let mut chunk = [0; 8192];
    while let Ok(length @ 1..) = from.read(&mut chunk) {
        let _ = to.write_all(&chunk[..length]);
        let _ = to.flush();
        bytes.extend_from_slice(&chunk[..length]);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn echo(command: &Command) {
    let root = crate::workspace::root();
    match command.get_current_dir() {
        Some(folder) if folder != root => {
            let folder = folder.strip_prefix(&root).unwrap_or(folder);
            println!("$ (cd {} && {})", folder.display(), words(command));
        }
        _ => {
            let inside = format!("{}/", root.display());
            println!("$ {}", words(command).replace(&inside, ""));
        }
    }
}

fn words(command: &Command) -> String {
    let mut words: Vec<String> = command
        .get_envs()
        .filter_map(|(name, value)| {
            let value = quoted(&value?.to_string_lossy());
            Some(format!("{}={value}", name.to_string_lossy()))
        })
        .collect();
    words.push(program(command));
    words.extend(command.get_args().map(|word| quoted(&word.to_string_lossy())));
    words.join(" ")
}

fn program(command: &Command) -> String {
    quoted(&command.get_program().to_string_lossy())
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@+%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
