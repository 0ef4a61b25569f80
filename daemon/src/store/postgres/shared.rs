//! What the tasks of connections change, and why the store failed.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

use tokio::sync::Notify;

use super::durability::Durability;
use super::primary::Primary;
use crate::store::{FailureCallback, NoticeCallback};

/// What the tasks of connections change.
#[derive(Default)]
pub(super) struct Shared {
    /// Whether a connection has ended since the store was opened.
    pub(super) failed: AtomicBool,
    /// The first cause since the store was opened, if a task reported it.
    cause: Mutex<Option<String>>,
    /// Whether the process is ending.
    pub(super) is_closed: AtomicBool,
    /// Number of times that all connections were replaced.
    pub(super) generation: AtomicU64,
    /// How durable commits are on the server, as it was read last.
    pub(super) durability: Mutex<Durability>,
    /// Time from the last commit of another daemon to its effect here, in milliseconds, plus 1; 0 before the first.
    notice_lag: AtomicU64,
    /// The newest primary that was seen or used.
    newest: Mutex<Option<Primary>>,
    /// Number of hosts in the URL.
    pub(super) hosts: usize,
    pub(super) on_failure: Mutex<Option<FailureCallback>>,
    pub(super) on_notice: RwLock<Option<NoticeCallback>>,
    /// Notified when a group with a notice was committed.
    pub(super) bell: Notify,
}

impl Shared {
    pub(super) fn new(hosts: usize) -> Self {
        Self { hosts, ..Self::default() }
    }

    /// Rejects all calls until the store was reopened.
    pub(super) fn fail(&self, cause: String) {
        self.cause.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(cause);
        self.failed.store(true, Ordering::Release);
        if let Some(callback) = &*self.on_failure.lock().unwrap_or_else(PoisonError::into_inner) {
            callback();
        }
    }

    /// Returns why the store failed, if a task reported it.
    pub(super) fn failure(&self) -> Option<String> {
        self.cause.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Accepts calls again.
    pub(super) fn recovered(&self) {
        *self.cause.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.failed.store(false, Ordering::Release);
    }

    /// Records how long after its commit a notice of another daemon was applied, in milliseconds.
    pub(super) fn noticed_after(&self, millis: i64) {
        // The clock of the server may be set back.
        let millis = u64::try_from(millis).unwrap_or_default();
        self.notice_lag.store(millis.saturating_add(1), Ordering::Relaxed);
    }

    /// Returns how long after its commit the last notice of another daemon was applied, in milliseconds.
    pub(super) fn notice_lag(&self) -> Option<u64> {
        self.notice_lag.load(Ordering::Relaxed).checked_sub(1)
    }

    /// Remembers a primary. Returns `false` if one that was seen before has replaced it: it is not used again, whatever else fails.
    pub(super) fn accepts(&self, primary: Primary) -> bool {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        let is_replaced = newest.is_some_and(|newest| newest.has_replaced(&primary));
        if !is_replaced {
            *newest = Some(primary);
        }
        !is_replaced
    }

    /// Returns whether the server waits for a standby with each commit.
    pub(super) fn waits_for_standby(&self) -> bool {
        self.durability.lock().unwrap_or_else(PoisonError::into_inner).waits_for_standby()
    }

    /// Keeps how durable commits are, as it was read last.
    pub(super) fn set_durability(&self, durability: Durability) {
        let mut last = self.durability.lock().unwrap_or_else(PoisonError::into_inner);
        durability.log_change(&last);
        *last = durability;
    }
}
