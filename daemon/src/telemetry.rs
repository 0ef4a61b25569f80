//! Telemetry of the daemon: log lines on standard error, request ids, spans and metrics.
//!
//! It never contains a body, a stamp or a secret. Labels of metrics are from bounded sets and contain no ids.

mod figures;
mod log;
mod metrics;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use quorate_common::api_error::ApiError;
use quorate_core::limits::BODY_AGE_MILLIS;
use tracing::Span;

pub use self::figures::Figures;
pub use self::log::{LogFormat, start};
pub use self::metrics::{MessageStep, Metrics};
use crate::clock;
use crate::rate::RateLimiter;

/// Maximum number of causes that are logged within a minute.
const CAUSES: u32 = 60;

/// Id of a request, unique within the process and practically unique across processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestId {
    process: u64,
    number: u64,
}

impl RequestId {
    /// Returns the next id.
    pub fn next() -> Self {
        static PROCESS: OnceLock<u64> = OnceLock::new();
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let process = *PROCESS.get_or_init(|| getrandom::u64().unwrap_or_default());
        Self { process, number: NUMBER.fetch_add(1, Ordering::Relaxed) }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}-{:08x}", self.process, self.number)
    }
}

/// Returns the span of one request. The code that serves the request records `operation` and `organization`.
pub fn request_span(id: RequestId) -> Span {
    tracing::info_span!(
        "request",
        request_id = %id,
        operation = tracing::field::Empty,
        organization = tracing::field::Empty,
    )
}

/// Logs the cause of an error that its client does not learn. Anybody can cause such errors, so the number of lines is
/// limited.
pub(crate) fn log_cause(error: &ApiError) {
    static LINES: LazyLock<RateLimiter<()>> = LazyLock::new(|| RateLimiter::new(CAUSES, 60_000));
    if let Some(cause) = error.cause.as_deref().filter(|_| LINES.take((), clock::now())) {
        tracing::info!(cause, "{}", error.message);
    }
}

/// Readiness of the daemon, as reported by `/readyz`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Readiness {
    /// The daemon does not accept requests yet.
    #[default]
    Starting,
    /// The daemon waits for shares that open the store.
    Sealed,
    /// The daemon is ready.
    Ready,
    /// The store has too little free space.
    StoreFull,
    /// The store is being reopened after a failure.
    StoreFailed,
    /// The database of the store cannot be reached or used.
    DatabaseFailed,
    /// The guard file cannot be written.
    GuardFailed,
    /// Records of the store were altered.
    StoreAltered,
    /// The system clock is so far behind the newest recorded time that all requests are too old.
    ClockBehind,
    /// The daemon received the stop signal.
    Stopping,
}

impl Readiness {
    /// Returns the reason why the daemon is not ready.
    pub const fn problem(self) -> Option<&'static str> {
        match self {
            Self::Ready => None,
            Self::Starting => Some("starting"),
            Self::Sealed => Some("the daemon is sealed"),
            Self::StoreFull => Some("the file system of the store is full"),
            Self::StoreFailed => Some("the store failed and is being reopened"),
            Self::DatabaseFailed => Some("the database of the store cannot be reached or used"),
            Self::GuardFailed => Some("the guard file of the store cannot be written"),
            Self::StoreAltered => Some("records of the store were altered or damaged"),
            Self::ClockBehind => Some(
                "the system clock is more than one hour behind the newest recorded time, so all requests are \
                 too old; correct the clock, or run 'quorated accept-clock'",
            ),
            Self::Stopping => Some("stopping"),
        }
    }
}

/// The readiness of a daemon; clones share it.
#[derive(Debug, Clone, Default)]
pub struct SharedReadiness(Arc<Mutex<Readiness>>);

impl SharedReadiness {
    /// Sets the readiness for all clones.
    pub fn set(&self, readiness: Readiness) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = readiness;
    }

    /// Returns the current readiness.
    pub fn get(&self) -> Readiness {
        let readiness = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let requests_are_too_old = clock::behind() > BODY_AGE_MILLIS;
        if readiness == Readiness::Ready && requests_are_too_old { Readiness::ClockBehind } else { readiness }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_ids_differ() {
        assert_ne!(RequestId::next(), RequestId::next());
        assert_eq!(RequestId::next().to_string().len(), 25);
    }
}
