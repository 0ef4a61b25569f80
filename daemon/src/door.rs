//! The border between the doors (HTTP, local socket) and everything behind them: what a request is once
//! its transport is checked, and what an answer is before it is written.
//!
//! Nothing here parses a stamp or a body, and nothing here knows hyper.

use std::future::Future;
use std::net::IpAddr;

use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{HeaderValue, Method, StatusCode};
use quorate_common::fault::{Code, Fault};
use tokio::sync::mpsc;

use crate::telemetry::RequestId;

/// Operation label of an answer that belongs to no row of the catalogue.
pub const OTHER_OPERATION: &str = "other";

/// What stands behind the doors. One instance serves both.
pub trait Service: Send + Sync + 'static {
    /// Refuses a request for what its head says, whatever its body is. Only asked before a large body is received.
    fn refuse(&self, _head: &Incoming) -> Option<Answer> {
        None
    }

    /// Returns whether a request counts among those of its client. What operators ask must be answered whatever others
    /// send.
    fn counts(&self, _head: &Incoming) -> bool {
        true
    }

    /// Answers one request.
    ///
    /// The future is dropped when the client goes away or a deadline of the connection passes: work that
    /// must not stop half-way belongs into a task of its own.
    fn call(&self, incoming: Incoming) -> impl Future<Output = Answer> + Send;
}

/// A request whose transport is checked: target in origin form, body complete and within its limit.
#[derive(Debug)]
pub struct Incoming {
    /// Method.
    pub method: Method,
    /// Path and query exactly as sent; never normalised, never percent-decoded.
    pub target: PathAndQuery,
    /// The headers that authenticate.
    pub stamps: Stamps,
    /// `X-Forwarded-For`, each line as sent: what proxies say of where the request came from.
    pub forwarded: Vec<LineText>,
    /// The bytes that a stamp covers.
    pub body: Bytes,
    /// Where it came in.
    pub door: Door,
    /// Names the request in logs and in answers to faults of the daemon.
    pub request_id: RequestId,
}

impl Incoming {
    /// Path as sent, from the first `/` to the `?`.
    pub fn path(&self) -> &str {
        self.target.path()
    }

    /// Query as sent, without the `?`; empty when there is none.
    pub fn query(&self) -> &str {
        self.target.query().unwrap_or_default()
    }
}

/// The door of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// TCP, with or without TLS.
    Http {
        /// The other end of the connection. A reverse proxy in front shows its own address here.
        address: IpAddr,
    },
    /// The local socket; only peers that the operator admitted get this far.
    Socket {
        /// Effective user id of the peer, as the kernel tells it.
        user_id: u32,
    },
}

impl Door {
    /// Whether the console routes exist behind this door.
    pub const fn serves_console(self) -> bool {
        matches!(self, Self::Socket { .. })
    }
}

/// The headers that authenticate a request, one field for each.
#[derive(Debug, Clone, Default)]
pub struct Stamps {
    /// `X-Stamp`: API key.
    pub stamp: Line,
    /// `X-Stamp-WebAuthn`: passkey.
    pub webauthn: Line,
    /// `X-Stamp-Attested`: proof of a login.
    pub attested: Line,
    /// `X-Session`: a session, for reading only.
    pub session: Line,
}

/// A header that may stand at most once.
#[derive(Debug, Clone, Default)]
pub enum Line {
    /// Not sent.
    #[default]
    Absent,
    /// Sent once.
    Once(LineText),
    /// Sent more than once, with the same value or another one. Neither counts.
    Repeated,
}

impl Line {
    /// A header that stands once with this value; refuses what is not visible ASCII.
    pub fn once(value: HeaderValue) -> Option<Self> {
        LineText::new(value).map(Self::Once)
    }
}

/// A header value of visible ASCII.
#[derive(Clone)]
pub struct LineText(HeaderValue);

impl LineText {
    /// A value; none if it is not visible ASCII.
    pub fn new(value: HeaderValue) -> Option<Self> {
        let visible = value.as_bytes().iter().all(|byte| matches!(byte, b' '..=b'~'));
        visible.then_some(Self(value))
    }

    /// The value.
    pub fn as_str(&self) -> &str {
        // The bytes were checked when the value was made, so the default is never taken.
        std::str::from_utf8(self.0.as_bytes()).unwrap_or_default()
    }
}

impl std::fmt::Debug for LineText {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A session header is a bearer token: its value stays out of logs.
        write!(formatter, "LineText({} bytes)", self.0.len())
    }
}

/// An answer before it is written.
#[derive(Debug)]
pub struct Answer {
    /// HTTP status.
    pub status: StatusCode,
    /// Body and its type.
    pub content: Content,
    /// Value of `Cache-Control`, if one is sent.
    pub cache: Option<&'static str>,
    /// Row of the catalogue that answered, for metrics. Never text from a request.
    pub operation: &'static str,
    /// Key in `[limits]` of the limit for which the request was refused, for metrics.
    pub limit: Option<&'static str>,
}

/// Body of an answer.
#[derive(Debug)]
pub enum Content {
    /// Sent as exactly `application/json`.
    Json(Bytes),
    /// Metrics in the `OpenMetrics` text form.
    Metrics(Bytes),
    /// Server-sent events (WHATWG HTML §9.2), each item one or more whole events. The stream ends when
    /// the sender is dropped or the daemon stops.
    Events(mpsc::Receiver<Bytes>),
    /// No body.
    Empty,
}

impl Answer {
    /// A JSON answer.
    pub fn json(status: StatusCode, body: impl Into<Bytes>) -> Self {
        let content = Content::Json(body.into());
        Self { status, content, cache: None, operation: OTHER_OPERATION, limit: None }
    }

    /// A JSON answer with status 200.
    pub fn ok(body: impl Into<Bytes>) -> Self {
        Self::json(StatusCode::OK, body)
    }

    /// A fault with the status that belongs to its code.
    pub fn fault(fault: &Fault) -> Self {
        let status = StatusCode::from_u16(fault.code.http_status());
        Self::fault_as(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), fault)
    }

    /// A fault with a status of its own, where HTTP has a more precise one than the code.
    pub fn fault_as(status: StatusCode, fault: &Fault) -> Self {
        Self { limit: fault.limit, ..Self::json(status, fault.body()) }
    }

    /// No such path: 404.
    pub fn not_found() -> Self {
        Self::fault(&Fault::new(Code::NotFound, "Not Found"))
    }

    /// The path exists for another method: 501.
    pub fn wrong_method() -> Self {
        Self::fault(&Fault::new(Code::Unimplemented, "Method Not Allowed"))
    }

    /// A stream of server-sent events.
    pub fn events(events: mpsc::Receiver<Bytes>) -> Self {
        Self {
            status: StatusCode::OK,
            content: Content::Events(events),
            cache: Some("no-store"),
            operation: OTHER_OPERATION,
            limit: None,
        }
    }

    /// Names the row of the catalogue that answered.
    #[must_use]
    pub fn of(mut self, operation: &'static str) -> Self {
        self.operation = operation;
        self
    }

    /// Sets `Cache-Control`.
    #[must_use]
    pub fn cached(mut self, cache: &'static str) -> Self {
        self.cache = Some(cache);
        self
    }
}
