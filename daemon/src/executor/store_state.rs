//! Whether the store accepts writes, and the counters of commits, as the committer reports them.

use std::fmt::Display;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use quorate_core::model::Millis;

use super::Shared;
use crate::clock::now;
use crate::guard::GuardError;
use crate::store::StoreError;

/// Whether the store accepts writes, and why not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoreState {
    /// Condition of the store.
    pub condition: Condition,
    /// Start of the condition, in milliseconds since 1970.
    pub since: Millis,
    /// Error that the store or the guard reported; empty if the store accepts writes.
    pub cause: String,
}

/// The condition of the store. Reads continue unless it failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Condition {
    /// The store accepts writes.
    #[default]
    Ready,
    /// The store has too little free space.
    Full,
    /// A commit failed, and the store is being reopened.
    Failed,
    /// The store is open, but the guard file cannot be written.
    GuardFailed,
    /// Records were removed, restored from an older copy, added or damaged.
    Altered,
}

impl Condition {
    /// Returns whether a commit failed, in the store or in the guard file.
    pub const fn is_failed(self) -> bool {
        matches!(self, Self::Failed | Self::GuardFailed)
    }
}

impl StoreState {
    /// Adopts the newer cause of the same condition. The amount of missing space, for example, may have
    /// grown. Returns `false` if the condition is another one.
    pub(super) fn update_cause(&mut self, condition: Condition, cause: &str) -> bool {
        let both_failed = self.condition.is_failed() && condition.is_failed();
        if self.condition != condition && !both_failed {
            return false;
        }
        cause.clone_into(&mut self.cause);
        if condition == Condition::Failed {
            self.condition = condition;
        }
        true
    }
}

/// Counters since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    /// Batches that became durable.
    pub commits: u64,
    /// Batches that lost against another one.
    pub clashes: u64,
    /// Groups of batches, each of which became durable with one sync.
    pub groups: u64,
}

/// The state of the store and the counters, as updated by the committer.
#[derive(Default)]
pub(super) struct StoreMonitor {
    pub(super) commits: AtomicU64,
    pub(super) clashes: AtomicU64,
    pub(super) groups: AtomicU64,
    state: Mutex<StoreState>,
}

impl StoreMonitor {
    /// Returns the counters since the start.
    pub(super) fn figures(&self) -> Figures {
        let [commits, clashes, groups] =
            [&self.commits, &self.clashes, &self.groups].map(|count| count.load(Ordering::Relaxed));
        Figures { commits, clashes, groups }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, StoreState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn condition(&self) -> Condition {
        self.state().condition
    }

    /// Enters a condition and logs the transition.
    pub(super) fn enter(&self, shared: &Shared, condition: Condition, cause: impl Display) {
        let (mut state, cause) = (self.state(), cause.to_string());
        if state.update_cause(condition, &cause) {
            return;
        }
        let message = match condition {
            Condition::Ready => "the store accepts writes again",
            Condition::Full => "writes are rejected until space is freed; reads continue",
            Condition::Failed => "the store failed; it is reopened as soon as it can be written",
            Condition::GuardFailed => {
                "writes are rejected until the guard file can be written; reads continue"
            }
            Condition::Altered => "writes are rejected until the store is restored; reads continue",
        };
        if condition == Condition::Ready {
            tracing::info!("{message}");
        } else {
            tracing::error!(%cause, "{message}");
        }
        *state = StoreState { condition, since: now(), cause };
        drop(state);
        shared.state_changed();
    }

    pub(super) fn enter_failed(&self, shared: &Shared, error: &GuardError) {
        let guard_only = matches!(error, GuardError::System { .. });
        let known = match error {
            GuardError::Store(StoreError::Unavailable) => shared.barrier.store().failure(),
            _ => None,
        };
        let cause = known.unwrap_or_else(|| error.to_string());
        self.enter(shared, if guard_only { Condition::GuardFailed } else { Condition::Failed }, cause);
    }

    /// Records why the failed store could not be reopened, and logs each new reason once.
    pub(super) fn stay_failed(&self, shared: &Shared, error: &GuardError) {
        let (state, cause) = (&mut *self.state(), error.to_string());
        if state.condition.is_failed() && state.cause != cause {
            tracing::error!(%cause, "the store cannot be reopened yet");
            state.cause = cause;
            shared.state_changed();
        }
    }

    /// Records that the failed store was reopened and only the guard file still fails.
    pub(super) fn enter_guard_only(&self, shared: &Shared, error: &GuardError) {
        let state = &mut *self.state();
        if state.condition.is_failed() {
            state.cause = error.to_string();
            if std::mem::replace(&mut state.condition, Condition::GuardFailed) == Condition::GuardFailed {
                return;
            }
            tracing::error!(
                cause = %state.cause,
                "the store was reopened; writes are rejected until the guard file can be written"
            );
        }
        shared.state_changed();
    }
}
