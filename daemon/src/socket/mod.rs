//! The local socket: HTTP/1.1 for consoles and command lines on the same machine. The only room that
//! uses interprocess.
//!
//! Who may connect is decided by the kernel's word about the peer, before a byte is read. A connection
//! gives no authority beyond the console routes: every submit still needs a stamp.

pub mod group;
mod place;

#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};

use interprocess::local_socket::tokio::prelude::*;
use interprocess::local_socket::tokio::{Listener, Stream};
use interprocess::local_socket::{GenericFilePath, ListenerOptions, PeerCreds};
use interprocess::os::unix::local_socket::ListenerOptionsExt;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::door::{Door, Service};
use crate::http::limits::Limits;
use crate::http::{ACCEPT_PAUSE, Connections, Server, Versions};

/// Mode of the socket while only its owner may connect.
const OWNER_MODE: u32 = 0o600;
/// Mode of the socket when a group may connect as well.
const GROUP_MODE: u32 = 0o660;

/// Why the local socket cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// The path has no directory or no name.
    #[error("{} is no path for a socket", .0.display())]
    Path(PathBuf),
    /// The directory of the socket cannot be made or looked at.
    #[error("cannot prepare the directory {}", path.display())]
    Directory {
        /// Directory.
        path: PathBuf,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// Others could replace the socket.
    #[error("{} can be written by its group or by others, or belongs to someone else", .0.display())]
    Unsafe(PathBuf),
    /// Something that is no socket of ours stands at the path.
    #[error("{} exists and is not a socket of this user", .0.display())]
    Occupied(PathBuf),
    /// Another process answers on the socket.
    #[error("another process serves {}", .0.display())]
    InUse(PathBuf),
    /// The socket cannot be made.
    #[error("cannot serve {}", path.display())]
    Serve {
        /// Socket.
        path: PathBuf,
        /// Cause.
        #[source]
        source: io::Error,
    },
}

/// A bound local socket, not yet accepting. The file is removed when it is dropped.
pub struct SocketDoor {
    listener: Listener,
    admission: Admission,
    limits: Limits,
}

impl SocketDoor {
    /// Makes the directory if it is missing, removes a socket on which nobody answers, and binds.
    /// Members of `group` (an id) may connect beside the user who runs the daemon.
    pub async fn bind(path: &Path, group: Option<u32>, limits: Limits) -> Result<Self, SocketError> {
        let owner = rustix::process::geteuid().as_raw();
        place::prepare(path, owner, group).await?;
        let listener =
            listen(path, group).map_err(|source| SocketError::Serve { path: path.to_owned(), source })?;
        Ok(Self { listener, admission: Admission { owner, group }, limits })
    }

    /// Serves until `stop`, then lets accepted requests finish and returns.
    pub async fn run<S: Service>(self, server: Server<S>, stop: CancellationToken) {
        let connections = Connections::new(server, self.limits, Versions::One, stop.clone());
        let mut ticks = connections.ticks();
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                _ = ticks.tick() => connections.sweep(),
                accepted = self.listener.accept() => match accepted {
                    Ok(stream) => open(&connections, self.admission, stream),
                    Err(error) => {
                        tracing::warn!(%error, "cannot accept a local connection");
                        connections.make_room();
                        sleep(ACCEPT_PAUSE).await;
                    }
                },
            }
        }
        drop(self.listener);
        connections.drain().await;
    }
}

fn listen(path: &Path, group: Option<u32>) -> io::Result<Listener> {
    // The mode is set before the name exists; it is widened only once the group is the right one.
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
            tracing::warn!(%error, "refused a local connection without credentials");
            return;
        }
    };
    let Some(user_id) = admission.admits(&peer) else {
        tracing::warn!(?peer, "refused a local connection of another user");
        return;
    };
    if let Some(place) = connections.admit(None) {
        connections.spawn(place, Door::Socket { user_id }, std::future::ready(Some(stream)));
    }
}

/// The kernel's word about the other end.
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

/// Who may connect.
#[derive(Debug, Clone, Copy)]
struct Admission {
    owner: u32,
    group: Option<u32>,
}

impl Admission {
    /// The peer's user id, if the peer may connect.
    fn admits(self, peer: &Peer) -> Option<u32> {
        let user = peer.user?;
        let in_group = |group| {
            peer.group == Some(group)
                || peer.process.is_some_and(|process| group::process_has_group(process, user, group))
        };
        (user == self.owner || self.group.is_some_and(in_group)).then_some(user)
    }
}
