//! Records what is committed while a backup reads the store.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{BackupError, Entry};

/// Maximum number of bytes of changes that wait to be written.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// Time for which a backup may lag.
const PATIENCE: Duration = Duration::from_secs(30);

/// The changes of whole groups, in the order of their commits.
#[derive(Default)]
pub struct Recorder(Mutex<State>);

#[derive(Default)]
struct State {
    entries: Vec<Entry>,
    bytes: usize,
    /// When changes were taken last.
    taken: Option<Instant>,
    failure: Option<Failure>,
}

#[derive(Clone, Copy)]
enum Failure {
    Interrupted,
    TooSlow,
}

impl Recorder {
    /// Adds the changes of a durable group.
    pub fn add(&self, entries: Vec<Entry>) {
        let mut state = self.state();
        if state.failure.is_some() {
            return;
        }
        let bytes = entries.iter().map(Entry::length).sum::<usize>();
        state.bytes = state.bytes.saturating_add(bytes);
        if state.bytes > MOST_BYTES {
            *state = State { failure: Some(Failure::TooSlow), ..State::default() };
            return;
        }
        state.entries.extend(entries);
    }

    /// Records that it is unknown what was committed.
    pub fn interrupt(&self) {
        *self.state() = State { failure: Some(Failure::Interrupted), ..State::default() };
    }

    /// Returns whether the backup should catch up before more is changed than requests do. It does not if nobody reads it.
    pub fn lags(&self) -> bool {
        let state = self.state();
        state.bytes > MOST_BYTES / 8 && state.taken.is_some_and(|taken| taken.elapsed() < PATIENCE)
    }

    /// Takes the changes of all groups since the last call.
    pub(super) fn take(&self) -> Result<Vec<Entry>, BackupError> {
        let mut state = self.state();
        match state.failure {
            Some(Failure::Interrupted) => Err(BackupError::Interrupted),
            Some(Failure::TooSlow) => Err(BackupError::TooSlow),
            None => {
                let taken = Some(Instant::now());
                Ok(std::mem::replace(&mut *state, State { taken, ..State::default() }).entries)
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
