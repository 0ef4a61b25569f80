//! Keep-alive connections to a server on this machine only.

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::requests::PreparedRequest;

/// Time limit of one answer.
const DEADLINE: Duration = Duration::from_secs(30);

/// Returns the host part of a base URL. Panics unless it is plain HTTP on the loopback interface.
pub fn host(base_url: &str) -> String {
    let host = base_url.strip_prefix("http://").expect("the base URL starts with http://");
    let host = host.trim_end_matches('/');
    let address: std::net::SocketAddr = host.parse().expect("the base URL holds an address and a port");
    assert!(address.ip().is_loopback(), "refusing to load {address}: only loopback addresses are allowed");
    host.to_owned()
}

/// A keep-alive connection.
pub struct Connection(SendRequest<Full<Bytes>>);

impl Connection {
    /// Connects to the server. Must be called within a local task set.
    ///
    /// # Errors
    ///
    /// Returns the cause if the connection cannot be opened.
    pub async fn open(host: &str) -> Result<Self, String> {
        let stream = TcpStream::connect(host).await.map_err(|error| error.to_string())?;
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        let (sender, connection) =
            handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
        // The sender detects the end of the connection.
        tokio::task::spawn_local(async move { drop(connection.await) });
        Ok(Self(sender))
    }

    /// Waits for the end of the last exchange and returns whether the connection accepts another request.
    pub async fn is_open(&mut self) -> bool {
        self.0.ready().await.is_ok()
    }

    /// Sends a request and returns status and body of the answer.
    ///
    /// # Errors
    ///
    /// Returns the cause if no answer arrives within the time limit.
    pub async fn call(&mut self, request: PreparedRequest) -> Result<(StatusCode, Bytes), String> {
        let exchange = async {
            let response = self.0.send_request(request).await.map_err(|error| error.to_string())?;
            let status = response.status();
            let body = response.into_body().collect().await.map_err(|error| error.to_string())?;
            Ok((status, body.to_bytes()))
        };
        tokio::time::timeout(DEADLINE, exchange).await.unwrap_or_else(|_| Err("no answer in time".to_owned()))
    }
}

/// Runs tasks on this thread only, so that the generator uses at most one processor.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    tokio::task::LocalSet::new().block_on(&runtime, future)
}

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn accepts_loopback_hosts() {
        assert_eq!(host("http://127.0.0.1:8080/"), "127.0.0.1:8080");
        assert_eq!(host("http://[::1]:8080"), "[::1]:8080");
    }

    #[test]
    #[should_panic(expected = "only loopback")]
    fn rejects_other_hosts() {
        host("http://192.0.2.1:80");
    }
}
