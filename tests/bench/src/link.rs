//! A link to a server with a delay, such as one to a database on another machine.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, UnixStream};
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Size of what is read at once, in bytes.
const CHUNK: usize = 64 << 10;

/// Listens on a free port, writes it to the file `ready`, and connects each client to the socket of a server until the process
/// ends. Each answer of the server is `delay` late, whatever follows it, so a round trip takes that much longer.
pub async fn serve(server: PathBuf, delay: Duration, ready: &Path) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    std::fs::write(ready, port.to_string()).unwrap_or_else(|error| panic!("{}: {error}", ready.display()));
    loop {
        let (client, _) = listener.accept().await.expect("a connection");
        client.set_nodelay(true).expect("a connection without delay of its own");
        // A client whose server is gone notices that its connection is closed.
        let Ok(server) = UnixStream::connect(&server).await else { continue };
        let (from_client, to_client) = client.into_split();
        let (from_server, to_server) = server.into_split();
        tokio::spawn(forward(from_client, to_server, Duration::ZERO));
        tokio::spawn(forward(from_server, to_client, delay));
    }
}

/// Copies everything, each part with the same delay.
async fn forward(
    mut from: impl AsyncRead + Unpin + Send + 'static,
    mut to: impl AsyncWrite + Unpin,
    delay: Duration,
) {
    let (sender, mut parts) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut buffer = vec![0; CHUNK];
        while let Ok(length @ 1..) = from.read(&mut buffer).await {
            if sender.send((Instant::now() + delay, buffer[..length].to_vec())).is_err() {
                return;
            }
        }
    });
    while let Some((due, part)) = parts.recv().await {
        tokio::time::sleep_until(due).await;
        if to.write_all(&part).await.is_err() {
            return;
        }
    }
    // The other side has closed the connection, or is closed now.
    drop(to.shutdown().await);
}

#[cfg(test)]
mod tests {
    use tokio::net::{TcpStream, UnixListener};

    use super::*;

    #[tokio::test]
    async fn answers_arrive_whole_and_late() {
        let folder = tempfile::tempdir().unwrap();
        let (socket, ready) = (folder.path().join("server"), folder.path().join("ready"));
        let server = UnixListener::bind(&socket).unwrap();
        let delay = Duration::from_millis(20);
        let waits = ready.clone();
        tokio::spawn(async move { serve(socket, delay, &waits).await });
        while std::fs::read_to_string(&ready).unwrap_or_default().is_empty() {
            tokio::task::yield_now().await;
        }
        let port: u16 = std::fs::read_to_string(&ready).unwrap().parse().unwrap();
        let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
        let (mut answering, _) = server.accept().await.unwrap();
        let begun = Instant::now();
        client.write_all(b"ping").await.unwrap();
        let mut question = [0; 4];
        answering.read_exact(&mut question).await.unwrap();
        let answer = vec![7; 3 * CHUNK];
        answering.write_all(&answer).await.unwrap();
        drop(answering);
        let mut received = Vec::new();
        client.read_to_end(&mut received).await.unwrap();
        assert!(question == *b"ping" && received == answer);
        assert!(begun.elapsed() >= delay);
    }
}
