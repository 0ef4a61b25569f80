//! The figures of the daemon: what it did since its start, what waits, and what it uses. They come from the same
//! counters as `/metrics`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::DaemonStatus;
use crate::wire::Timestamp;

/// Figures of the daemon. Counters start at zero with the daemon.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// Version, mode, start, clock and store state.
    pub status: DaemonStatus,
    /// Id of the boot of the daemon's host; equal to that of another process if both run on the same host.
    pub boot_id: Option<String>,
    /// Time by which the clock of the daemon's host is behind the newest recorded time, in milliseconds.
    pub clock_behind_millis: u64,
    /// Answered requests.
    pub requests: RequestFigures,
    /// Open connections of all listeners.
    pub connections: u64,
    /// Connections closed at once.
    pub connections_refused: u64,
    /// Requests without a valid stamp.
    pub stamps_refused: u64,
    /// Uses of a passkey whose signature counter went back.
    pub passkey_counters_went_back: u64,
    /// Requests rejected because of a limit, by its key in `[limits]`.
    pub limits_reached: BTreeMap<String, u64>,
    /// Durable commits.
    pub commits: u64,
    /// Commits that lost against another one, and were decided again.
    #[serde(default)]
    pub clashes: u64,
    /// Syncs of the store; each covers a group of commits.
    pub syncs: u64,
    /// Webhook deliveries by outcome.
    pub deliveries: BTreeMap<String, u64>,
    /// Webhook deliveries that wait.
    pub webhooks: QueueFigures,
    /// Mails that wait.
    pub mail: QueueFigures,
    /// SMS that wait.
    pub sms: QueueFigures,
    /// Space that the files of the store use, in bytes; absent if it cannot be determined.
    pub store_bytes: Option<u64>,
    /// Free space on the file system of the store, in bytes; absent if it cannot be determined.
    pub disk_free_bytes: Option<u64>,
    /// Size of the file system of the store, in bytes; absent if it cannot be determined.
    pub disk_bytes: Option<u64>,
    /// Space that stays free on the file system of the store: with less, writes are rejected.
    pub reserve_bytes: u64,
    /// Resident memory of the daemon, in bytes; absent if it cannot be determined.
    pub memory_bytes: Option<u64>,
    /// Memory of the daemon's host, in bytes; absent if it cannot be determined.
    pub host_memory_bytes: Option<u64>,
    /// Warnings about the configuration of the daemon.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// Answered requests, and how long they took.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestFigures {
    /// Number of requests by class of their status, for example `2xx`.
    pub by_class: BTreeMap<String, u64>,
    /// Number of requests that took at most this long, by increasing time. The last bucket has no limit.
    pub latency: Vec<LatencyBucket>,
}

impl RequestFigures {
    /// Returns the number of all requests.
    pub fn total(&self) -> u64 {
        self.by_class.values().fold(0, |sum, count| sum.saturating_add(*count))
    }
}

/// A bucket of a histogram. Its count includes those of the buckets before.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LatencyBucket {
    /// Upper bound in microseconds; absent if there is none.
    pub up_to_micros: Option<u64>,
    /// Number of requests that took at most this long.
    pub count: u64,
}

/// What waits in a queue.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QueueFigures {
    /// Number of entries that wait, as far as they were counted.
    pub waiting: u64,
    /// Whether more entries wait than were counted.
    pub is_more: bool,
    /// Time of the oldest activity among the counted entries.
    pub oldest_at: Option<Timestamp>,
    /// Earliest time of the next attempt.
    pub next_at: Option<Timestamp>,
    /// Number of messages that their receiver's server did not take yet, after at least one attempt.
    pub delayed: Option<u64>,
    /// Since when the server of the channel is unavailable; absent if it was available at the last attempt.
    pub unavailable_since: Option<Timestamp>,
}
