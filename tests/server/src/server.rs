//! The server as a whole.

use crate::journal::Journal;
use crate::listener::{control, faulty, listen};
use crate::scenario::Scenario;
use crate::site::Site;
use std::io;
use std::sync::Arc;

/// A server that listens. It serves until its runtime ends or `POST /_/kill` comes.
pub struct Server {
    port: u16,
    control_port: u16,
    site: Arc<Site>,
}

impl Server {
    /// Listens on the loopback, on `port` (0: any) and on any port for control, and
    /// starts the clock of `scenario`. Needs a tokio runtime.
    ///
    /// # Errors
    /// When a port cannot be had.
    pub fn start(scenario: Scenario, port: u16) -> io::Result<Self> {
        Self::start_with_journal(scenario, port, None)
    }

    /// The same, and everything that the port that fails sees and replies is told to `journal`.
    ///
    /// # Errors
    /// When a port cannot be had.
    pub fn start_with_journal(
        scenario: Scenario,
        port: u16,
        journal: Option<Journal>,
    ) -> io::Result<Self> {
        let listener = listen(port)?;
        let control_listener = listen(0)?;
        let port = listener.local_addr()?.port();
        let control_port = control_listener.local_addr()?.port();
        let site = Arc::new(Site::new(scenario, journal));
        tokio::spawn(faulty(Arc::clone(&site), listener, port));
        tokio::spawn(control(Arc::clone(&site), control_listener));
        Ok(Self { port, control_port, site })
    }

    /// The port that fails. It serves `/_/` too, while it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The port that serves `/_/` alone and never closes.
    pub fn control_port(&self) -> u16 {
        self.control_port
    }

    /// Resolves after `POST /_/kill`.
    pub async fn ended(&self) {
        // The sender lives in `self`.
        let _ = self.site.ended.subscribe().wait_for(|ended| *ended).await;
    }
}
