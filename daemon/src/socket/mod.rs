//! The local socket: HTTP/1.1 for the console and the command line on the same machine. Only this module uses
//! interprocess.
//!
//! The kernel's credentials of the peer decide who may connect, before a byte is read. A connection grants no
//! authority beyond the console routes: each submitted request still needs a stamp.

mod directory;
pub mod group;

#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};

use interprocess::local_socket::tokio::prelude::*;
use interprocess::local_socket::tokio::{Listener as LocalListener, Stream};
use interprocess::local_socket::{GenericFilePath, ListenerOptions, PeerCreds};
use interprocess::os::unix::local_socket::ListenerOptionsExt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::http::limits::Limits;
use crate::http::{Connections, Server, Versions};
use crate::listener::{Listener, Service};

/// Mode of the socket if only its owner may connect.
const OWNER_MODE: u32 = 0o600;
/// Mode of the socket if a group may connect as well.
const GROUP_MODE: u32 = 0o660;

/// An error that prevents serving the local socket.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// The path has no directory or no file name.
    #[error("socket path {}: must have a directory and a file name", .0.display())]
    Path(PathBuf),
    /// The directory of the socket cannot be created or read.
    #[error("cannot create or read the directory {} of the socket", path.display())]
    Directory {
        /// Path of the directory.
        path: PathBuf,
        /// I/O error of the operating system.
        #[source]
        source: io::Error,
    },
    /// Other users could replace the socket.
    #[error("directory {}: must belong to this user or root and must not be writable by others", .0.display())]
    Unsafe(PathBuf),
    /// The path exists and is not a socket of this user.
    #[error("{} exists and is not a socket of this user", .0.display())]
    Occupied(PathBuf),
    /// Another process serves the socket.
    #[error("another process is serving the socket {}", .0.display())]
    InUse(PathBuf),
    /// The socket cannot be created.
    #[error("cannot listen on the socket {}", path.display())]
    Serve {
        /// Path of the socket.
        path: PathBuf,
        /// I/O error of the operating system.
        #[source]
        source: io::Error,
    },
}

/// A bound local socket that does not accept connections yet. The file is removed when it is dropped.
pub struct SocketListener {
    listener: LocalListener,
    admission: Admission,
    limits: Limits,
}

impl SocketListener {
    /// Creates the directory if it is missing, removes a socket that no process serves, and binds. Members of
    /// `group` (an id) may connect besides the user who runs the daemon.
    ///
    /// # Errors
    /// Returns [`SocketError`] if the path is unusable or unsafe, or another process serves it.
    pub async fn bind(path: &Path, group: Option<u32>, limits: Limits) -> Result<Self, SocketError> {
        let owner = rustix::process::geteuid().as_raw();
        directory::prepare(path, owner, group).await?;
        let listener =
            listen(path, group).map_err(|source| SocketError::Serve { path: path.to_owned(), source })?;
        Ok(Self { listener, admission: Admission { owner, group }, limits })
    }

    /// Serves until `stop`, then closes the listener, waits for the accepted requests and returns.
    pub async fn run<S: Service>(self, server: Server<S>, stop: CancellationToken) {
        let Self { listener, admission, limits } = self;
        serve(async move || listener.accept().await, admission, limits, server, stop).await;
    }

    /// Serves until `stop`, then waits for the accepted requests and returns. Clients that connect afterwards wait until
    /// the listener serves again or is dropped.
    pub async fn run_until<S: Service>(&self, server: Server<S>, stop: CancellationToken) {
        let accept = async || self.listener.accept().await;
        serve(accept, self.admission, self.limits.clone(), server, stop).await;
    }
}

async fn serve<S: Service>(
    accept: impl AsyncFn() -> io::Result<Stream>,
    admission: Admission,
    limits: Limits,
    server: Server<S>,
    stop: CancellationToken,
) {
    let connections = Connections::new(server, limits, Versions::Http1, stop);
    let open = |connections: &Connections<S>, stream: Stream| open(connections, admission, stream);
    connections.serve(accept, open).await;
}

/// Connects to the socket of a daemon on this machine.
///
/// # Errors
/// Returns an I/O error if no daemon listens.
pub async fn connect(path: &Path) -> io::Result<impl AsyncRead + AsyncWrite + Unpin + Send + 'static> {
    Stream::connect(path.to_fs_name::<GenericFilePath>()?).await
}

fn listen(path: &Path, group: Option<u32>) -> io::Result<LocalListener> {
    // The mode is set before the file exists. It is extended only after the group is set.
    let listener =
        ListenerOptions::new().name(path.to_fs_name::<GenericFilePath>()?).mode(OWNER_MODE).create_tokio()?;
    if let Some(group) = group {
        std::os::unix::fs::chown(path, None, Some(group))?;
        rustix::fs::chmod(path, rustix::fs::Mode::from_raw_mode(GROUP_MODE))?;
    }
    Ok(listener)
}

fn open<S: Service>(connections: &Connections<S>, admission: Admission, stream: Stream) {
    let peer = match stream.peer_creds() {
        Ok(peer) => Peer::of(&peer),
        Err(error) => {
            tracing::warn!(%error, "rejected a local connection without peer credentials");
            return;
        }
    };
    let Some(user_id) = admission.admits(&peer) else {
        tracing::warn!(?peer, "rejected a local connection of a user who may not connect");
        return;
    };
    if let Some(admission) = connections.admit(None) {
        connections.spawn(admission, Listener::Socket { user_id }, std::future::ready(Some(stream)));
    }
}

/// The peer's credentials, as reported by the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Peer {
    user: Option<u32>,
    group: Option<u32>,
    process: Option<i32>,
}

impl Peer {
    fn of(credentials: &PeerCreds) -> Self {
        Self { user: credentials.euid(), group: credentials.egid(), process: credentials.pid() }
    }
}

/// The rule that decides who may connect.
#[derive(Debug, Clone, Copy)]
struct Admission {
    owner: u32,
    group: Option<u32>,
}

impl Admission {
    /// Returns the user id of the peer, if it may connect.
    fn admits(self, peer: &Peer) -> Option<u32> {
        let user = peer.user?;
        let in_group = |group| {
            peer.group == Some(group)
                || peer.process.is_some_and(|process| group::process_has_group(process, user, group))
        };
        (user == self.owner || self.group.is_some_and(in_group)).then_some(user)
    }
}
