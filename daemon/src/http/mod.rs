//! The HTTP listener, and the HTTP server for all listeners. Only this module serves HTTP with hyper.
//!
//! It checks transport and framing, enforces all limits and deadlines, and passes complete requests to a
//! [`Service`]. It never parses a stamp or a body and never accesses the store.

mod body;
mod connection_state;
mod connections;
mod errors;
mod exchange;
mod head;
mod head_filter;
pub mod limits;
mod request;
mod shares;
pub mod tls;

#[cfg(test)]
pub(crate) mod tests;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Resource, getrlimit};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

pub(crate) use connections::{Connections, Versions};

use self::body::Bodies;
use self::exchange::Shared;
use self::limits::{Limits, RequestLimits};
use self::shares::Shares;
use crate::listener::{Listener, Service};
use crate::source::Proxies;
use crate::telemetry::{Metrics, SharedReadiness};

/// File descriptors kept free for the store, the socket and webhooks.
const RESERVED_DESCRIPTORS: usize = 256;
/// Maximum number of connections that wait to be accepted, if the system allows it (`net.core.somaxconn`). A
/// client that is not queued tries again after one second, and again after three.
const BACKLOG: i32 = 4096;

/// State behind all listeners of a process: the service, its metrics and its readiness.
pub struct Server<S>(Arc<Shared<S>>);

impl<S> Clone for Server<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S: Service> Server<S> {
    /// Creates a server.
    pub fn new(
        service: Arc<S>,
        metrics: Metrics,
        readiness: SharedReadiness,
        proxies: Proxies,
        limits: &RequestLimits,
    ) -> Self {
        let bodies = Bodies::new(limits);
        let requests = Shares::new(
            limits.requests_in_flight_per_client,
            limits.requests_in_flight,
            limits.requests_waiting_per_client,
        );
        let answers = Shares::new(limits.answer_bytes_per_client, limits.answer_bytes, 0);
        Self(Arc::new(Shared { service, metrics, readiness, proxies, bodies, requests, answers }))
    }
}

/// A bound TCP listener that does not accept connections yet.
pub struct HttpListener {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    limits: Limits,
}

impl HttpListener {
    /// Binds to an address. Port 0 selects a free port.
    ///
    /// # Errors
    /// Returns an I/O error if the address cannot be bound.
    pub async fn bind(address: SocketAddr, tls: Option<TlsAcceptor>, mut limits: Limits) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        // The socket is listening already; this only lengthens its queue.
        rustix::net::listen(&listener, BACKLOG)?;
        limits.connections = limits.connections.min(affordable_connections());
        Ok(Self { listener, tls, limits })
    }

    /// Returns the bound address.
    ///
    /// # Errors
    /// Returns an I/O error if the address cannot be determined.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop`, then closes the listener, waits for the accepted requests and returns.
    pub async fn run<S: Service>(self, server: Server<S>, stop: CancellationToken) {
        let Self { listener, tls, limits } = self;
        serve(async move || listener.accept().await, tls, limits, server, stop).await;
    }

    /// Serves until `stop`, then waits for the accepted requests and returns. Clients that connect afterwards wait until
    /// the listener serves again or is dropped.
    pub async fn run_until<S: Service>(&self, server: Server<S>, stop: CancellationToken) {
        let accept = async || self.listener.accept().await;
        serve(accept, self.tls.clone(), self.limits.clone(), server, stop).await;
    }
}

async fn serve<S: Service>(
    accept: impl AsyncFn() -> io::Result<(TcpStream, SocketAddr)>,
    tls: Option<TlsAcceptor>,
    limits: Limits,
    server: Server<S>,
    stop: CancellationToken,
) {
    let handshake = limits.handshake;
    let connections = Connections::new(server, limits, Versions::All, stop);
    let open = |connections: &Connections<S>, (stream, peer): (TcpStream, SocketAddr)| {
        open(connections, stream, peer.ip(), tls.clone(), handshake);
    };
    connections.serve(accept, open).await;
}

fn open<S: Service>(
    connections: &Connections<S>,
    stream: TcpStream,
    address: IpAddr,
    tls: Option<TlsAcceptor>,
    handshake: Duration,
) {
    let Some(admission) = connections.admit(Some(address)) else {
        return;
    };
    // Both are optional. If they fail, the connection is about to fail anyway.
    let _ = stream.set_nodelay(true);
    let _ = rustix::net::sockopt::set_socket_keepalive(&stream, true);
    let listener = Listener::Http { address };
    match tls {
        None => connections.spawn(admission, listener, std::future::ready(Some(stream))),
        Some(tls) => connections.spawn(admission, listener, async move {
            timeout(handshake, tls.accept(stream)).await.ok()?.ok()
        }),
    }
}

/// Returns the number of connections that the process limit of file descriptors allows.
fn affordable_connections() -> usize {
    let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let descriptors = usize::try_from(descriptors).unwrap_or(usize::MAX);
    descriptors.saturating_sub(RESERVED_DESCRIPTORS).max(descriptors / 2)
}
