//! The two ports, on the loopback only.

use crate::connection::{Connection, Wire};
use crate::run::Spell;
use crate::site::{Port, Site};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use socket2::{Domain, Socket, Type};
use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket};
use tokio::time::{Instant, sleep, sleep_until};

const BACKLOG: u32 = 1024;
/// How long to wait when the process has no file left for a socket, or the port is taken.
const PAUSE: Duration = Duration::from_millis(10);

/// Listens on a port of the loopback; 0 is any free one.
pub(crate) fn listen(port: u16) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(loopback(port))?;
    socket.listen(BACKLOG)
}

/// Accepts for the control surface until the server stops.
pub(crate) async fn control(site: Arc<Site>, listener: TcpListener) {
    let mut stop = site.stop.subscribe();
    tokio::select! {
        _ = stop.wait_for(|stopped| *stopped) => {}
        () = accept(&site, Port::Control, &listener) => {}
    }
}

/// Accepts as the scenario wants it: a phase that is down has no listener, and resets
/// what was open.
pub(crate) async fn faulty(site: Arc<Site>, listener: TcpListener, port: u16) {
    let mut stop = site.stop.subscribe();
    let mut runs = site.run.subscribe();
    let mut gate = Gate::Open(listener);
    loop {
        let run = Arc::clone(&runs.borrow_and_update());
        let Spell { down, until } = run.spell(Instant::now());
        gate = gate.turn(&site, port, down).await;
        tokio::select! {
            _ = stop.wait_for(|stopped| *stopped) => return,
            _ = runs.changed() => {}
            () = reached(until) => {}
            () = gate.accept(&site) => {}
        }
    }
}

/// The port that fails: listening, or only held.
enum Gate {
    Open(TcpListener),
    /// A bound socket that does not listen refuses clients, and keeps the port from
    /// being given to another process. `None` where the system has no such thing.
    Shut {
        _held: Option<Socket>,
    },
}

impl Gate {
    async fn turn(self, site: &Site, port: u16, down: bool) -> Self {
        match self {
            Self::Open(listener) if down => {
                drop(listener);
                site.connections.cut(None);
                site.run.borrow().on_down();
                Self::Shut { _held: hold(port).ok() }
            }
            Self::Shut { _held } if !down => {
                drop(_held);
                Self::Open(listen_again(port).await)
            }
            same => same,
        }
    }

    async fn accept(&self, site: &Arc<Site>) {
        match self {
            Self::Open(listener) => accept(site, Port::Fault, listener).await,
            Self::Shut { .. } => pending().await,
        }
    }
}

async fn listen_again(port: u16) -> TcpListener {
    loop {
        match listen(port) {
            Ok(listener) => return listener,
            Err(_) => sleep(PAUSE).await,
        }
    }
}

fn hold(port: u16) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.bind(&loopback(port).into())?;
    Ok(socket)
}

fn loopback(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

async fn reached(until: Option<Instant>) {
    match until {
        Some(until) => sleep_until(until).await,
        None => pending().await,
    }
}

async fn accept(site: &Arc<Site>, port: Port, listener: &TcpListener) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Fails only when the client is gone; the first read will tell.
                let _ = stream.set_nodelay(true);
                // Counted before its task runs: a cut must not miss it.
                let connection = site.connections(port).on_open(stream);
                tokio::spawn(converse(Arc::clone(site), port, connection));
            }
            Err(_) => sleep(PAUSE).await,
        }
    }
}

async fn converse(site: Arc<Site>, port: Port, connection: Arc<Connection>) {
    let service = service_fn(|request| {
        let answer = Arc::clone(&site).serve(port, Arc::clone(&connection), request);
        async move { Ok::<_, Infallible>(answer.await) }
    });
    let wire = TokioIo::new(Wire(Arc::clone(&connection)));
    let http = http1::Builder::new().timer(TokioTimer::new()).serve_connection(wire, service);
    let http = async move {
        // What went wrong with the client's HTTP, the client knows better.
        let _ = http.await;
    };
    connection.run(http).await;
    site.connections(port).on_end(connection);
}
