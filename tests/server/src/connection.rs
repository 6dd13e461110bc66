//! One accepted socket, and the ways to leave HTTP on it.
//!
//! The HTTP library reads and writes through [`Wire`]. To fail, the service leaves an
//! [`Order`]; the connection then takes the socket away from the library and carries the
//! order out on it.

use crate::raw::Part;
use socket2::SockRef;
use std::io;
use std::net::Shutdown;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

/// Long enough for a client to have read what came before the RST.
const BEFORE_RESET: Duration = Duration::from_millis(20);
/// How long a closed socket takes what the client still sends: unread bytes would turn
/// the FIN into a RST.
const LINGER: Duration = Duration::from_secs(1);

/// Raw bytes to send, and what to do after them.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) parts: Vec<Part>,
    pub(crate) ending: Ending,
}

/// How a socket ends that is no longer HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Reset,
    Close,
    /// FIN, and reading on until the client goes away.
    HalfClose,
    /// No FIN, and reading on until the client goes away.
    Silence,
}

/// A socket with its number, in order of arrival from 1.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) number: u64,
    stream: TcpStream,
    order: Mutex<Option<Order>>,
    ordered: Notify,
    cut: Notify,
}

impl Connection {
    pub(crate) fn new(number: u64, stream: TcpStream) -> Self {
        Self { number, stream, order: Mutex::default(), ordered: Notify::new(), cut: Notify::new() }
    }

    /// Leaves HTTP. The first order holds.
    pub(crate) fn on_order(&self, order: Order) {
        let mut slot = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        slot.get_or_insert(order);
        self.ordered.notify_one();
    }

    /// Resets the socket, whatever it is doing.
    pub(crate) fn on_cut(&self) {
        self.cut.notify_one();
    }

    /// Drives `http`, which owns a [`Wire`] of this connection, to its end or to an order.
    pub(crate) async fn run(&self, http: impl Future<Output = ()>) {
        let served = async {
            let left = tokio::select! {
                biased;
                () = self.ordered.notified() => true,
                () = http => false,
            };
            let order = self.order.lock().unwrap_or_else(PoisonError::into_inner).take();
            match order {
                Some(order) if left => self.carry_out(order).await,
                _ => self.close().await,
            }
        };
        tokio::select! {
            biased;
            () = self.cut.notified() => self.arm_reset(),
            () = served => {}
        }
    }

    async fn carry_out(&self, order: Order) {
        for part in &order.parts {
            if self.send_part(part).await.is_err() {
                return;
            }
        }
        match order.ending {
            Ending::Reset => {
                if !order.parts.iter().all(Part::is_empty) {
                    sleep(BEFORE_RESET).await;
                }
                self.arm_reset();
            }
            Ending::Close => self.close().await,
            Ending::HalfClose => {
                self.finish();
                self.drain().await;
            }
            Ending::Silence => self.drain().await,
        }
    }

    /// Makes the drop of the socket a RST.
    fn arm_reset(&self) {
        // A socket that is gone already needs no reset.
        let _ = SockRef::from(&self.stream).set_linger(Some(Duration::ZERO));
    }

    async fn close(&self) {
        self.finish();
        let _ = timeout(LINGER, self.drain()).await;
    }

    fn finish(&self) {
        // Fails only when the peer has gone first.
        let _ = SockRef::from(&self.stream).shutdown(Shutdown::Write);
    }

    async fn send_part(&self, part: &Part) -> io::Result<()> {
        let (pieces, pause) = part.pieces();
        for piece in pieces {
            self.send(&piece).await?;
            if pause.is_zero() {
                continue;
            }
            tokio::select! {
                () = sleep(pause) => {}
                () = self.drain() => return Err(io::ErrorKind::BrokenPipe.into()),
            }
        }
        Ok(())
    }

    async fn send(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            self.stream.writable().await?;
            match self.stream.try_write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads and forgets until the client is gone.
    async fn drain(&self) {
        let mut sink = [0; 4096];
        while self.stream.readable().await.is_ok() {
            match self.stream.try_read(&mut sink) {
                Ok(0) => return,
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => return,
                _ => {}
            }
        }
    }
}

/// The socket of a connection as the HTTP library sees it.
pub(crate) struct Wire(pub(crate) Arc<Connection>);

impl AsyncRead for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(self.0.stream.poll_read_ready(cx))?;
            match self.0.stream.try_read(buffer.initialize_unfilled()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return Poll::Ready(read.map(|count| buffer.advance(count))),
            }
        }
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.0.stream.poll_write_ready(cx))?;
            match self.0.stream.try_write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.finish();
        Poll::Ready(Ok(()))
    }
}
