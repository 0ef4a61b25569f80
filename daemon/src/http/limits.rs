//! All limits of a listener. The defaults apply to an installation; tests use shorter ones.

use std::time::Duration;

/// Maximum size of a request head in bytes, including the request line and all headers.
pub const HEAD_BYTES: usize = 16 * 1024;
/// Maximum size of a request body, in bytes.
pub const BODY_BYTES: usize = 4 * 1024 * 1024;
/// Maximum size, in bytes, of a body that is read before the caller is checked. The connection is then kept
/// after an error.
pub const SMALL_BODY_BYTES: usize = 64 * 1024;
/// Flow control window of an HTTP/2 connection, in bytes.
pub const HTTP2_WINDOW_BYTES: u32 = 128 * 1024;
/// Maximum number of requests that a client may send ahead of the answers.
pub const PIPELINE_DEPTH: u32 = 16;
/// Maximum number of concurrent streams of an HTTP/2 connection.
pub const STREAMS: u32 = 64;
/// Default maximum number of open connections of the HTTP listener.
pub const HTTP_CONNECTIONS: usize = 4096;
/// Maximum number of open connections of the local socket.
pub const SOCKET_CONNECTIONS: usize = 64;

/// Limits on concurrent requests and their memory, over all listeners. A client is an IP address (for IPv6, a
/// /64 network) as reported by trusted proxies, or a user of the local socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestLimits {
    /// Memory in bytes for request bodies that are received in parts, until they are answered. At least
    /// [`BODY_BYTES`].
    pub body_bytes: usize,
    /// The same for one client. At least [`BODY_BYTES`].
    pub body_bytes_per_client: usize,
    /// Memory in bytes for answers longer than [`SMALL_BODY_BYTES`] that their clients have not read yet.
    pub answer_bytes: usize,
    /// The same for one client.
    pub answer_bytes_per_client: usize,
    /// Requests that are answered concurrently; further requests wait.
    pub requests_in_flight: usize,
    /// The same for one client.
    pub requests_in_flight_per_client: usize,
    /// Requests of one client that may wait; further requests are rejected.
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
            // The same as the number of connections: waiting costs less than rejecting, and a waiting client
            // sends no more requests.
            requests_waiting_per_client: HTTP_CONNECTIONS,
        }
    }
}

/// Deadlines and counts of one listener.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Maximum number of open connections. Beyond it, the oldest connection that waits for its client is
    /// closed, or else the new one.
    pub connections: usize,
    /// Deadline from the first to the last byte of a head.
    pub head: Duration,
    /// Deadline from the head to the last byte of the body. Before that, the same time is allowed for
    /// acquiring memory.
    pub body: Duration,
    /// Maximum time that a request waits before it is processed.
    pub wait: Duration,
    /// Maximum time of a connection without a request.
    pub idle: Duration,
    /// Deadline for the whole answer, from the first byte that the client does not read.
    pub write: Duration,
    /// Deadline of the TLS handshake.
    pub handshake: Duration,
    /// Time for accepted requests to finish after the stop signal.
    pub drain: Duration,
    /// Interval of deadline checks; the precision of all deadlines except that of the body.
    pub tick: Duration,
    /// Requests per second and client address; `None` means unlimited.
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
    /// Returns the limits of the local socket.
    pub fn socket() -> Self {
        Self { connections: SOCKET_CONNECTIONS, ..Self::default() }
    }
}
