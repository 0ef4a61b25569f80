//! HTTP/1.1 client of the scenarios: over TCP or the local socket, with arbitrary bytes. Never retries,
//! because scenarios must see a lost answer.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::http::request;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;

/// Time limit of an answer. Generous, because machines that run tests are busy.
pub const TIMEOUT: Duration = Duration::from_mins(1);

/// A listener of the daemon.
#[derive(Debug, Clone)]
pub enum Listener {
    /// An HTTP listener on TCP.
    Tcp(SocketAddr),
    /// The local socket.
    Socket(PathBuf),
}

/// No answer arrived, with the cause.
#[derive(Debug)]
pub struct NoAnswer(pub String);

impl Listener {
    /// Opens a connection.
    ///
    /// # Errors
    ///
    /// Returns [`NoAnswer`] if the connection cannot be opened.
    pub async fn connect(&self) -> Result<Connection, NoAnswer> {
        match self {
            Self::Tcp(address) => {
                Connection::over(TcpStream::connect(address).await.map_err(no_answer)?).await
            }
            Self::Socket(path) => Connection::over(UnixStream::connect(path).await.map_err(no_answer)?).await,
        }
    }

    /// Sends these bytes on a new connection and reads until the daemon closes it. The bytes must request
    /// that (`Connection: close`) or be invalid enough to cause it.
    pub async fn exchange(&self, sent: &[u8]) -> String {
        match self {
            Self::Tcp(address) => {
                exchange(TcpStream::connect(address).await.expect("the daemon listens"), sent).await
            }
            Self::Socket(path) => {
                exchange(UnixStream::connect(path).await.expect("the daemon listens"), sent).await
            }
        }
    }
}

async fn exchange(mut stream: impl AsyncRead + AsyncWrite + Unpin, sent: &[u8]) -> String {
    // A daemon may reject a request and close before it has read everything.
    let _ = stream.write_all(sent).await;
    let mut answer = Vec::new();
    let read = async {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            answer.extend_from_slice(&buffer[..count]);
        }
    };
    timeout(TIMEOUT, read).await.expect("the daemon closes the connection in time");
    String::from_utf8_lossy(&answer).into_owned()
}

fn no_answer(cause: impl fmt::Display) -> NoAnswer {
    NoAnswer(cause.to_string())
}

/// A connection that carries one request at a time.
pub struct Connection {
    sender: SendRequest<Full<Bytes>>,
}

