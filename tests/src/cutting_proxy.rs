//! A proxy between daemon and PostgreSQL that cuts a connection after the server has committed, before the daemon
//! receives the answer.

use std::io;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::OwnedReadHalf;
use tokio::net::{UnixListener, UnixStream};

/// The message of the server that a transaction is committed: `CommandComplete`, its length, and the tag.
const COMMITTED: &[u8] = b"C\0\0\0\x0bCOMMIT\0";
/// File name of the socket of a server with the default port.
const SOCKET: &str = ".s.PGSQL.5432";

/// A running proxy. It passes everything on until a test requests a cut.
pub struct CuttingProxy {
    folder: TempDir,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    cuts_next: AtomicBool,
    cuts: AtomicU32,
}

impl CuttingProxy {
    /// Listens in a folder of its own and forwards to the server with its socket in `server`.
    ///
    /// # Panics
    /// Panics if there is no folder for the socket.
    pub fn start(server: &Path) -> Self {
        let folder = tempfile::Builder::new().prefix("quorate-cut-").tempdir().expect("a temporary folder");
        let listener = UnixListener::bind(folder.path().join(SOCKET)).expect("a free path");
        let (shared, server) = (Arc::new(Shared::default()), server.join(SOCKET));
        tokio::spawn(accept(listener, server, Arc::clone(&shared)));
        Self { folder, shared }
    }

    /// Returns the URL of a database behind the proxy.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://quorate@/{database}?host={}", self.folder.path().display())
    }

    /// Cuts the connection of the next commit.
    pub fn cut_next(&self) {
        self.shared.cuts_next.store(true, Ordering::SeqCst);
    }

    /// Returns the number of connections cut so far.
    pub fn cuts(&self) -> u32 {
        self.shared.cuts.load(Ordering::SeqCst)
    }
}

async fn accept(listener: UnixListener, server: PathBuf, shared: Arc<Shared>) {
    while let Ok((client, _)) = listener.accept().await {
        // If the server is down, the client sees a closed connection.
        let Ok(server) = UnixStream::connect(&server).await else { continue };
        tokio::spawn(forward(client, server, Arc::clone(&shared)));
    }
}

async fn forward(client: UnixStream, server: UnixStream, shared: Arc<Shared>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    tokio::select! {
        _ = tokio::io::copy(&mut from_client, &mut to_server) => {}
        _ = answers(&mut from_server, &mut to_client, &shared) => {}
    }
}

async fn answers(
    server: &mut OwnedReadHalf,
    client: &mut (impl AsyncWriteExt + Unpin),
    shared: &Shared,
) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let length = server.read(&mut buffer).await?;
        let Some(answer) = buffer.get(..length).filter(|answer| !answer.is_empty()) else { return Ok(()) };
        let is_committed = answer.windows(COMMITTED.len()).any(|part| part == COMMITTED);
        if is_committed && shared.cuts_next.swap(false, Ordering::SeqCst) {
            shared.cuts.fetch_add(1, Ordering::SeqCst);
            return Ok(());
        }
        client.write_all(answer).await?;
    }
}
