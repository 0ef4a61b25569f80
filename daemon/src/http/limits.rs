//! Every limit of a door in one place. Defaults are the product's promise; tests shorten them.

use std::time::Duration;

/// Largest request head, request line and all headers included.
pub const HEAD_BYTES: usize = 16 * 1024;
/// Largest request body.
pub const BODY_BYTES: usize = 4 * 1024 * 1024;
/// A body up to this size is read before its sender is looked at, so that the connection can go on whatever the answer.
pub const SMALL_BODY_BYTES: usize = 64 * 1024;
/// Bytes that a client may send on an HTTP/2 connection before the daemon takes them.
pub const HTTP2_WINDOW_BYTES: u32 = 128 * 1024;
/// Requests that a client may send ahead of the answers.
pub const PIPELINE_DEPTH: u32 = 16;
/// Streams of one HTTP/2 connection.
pub const STREAMS: u32 = 64;
/// Open connections of the HTTP door.
pub const HTTP_CONNECTIONS: usize = 4096;
/// Open connections of the local socket.
pub const SOCKET_CONNECTIONS: usize = 64;

/// What requests may take of the daemon at once, over all doors. A client is an address (of IPv6 a /64), as trusted
/// proxies report it; the local socket is one of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestLimits {
    /// Memory of request bodies that are received in parts, until they are answered. At least [`BODY_BYTES`].
    pub body_bytes: usize,
    /// The same for one client. At least [`BODY_BYTES`].
    pub body_bytes_per_client: usize,
    /// Memory of answers longer than [`SMALL_BODY_BYTES`] that their clients have not taken yet.
    pub answer_bytes: usize,
    /// The same for one client.
    pub answer_bytes_per_client: usize,
    /// Requests that are answered at once; further ones wait.
    pub requests_in_flight: usize,
    /// The same for one client.
    pub requests_in_flight_per_client: usize,
    /// Requests of one client that wait; further ones are refused.
    pub requests_waiting_per_client: usize,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            body_bytes: 24 * 1024 * 1024,
            body_bytes_per_client: 8 * 1024 * 1024,
            answer_bytes: 256 * 1024 * 1024,
            answer_bytes_per_client: 64 * 1024 * 1024,
            requests_in_flight: 1024,
            requests_in_flight_per_client: 64,
            // As many as connections: waiting costs less than refusing, and a client that waits sends no more.
            requests_waiting_per_client: HTTP_CONNECTIONS,
        }
    }
}

/// Deadlines and counts of one door.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Open connections; beyond it the oldest one that waits for its client makes room, and if none does the newcomer
    /// is closed.
    pub connections: usize,
    /// From the first byte of a head to its last one.
    pub head: Duration,
    /// From the head to the last byte of the body, and before it the same for memory to receive it.
    pub body: Duration,
    /// How long a request may wait until it is answered.
    pub wait: Duration,
    /// A connection without a request.
    pub idle: Duration,
    /// From the first byte that the client does not take to the whole answer.
    pub write: Duration,
    /// The TLS handshake.
    pub handshake: Duration,
    /// Accepted requests after the stop signal.
    pub drain: Duration,
    /// How often deadlines are looked at; the precision of all but the body deadline.
    pub tick: Duration,
    /// Requests per second and client address; none means no limit.
    pub requests_per_second: Option<u32>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: HTTP_CONNECTIONS,
            head: Duration::from_secs(10),
            body: Duration::from_secs(15),
            wait: Duration::from_secs(10),
            idle: Duration::from_secs(75),
            write: Duration::from_secs(30),
            handshake: Duration::from_secs(10),
            drain: Duration::from_secs(20),
            tick: Duration::from_millis(500),
            requests_per_second: None,
        }
    }
}

impl Limits {
    /// The limits of the local socket.
    pub fn socket() -> Self {
        Self { connections: SOCKET_CONNECTIONS, ..Self::default() }
    }
}
