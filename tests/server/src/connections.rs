//! The sockets of one port.

use crate::connection::Connection;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::net::TcpStream;

/// The sockets that are open, by number.
#[derive(Debug, Default)]
pub(crate) struct Connections(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    open: HashMap<u64, Arc<Connection>>,
    opened: u64,
}

impl Connections {
    pub(crate) fn on_open(&self, stream: TcpStream) -> Arc<Connection> {
        let mut table = self.table();
        table.opened += 1;
        let connection = Arc::new(Connection::new(table.opened, stream));
        table.open.insert(connection.number, Arc::clone(&connection));
        connection
    }

    /// The socket closes once `connection`, now the last hold on it, is dropped here.
    pub(crate) fn on_end(&self, connection: Arc<Connection>) {
        self.table().open.remove(&connection.number);
    }

    /// Resets every socket but the one with the number `spared`.
    pub(crate) fn cut(&self, spared: Option<u64>) {
        for connection in self.table().open.values() {
            if Some(connection.number) != spared {
                connection.on_cut();
            }
        }
    }

    /// How many sockets are open, and how many ever were.
    pub(crate) fn count(&self) -> (usize, u64) {
        let table = self.table();
        (table.open.len(), table.opened)
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
