//! The interface between the listeners (HTTP, local socket) and the service: requests with checked transport,
//! and answers before they are written.
//!
//! This module parses neither stamps nor bodies, and does not know hyper.

use std::future::Future;
use std::net::IpAddr;

use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{HeaderValue, Method, StatusCode};
use quorate_common::api_error::{ApiError, Code};
use quorate_core::authn::Credentials;
use tokio::sync::mpsc;

use crate::telemetry::RequestId;

/// Metrics label of an answer that belongs to no operation of the catalog.
pub const OTHER_OPERATION: &str = "other";

/// The service behind the listeners. One instance serves both.
pub trait Service: Send + Sync + 'static {
    /// Rejects a request because of its head, whatever its body is. Called only before a large body is
    /// received.
    fn reject(&self, _head: &Incoming) -> Option<Answer> {
        None
    }

    /// Returns which web pages may read the answers below a path. `origin` is the web origin of the request, if it
    /// names one.
    fn sharing(&self, _path: &str, _origin: Option<&HeaderValue>) -> Sharing {
        Sharing::Everyone
    }

    /// Returns whether a request counts towards the limits of its client. Requests of operators do not count,
    /// because they must be answered under any load.
    fn counts(&self, _head: &Incoming) -> bool {
        true
    }

    /// Answers one request.
    ///
    /// The future is dropped when the client disconnects or a deadline of the connection passes. Work that
    /// must not stop half-way must run in a task of its own.
    fn call(&self, incoming: Incoming) -> impl Future<Output = Answer> + Send;
}

/// The web pages that may read an answer (WHATWG Fetch, CORS protocol).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sharing {
    /// Pages of every origin.
    Everyone,
    /// Pages of this origin.
    Origin(HeaderValue),
    /// No pages. A request that names an origin is rejected.
    Nobody,
}

/// A request with checked transport: the target is in origin form, the body is complete and within its limit.
pub struct Incoming {
    /// HTTP method.
    pub method: Method,
    /// Path and query exactly as sent, neither normalized nor percent-decoded.
    pub target: PathAndQuery,
    /// Headers that authenticate the request, and its source address.
    pub credentials: Credentials,
    /// Value of `If-None-Match`, if it was sent.
    pub entity_tags: Option<HeaderValue>,
    /// Body, which is the data that a stamp signs.
    pub body: Bytes,
    /// Header `X-Auth-Proxy-Config-ID`, if it was sent.
    pub proxy_config: Option<String>,
    /// Listener that received the request.
    pub listener: Listener,
    /// Id of the request in logs and in answers to internal errors.
    pub request_id: RequestId,
}

impl Incoming {
    /// Returns the path as sent, up to the `?`.
    pub fn path(&self) -> &str {
        self.target.path()
    }

    /// Returns the query as sent, without the `?`; empty if the target has no query.
    pub fn query(&self) -> &str {
        self.target.query().unwrap_or_default()
    }
}

/// The listener that received a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listener {
    /// TCP, with or without TLS.
    Http {
        /// Remote address of the connection. Behind a reverse proxy, this is the proxy.
        address: IpAddr,
    },
    /// The local socket, which only admitted peers can use.
    Socket {
        /// Effective user id of the peer, as reported by the kernel.
        user_id: u32,
    },
}

impl Listener {
    /// Returns whether the peer is the user who runs the daemon, or root.
    pub fn is_owner(self) -> bool {
        let owner = rustix::process::geteuid().as_raw();
        matches!(self, Self::Socket { user_id } if user_id == owner || user_id == 0)
    }

    /// Returns whether this listener serves the console routes.
    pub const fn serves_console(self) -> bool {
        matches!(self, Self::Socket { .. })
    }
}

/// An answer before it is written.
#[derive(Debug)]
pub struct Answer {
    /// Status code.
    pub status: StatusCode,
    /// Body and its content type.
    pub content: Content,
    /// Value of `Cache-Control`, if one is sent.
    pub cache: Option<&'static str>,
    /// Operation of the catalog, for metrics. Never contains text of a request.
    pub operation: &'static str,
    /// Key in `[limits]` of the limit that rejected the request, for metrics.
    pub limit: Option<&'static str>,
}

/// Body of an answer.
#[derive(Debug)]
pub enum Content {
    /// Sent as exactly `application/json`.
    Json(Bytes),
    /// Metrics in the `OpenMetrics` text format.
    Metrics(Bytes),
    /// Server-sent events (WHATWG HTML §9.2). Each item is one or more complete events. The stream ends when
    /// the sender is dropped or the daemon stops.
    Events(mpsc::Receiver<Bytes>),
    /// A backup, in parts. It is incomplete if the sender was dropped before its end.
    Backup(mpsc::Receiver<Bytes>),
    /// A file of the pages, sent with headers that restrict what it may load and who may embed it.
    Page(Box<PageFile>),
    /// No body.
    Empty,
}

/// A file of the pages for browsers.
#[derive(Debug, Clone)]
pub struct PageFile {
    /// Value of `Content-Type`.
    pub kind: HeaderValue,
    /// Contents.
    pub bytes: Bytes,
    /// Value of `ETag`.
    pub tag: HeaderValue,
}

impl Answer {
    /// Creates a JSON answer.
    pub fn json(status: StatusCode, body: impl Into<Bytes>) -> Self {
        let content = Content::Json(body.into());
        Self { status, content, cache: None, operation: OTHER_OPERATION, limit: None }
    }

    /// Creates a JSON answer with status 200.
    pub fn ok(body: impl Into<Bytes>) -> Self {
        Self::json(StatusCode::OK, body)
    }

    /// Creates an error answer with the HTTP status of its code.
    pub fn error(error: &ApiError) -> Self {
        let status = StatusCode::from_u16(error.code.http_status());
        Self::error_as(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), error)
    }

    /// Creates an error answer with another HTTP status, where one is more precise than that of the code.
    pub fn error_as(status: StatusCode, error: &ApiError) -> Self {
        Self { limit: error.limit, ..Self::json(status, error.body()) }
    }

    /// Creates the answer for an unknown path: 404.
    pub fn not_found() -> Self {
        Self::error(&ApiError::new(Code::NotFound, "Not Found"))
    }

    /// Creates the answer for a method that the path does not support: 501.
    pub fn wrong_method() -> Self {
        Self::error(&ApiError::new(Code::Unimplemented, "Method Not Allowed"))
    }

    /// Creates a stream of server-sent events.
    pub fn events(events: mpsc::Receiver<Bytes>) -> Self {
        Self { content: Content::Events(events), ..Self::ok(Bytes::new()).cached("no-store") }
    }

    /// Creates a stream of the bytes of a backup.
    pub fn backup(parts: mpsc::Receiver<Bytes>) -> Self {
        Self { content: Content::Backup(parts), ..Self::ok(Bytes::new()).cached("no-store") }
    }

    /// Sets the operation of the catalog.
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
