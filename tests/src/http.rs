//! HTTP/1.1 as the stories need it: over TCP or the local socket, with any bytes at all. Never retries:
//! a lost answer is something that stories want to see.

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

/// How long an answer may take before a story gives up. Generous: machines that test are busy.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// Where the daemon listens.
#[derive(Debug, Clone)]
pub enum Door {
    /// TCP.
    Tcp(SocketAddr),
    /// The local socket.
    Socket(PathBuf),
}

/// No answer came.
#[derive(Debug)]
pub struct Lost(pub String);

impl Door {
    /// Opens a connection.
    pub async fn connect(&self) -> Result<Connection, Lost> {
        match self {
            Self::Tcp(address) => Connection::over(TcpStream::connect(address).await.map_err(lost)?).await,
            Self::Socket(path) => Connection::over(UnixStream::connect(path).await.map_err(lost)?).await,
        }
    }

    /// Sends these bytes on a connection of their own and reads until the daemon closes it.
    /// The bytes should ask for that (`Connection: close`), or deserve it.
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
    // A daemon that has seen enough may close before it has read everything.
    let _ = stream.write_all(sent).await;
    let mut answer = Vec::new();
    let read = async {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            answer.extend_from_slice(&buffer[..count]);
        }
    };
    timeout(PATIENCE, read).await.expect("the daemon closes the connection in time");
    String::from_utf8_lossy(&answer).into_owned()
}

fn lost(cause: impl fmt::Display) -> Lost {
    Lost(cause.to_string())
}

/// A connection that carries one request at a time.
pub struct Connection {
    sender: SendRequest<Full<Bytes>>,
}

impl Connection {
    async fn over(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Result<Self, Lost> {
        let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(lost)?;
        tokio::spawn(connection);
        Ok(Self { sender })
    }

    /// Whether it can carry another request.
    pub fn is_usable(&self) -> bool {
        self.sender.is_ready() && !self.sender.is_closed()
    }

    /// Asks for an answer that does not end, and returns its body.
    pub async fn stream(mut self, path: &str) -> Result<Incoming, Lost> {
        let request =
            Request::builder().uri(path).header("host", "localhost").header("accept", "text/event-stream");
        let request = request.body(Full::default()).expect("a request");
        self.sender.ready().await.map_err(lost)?;
        let answer = self.sender.send_request(request).await.map_err(lost)?;
        assert_eq!(answer.status(), 200, "expected a stream from {path}");
        Ok(answer.into_body())
    }

    /// Passes on a request of somebody else, as it is.
    pub async fn pass(mut self, mut head: request::Parts, body: Bytes) -> Result<Response<Incoming>, Lost> {
        // The length is said anew.
        head.headers.remove("content-length");
        self.sender.ready().await.map_err(lost)?;
        let request = Request::from_parts(head, Full::new(body));
        self.sender.send_request(request).await.map_err(lost)
    }

    /// Sends a request and reads the whole answer.
    pub async fn call(
        &mut self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Reply, Lost> {
        let mut request = Request::builder().method(&method).uri(path).header("host", "localhost");
        for (name, value) in headers {
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a header name");
            request = request.header(name, HeaderValue::from_str(value).expect("a header value"));
        }
        let request = request.body(Full::new(Bytes::copy_from_slice(body))).expect("a request");
        let asked = format!("{method} {path} {}", shortened(&String::from_utf8_lossy(body)));
        let exchange = async {
            self.sender.ready().await.map_err(lost)?;
            let answer = self.sender.send_request(request).await.map_err(lost)?;
            let (head, incoming) = answer.into_parts();
            let body = incoming.collect().await.map_err(lost)?.to_bytes();
            Ok(Reply { asked, status: head.status.as_u16(), headers: head.headers, body })
        };
        timeout(PATIENCE, exchange).await.unwrap_or_else(|_| Err(lost("no answer in time")))
    }
}

fn shortened(text: &str) -> String {
    const LONGEST: usize = 4000;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{} ({} bytes in all)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}

/// An answer, with what was asked for when a story has to complain.
#[derive(Debug, Clone)]
pub struct Reply {
    /// Method, path and body of the request.
    pub asked: String,
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
        write!(out, "\n  asked:    {}\n  answered: {} {body}\n", self.asked, self.status)
    }
}

impl Reply {
    /// A header, or nothing.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("the answer is not JSON: {error}{self}"))
    }

    /// The body of an answer that must be a success.
    pub fn success(&self) -> Value {
        assert_eq!(self.status, 200, "expected a success{self}");
        self.json()
    }

    /// The activity of a successful answer.
    pub fn activity(&self) -> Value {
        let activity = self.success()["activity"].clone();
        assert!(activity.is_object(), "expected an activity{self}");
        activity
    }

    /// The activity of an answer, in the status named without its prefix.
    pub fn activity_in(&self, status: &str) -> Value {
        let activity = self.activity();
        assert_eq!(activity["status"], format!("ACTIVITY_STATUS_{status}"), "unexpected status{self}");
        activity
    }

    /// The one member of the result of a completed activity.
    pub fn result(&self) -> Value {
        let activity = self.activity_in("COMPLETED");
        let result =
            activity["result"].as_object().unwrap_or_else(|| panic!("the result is no object{self}"));
        assert_eq!(result.len(), 1, "expected one result{self}");
        result.values().next().cloned().unwrap_or_default()
    }

    /// Asserts a refusal in the form of the wire, and returns its message. `reason` is empty where the
    /// wire defines none, and then none may be sent, and `*` where any will do.
    pub fn refusal(&self, status: u16, code: i64, reason: &str) -> String {
        assert_eq!(self.status, status, "unexpected HTTP status{self}");
        assert_eq!(self.header("content-type"), Some("application/json"), "unexpected content type{self}");
        let body = self.json();
        assert_eq!(body["code"], code, "unexpected code{self}");
        assert!(body["details"].is_array(), "expected details{self}");
        if reason.is_empty() {
            assert_eq!(body.get("turnkeyErrorCode"), None, "unexpected reason{self}");
        } else if reason != "*" {
            assert_eq!(body["turnkeyErrorCode"], reason, "unexpected reason{self}");
            let told = |detail: &Value| detail["turnkeyErrorCode"] == reason;
            assert!(
                body["details"].as_array().is_some_and(|details| details.iter().any(told)),
                "reason not in details{self}"
            );
        }
        body["message"].as_str().unwrap_or_else(|| panic!("expected a message{self}")).to_owned()
    }
}
