//! Requests on a connection, and the connections to a daemon at a URL that can be used again, which saves a TLS handshake for
//! each request.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;

use super::error::{LinkError, Result};

/// Maximum size of a response body, in bytes.
const ANSWER_LIMIT: usize = 64 * 1024 * 1024;
/// Maximum number of kept connections. Pages are read ahead in parallel.
const MOST: usize = 4;

/// Time within which an answer begins on a kept connection. If the network has dropped it, nothing else shows that.
const KEPT_SECONDS: u64 = 4;

/// A connection on which requests are sent.
pub(super) type Connection = SendRequest<Full<Bytes>>;

/// Connections without a request under way, the one that was used last at the end.
#[derive(Default)]
pub(super) struct Idle(Mutex<Vec<Connection>>);

impl Idle {
    /// Returns the connection that was used last, unless the server has closed it as far as is known.
    fn take(&self) -> Option<Connection> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|one| !one.is_closed());
        kept.pop()
    }

    /// Sends a request on the connection that was used last. Returns the answer, or `None` if there is no connection or it
    /// does not answer in time. The others are then not tried: what dropped one has dropped all.
    pub(super) async fn answer(&self, request: &Request<Full<Bytes>>) -> Option<(StatusCode, Bytes)> {
        let mut connection = self.take()?;
        let begun = sent(&mut connection, request.clone());
        let Ok(begun) = tokio::time::timeout(Duration::from_secs(KEPT_SECONDS), begun).await else {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
            return None;
        };
        let (status, body) = begun.ok()?;
        let bytes = collect(body).await.ok()?;
        self.keep(connection);
        Some((status, bytes))
    }

    /// Keeps a connection whose answer was read to its end.
    pub(super) fn keep(&self, connection: Connection) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < MOST && !connection.is_closed() {
            kept.push(connection);
        }
    }
}

/// Sends a request, and returns status and body of the answer.
pub(super) async fn sent(
    connection: &mut Connection,
    request: Request<Full<Bytes>>,
) -> Result<(StatusCode, Incoming)> {
    connection.ready().await.map_err(|error| lost(&error))?;
    let response = connection.send_request(request).await.map_err(|error| lost(&error))?;
    Ok((response.status(), response.into_body()))
}

/// Sends a request, and reads the answer to its end.
pub(super) async fn answered(
    connection: &mut Connection,
    request: Request<Full<Bytes>>,
) -> Result<(StatusCode, Bytes)> {
    let (status, body) = sent(connection, request).await?;
    Ok((status, collect(body).await?))
}

/// Reads the body of an answer to its end.
pub(super) async fn collect(body: Incoming) -> Result<Bytes> {
    let whole = Limited::new(body, ANSWER_LIMIT).collect().await;
    whole.map(http_body_util::Collected::to_bytes).map_err(|error| LinkError::Lost(error.to_string()))
}

/// Returns the error of a connection that broke.
pub(super) fn lost(error: &hyper::Error) -> LinkError {
    LinkError::Lost(error.to_string())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use std::io::Read;
    use std::sync::Arc;

    use quorate_common::ids::OrganizationId;
    use quorate_common::stamp::{Scheme, Stamp};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    use super::super::tls::Trust;
    use super::super::{Client, LinkError, Reader};

    /// Listens on loopback, and answers each connection as often as stated, the last one never. Returns the client of it.
    async fn server(answers: &'static [usize]) -> Client {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = client(&listener);
        tokio::spawn(async move {
            for count in answers {
                let (mut stream, _) = listener.accept().await.unwrap();
                for _ in 0..*count {
                    answer(&mut stream).await;
                }
            }
        });
        client
    }

    /// Returns the client of a server.
    fn client(listener: &TcpListener) -> Client {
        let url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
        Client::remote(
            url,
            &Trust::System,
            Some(OrganizationId::from_bytes([7; 16])),
            Some(Arc::new(Anybody)),
        )
        .unwrap()
    }

    /// A key that stamps nothing that would verify.
    struct Anybody;

    impl Reader for Anybody {
        fn stamp(&self, _body: &str) -> Result<Stamp, String> {
            Ok(Stamp { public_key: "02".to_owned(), scheme: Scheme::P256, signature: "30".to_owned() })
        }

        fn lock(&self) {}

        fn open(&self) {}
    }

    async fn read(client: &Client) -> Result<(), LinkError> {
        client.read::<u8>("/console/v1/status").await.map(|view| assert_eq!(view, 1))
    }

    /// Reads a request, and answers it.
    async fn answer(stream: &mut TcpStream) {
        let mut request = [0; 4096];
        let mut end = 0;
        while !request[..end].ends_with(b"}") {
            end += stream.read(&mut request[end..]).await.unwrap();
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{\"view\":1}").await.unwrap();
    }

    /// As when a NAT forgets connections, or a machine sleeps.
    #[tokio::test]
    async fn kept_connections_that_were_dropped_without_a_word_cost_one_short_wait() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = client(&listener);
        let silent = tokio::spawn(async move {
            let mut kept = Vec::new();
            for _ in 0..3 {
                kept.push(listener.accept().await.unwrap().0);
            }
            // Answered once all requests have begun, so that each has a connection of its own.
            for stream in &mut kept {
                answer(stream).await;
            }
            (listener, kept)
        });
        let read_at_once = tokio::join!(read(&client), read(&client), read(&client));
        assert_eq!(read_at_once, (Ok(()), Ok(()), Ok(())));
        let (listener, kept) = silent.await.unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            for _ in 0..3 {
                answer(&mut stream).await;
            }
        });
        for _ in 0..3 {
            read(&client).await.unwrap();
        }
        // A stream that was tried has another request.
        let tried = kept.into_iter().filter_map(|stream| {
            let mut stream = stream.into_std().unwrap();
            stream.set_nonblocking(true).unwrap();
            stream.read(&mut [0; 16]).ok().filter(|length| *length > 0)
        });
        assert_eq!(tried.count(), 1);
    }

    #[tokio::test]
    async fn one_connection_serves_all_requests() {
        let client = server(&[5]).await;
        for _ in 0..5 {
            read(&client).await.unwrap();
        }
        assert!(read(&client).await.unwrap_err().is_transport(), "nobody listens anymore");
    }

    #[tokio::test]
    async fn a_request_that_a_closed_connection_did_not_answer_is_sent_again() {
        let client = server(&[2, 1, 1, 3]).await;
        for _ in 0..7 {
            read(&client).await.unwrap();
        }
    }
}
