//! The lines of stdin. No host outlives the one who started it.

use std::io::stdin;
use std::thread;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// What is said to this host.
pub struct Cues(UnboundedReceiver<String>);

impl Cues {
    /// Listens; the process ends with stdin.
    pub fn listen() -> Self {
        let (ears, lines) = unbounded_channel();
        thread::spawn(move || {
            for line in stdin().lines().map_while(Result::ok) {
                // Fails only when the host is about to end.
                let _ = ears.send(line);
            }
            std::process::exit(1);
        });
        Self(lines)
    }

    /// Waits for a line.
    pub async fn next(&mut self) {
        self.0.recv().await;
    }
}
