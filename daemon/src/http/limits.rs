//! Every limit of a door in one place. Defaults are the product's promise; tests shorten them.

use std::time::Duration;

/// Largest request head, request line and all headers included.
pub const HEAD_BYTES: usize = 16 * 1024;
/// Largest request body.
pub const BODY_BYTES: usize = 4 * 1024 * 1024;
/// A body up to this size needs no place among the large ones.
pub const SMALL_BODY_BYTES: usize = 64 * 1024;
/// How many large bodies may be in memory at once, over all connections.
pub const LARGE_BODIES: usize = 64;
/// Requests that a client may send ahead of the answers.
pub const PIPELINE_DEPTH: u32 = 16;
/// Streams of one HTTP/2 connection.
pub const STREAMS: u32 = 64;
/// Open connections of the HTTP door.
pub const HTTP_CONNECTIONS: usize = 4096;
/// Open connections of the local socket.
pub const SOCKET_CONNECTIONS: usize = 64;

/// Deadlines and counts of one door.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Open connections; beyond it the oldest idle one makes room, and if none is idle the newcomer is closed.
    pub connections: usize,
    /// From the first byte of a head to its last one.
    pub head: Duration,
    /// From the head to the last byte of the body.
    pub body: Duration,
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