impl Connection {
    async fn over(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Result<Self, NoAnswer> {
        let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(no_answer)?;
        tokio::spawn(connection);
        Ok(Self { sender })
    }

    /// Returns whether the connection can carry another request.
    pub fn is_usable(&self) -> bool {
        self.sender.is_ready() && !self.sender.is_closed()
    }

    /// Requests an event stream, which does not end, and returns its body.
    ///
    /// # Errors
    ///
    /// Returns [`NoAnswer`] if no answer arrives.
    pub async fn stream(mut self, path: &str) -> Result<Incoming, NoAnswer> {
        let request =
            Request::builder().uri(path).header("host", "localhost").header("accept", "text/event-stream");
        let request = request.body(Full::default()).expect("a request");
        self.sender.ready().await.map_err(no_answer)?;
        let answer = self.sender.send_request(request).await.map_err(no_answer)?;
        assert_eq!(answer.status(), 200, "expected a stream from {path}");
        Ok(answer.into_body())
    }

    /// Forwards a request of another client unchanged.
    ///
    /// # Errors
    ///
    /// Returns [`NoAnswer`] if no answer arrives.
    pub async fn forward(
        mut self,
        mut head: request::Parts,
        body: Bytes,
    ) -> Result<Response<Incoming>, NoAnswer> {
        // The client library sets the length again.
        head.headers.remove("content-length");
        self.sender.ready().await.map_err(no_answer)?;
        let request = Request::from_parts(head, Full::new(body));
        self.sender.send_request(request).await.map_err(no_answer)
    }

    /// Sends a request and reads the whole answer.
    ///
    /// # Errors
    ///
    /// Returns [`NoAnswer`] if no answer arrives within [`TIMEOUT`].
    pub async fn call(
        &mut self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Reply, NoAnswer> {
        let mut request = Request::builder().method(&method).uri(path).header("host", "localhost");
        for (name, value) in headers {
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a header name");
            request = request.header(name, HeaderValue::from_str(value).expect("a header value"));
        }
        let request = request.body(Full::new(Bytes::copy_from_slice(body))).expect("a request");
        let request_line = format!("{method} {path} {}", shortened(&String::from_utf8_lossy(body)));
        let exchange = async {
            self.sender.ready().await.map_err(no_answer)?;
            let answer = self.sender.send_request(request).await.map_err(no_answer)?;
            let (head, incoming) = answer.into_parts();
            let body = incoming.collect().await.map_err(no_answer)?.to_bytes();
            Ok(Reply { request_line, status: head.status.as_u16(), headers: head.headers, body })
        };
        timeout(TIMEOUT, exchange).await.unwrap_or_else(|_| Err(no_answer("no answer in time")))
    }
}

fn shortened(text: &str) -> String {
    const LONGEST: usize = 4000;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{} ({} bytes in all)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}

/// An answer, with the request for failure messages.
#[derive(Debug, Clone)]
pub struct Reply {
    /// Method, path and body of the request.
    pub request_line: String,
    /// HTTP status.
    pub status: u16,
    /// Headers.
    pub headers: HeaderMap,
    /// Body.
    pub body: Bytes,
}

impl fmt::Display for Reply {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let body = shortened(&String::from_utf8_lossy(&self.body));
        write!(out, "\n  request:  {}\n  answer:   {} {body}\n", self.request_line, self.status)
    }
}

impl Reply {
    /// Returns the value of a header, or `None`.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Parses the body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("the answer is not JSON: {error}{self}"))
    }

    /// Asserts a successful answer, and returns its body.
    pub fn success(&self) -> Value {
        assert_eq!(self.status, 200, "expected a success{self}");
        self.json()
    }

    /// Asserts a successful answer, and returns its activity.
    pub fn activity(&self) -> Value {
        let activity = self.success()["activity"].clone();
        assert!(activity.is_object(), "expected an activity{self}");
        activity
    }

    /// Asserts the status of the activity, named without its prefix, and returns the activity.
    pub fn activity_in(&self, status: &str) -> Value {
        let activity = self.activity();
        assert_eq!(activity["status"], format!("ACTIVITY_STATUS_{status}"), "unexpected status{self}");
        activity
    }

    /// Asserts a completed activity, and returns the single member of its result.
    pub fn result(&self) -> Value {
        let activity = self.activity_in("COMPLETED");
        let result =
            activity["result"].as_object().unwrap_or_else(|| panic!("the result is not an object{self}"));
        assert_eq!(result.len(), 1, "expected one result{self}");
        result.values().next().cloned().unwrap_or_default()
    }

    /// Asserts an error in the format of the wire, and returns its message. An empty `reason` asserts that
    /// the answer has none; `*` accepts any.
    pub fn expect_error(&self, status: u16, code: i64, reason: &str) -> String {
        assert_eq!(self.status, status, "unexpected HTTP status{self}");
        assert_eq!(self.header("content-type"), Some("application/json"), "unexpected content type{self}");
        let body = self.json();
        assert_eq!(body["code"], code, "unexpected code{self}");
        assert!(body["details"].is_array(), "expected details{self}");
        if reason.is_empty() {
            assert_eq!(body.get("turnkeyErrorCode"), None, "unexpected reason{self}");
        } else if reason != "*" {
            assert_eq!(body["turnkeyErrorCode"], reason, "unexpected reason{self}");
            let has_reason = |detail: &Value| detail["turnkeyErrorCode"] == reason;
            assert!(
                body["details"].as_array().is_some_and(|details| details.iter().any(has_reason)),
                "reason not in details{self}"
            );
        }
        body["message"].as_str().unwrap_or_else(|| panic!("expected a message{self}")).to_owned()
    }
}
