//! Keep-alive connections to a server on this machine, and nowhere else.

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::requests::Ready;

/// How long one answer may take.
const DEADLINE: Duration = Duration::from_secs(30);

/// The host part of a base URL. Anything but plain HTTP on the loopback interface is refused.
pub fn host(base_url: &str) -> String {
    let host = base_url.strip_prefix("http://").expect("the base URL starts with http://");
    let host = host.trim_end_matches('/');
    let address: std::net::SocketAddr = host.parse().expect("the base URL holds an address and a port");
    assert!(address.ip().is_loopback(), "refusing to load {address}: only loopback addresses are allowed");
    host.to_owned()
}

/// One connection.
pub struct Connection(SendRequest<Full<Bytes>>);

impl Connection {
    /// Connects. Must be called within a local set of tasks.
    pub async fn open(host: &str) -> Result<Self, String> {
        let stream = TcpStream::connect(host).await.map_err(|error| error.to_string())?;
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        let (sender, connection) =
            handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
        // Its end is seen by the sender.
        tokio::task::spawn_local(async move { drop(connection.await) });
        Ok(Self(sender))
    }

    /// Whether the connection takes another request; waits for the end of the last exchange.
    pub async fn is_open(&mut self) -> bool {
        self.0.ready().await.is_ok()
    }

    /// One exchange.
    pub async fn call(&mut self, request: Ready) -> Result<(StatusCode, Bytes), String> {
        let exchange = async {
            let response = self.0.send_request(request).await.map_err(|error| error.to_string())?;
            let status = response.status();
            let body = response.into_body().collect().await.map_err(|error| error.to_string())?;
            Ok((status, body.to_bytes()))
        };
        tokio::time::timeout(DEADLINE, exchange).await.unwrap_or_else(|_| Err("no answer in time".to_owned()))
    }
}

/// Runs tasks on this thread only: one processor at most goes to the generator.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    tokio::task::LocalSet::new().block_on(&runtime, future)
}

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn loopback_is_taken() {
        assert_eq!(host("http://127.0.0.1:8080/"), "127.0.0.1:8080");
        assert_eq!(host("http://[::1]:8080"), "[::1]:8080");
    }

    #[test]
    #[should_panic(expected = "only loopback")]
    fn other_hosts_are_refused() {
        host("http://192.0.2.1:80");
    }
}
