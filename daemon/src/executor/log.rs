//! Appends what was committed to the activity log.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use base64ct::{Base64, Encoding};
use quorate_common::console::activity_log::LogStatus;
use quorate_core::activity_log::{self, Log};
use quorate_core::budget::Cancellation;
use quorate_core::error::Corrupt;
use quorate_core::model::layout::log;
use quorate_core::model::write::Write;
use quorate_core::world::{Page, Records};

use super::committer::CommitError;
use super::effects::Effects;
use super::{Executor, Shared};
use crate::clock::now;
use crate::fail_points;
use crate::store::Batch;

/// Maximum number of groups whose entries are appended at once.
const GROUPS: usize = 256;
/// Number of entries after which no further group is appended at once.
const ENTRIES: usize = 8192;

/// Age up to which a checkpoint is recent.
const RECENT: Duration = Duration::from_secs(1);

/// What was appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// Everything that was committed before.
    All,
    /// A part of it.
    Some,
}

/// Why nothing was appended.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// The store does not accept it, or another daemon has appended.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// The store cannot be read.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
}

impl Executor {
    /// Appends entries that were committed to the activity log.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read or written, or another daemon appended at the same time.
    pub async fn append_to_log(&self) -> Result<Appended, AppendError> {
        let shared = Arc::clone(&self.shared);
        let prepared = tokio::task::spawn_blocking(move || shared.prepare_append()).await;
        let panicked = || Err(Corrupt::Invariant("appending to the activity log panicked").into());
        let prepared = prepared.unwrap_or_else(|_| panicked());
        let Some((batch, appended)) = prepared? else { return Ok(Appended::All) };
        fail_points::reach("log.append");
        let entries =
            batch.set.iter().zip(&batch.expect).map(|((_, new), (_, old))| new.saturating_sub(*old));
        let entries: u64 = entries.sum();
        self.committer.commit(batch, Effects::default(), None).await?;
        self.shared.appended.fetch_add(entries, Ordering::Relaxed);
        fail_points::reach("log.appended");
        Ok(appended)
    }

    /// Returns the state of the activity log.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn log_status(&self) -> Result<LogStatus, Corrupt> {
        let head = Log::read(&self.shared.barrier)?.head();
        let (entries, newest_at_millis) = head.map_or((0, 0), |head| (head.size, head.time));
        Ok(LogStatus { entries, newest_at_millis })
    }

    /// Returns the newest checkpoint of the activity log in base64, as of the last second. Returns `None` if it cannot be read.
    pub fn recent_checkpoint(&self) -> Option<String> {
        let mut recent = self.shared.checkpoint.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, checkpoint)) = recent.as_ref().filter(|(read, _)| read.elapsed() < RECENT) {
            return Some(checkpoint.clone());
        }
        let read = self.read(&Cancellation::default(), |world| activity_log::checkpoint(world, None));
        let checkpoint = Base64::encode_string(read.ok()?.checkpoint.as_bytes());
        *recent = Some((Instant::now(), checkpoint.clone()));
        Some(checkpoint)
    }

    /// Completes when entries for the activity log were committed by this daemon.
    pub async fn logged(&self) {
        self.shared.logged.notified().await;
    }
}

impl Shared {
    /// Returns the number of entries of the activity log.
    fn log_size(&self) -> Result<u64, Corrupt> {
        self.barrier.store().register(&log::size()).map_err(|error| Corrupt::from(&error))
    }

    /// Returns what appends the next entries, if there are some.
    ///
    /// # Errors
    /// Returns [`CommitError::Clash`] if another daemon has appended meanwhile, and an error if the store cannot be read.
    fn prepare_append(&self) -> Result<Option<(Batch, Appended)>, AppendError> {
        if self.is_held()? {
            return Ok(None);
        }
        // Read first: if another daemon appends after that, what follows may be appended already, and the commit clashes.
        let size = self.log_size()?;
        let waiting = self.barrier.page(Page::first(log::WAITING, GROUPS))?;
        fail_points::reach("log.page");
        let (mut entries, mut writes) = (Vec::new(), Vec::new());
        for (key, value) in &waiting {
            if entries.len() >= ENTRIES {
                break;
            }
            entries.extend(activity_log::decode_waiting(value)?);
            writes.push(Write::remove(key.clone()));
        }
        if entries.is_empty() {
            return Ok(None);
        }
        let is_all = writes.len() == waiting.len() && waiting.len() < GROUPS;
        let mut log = Log::read(&self.barrier)?;
        if log.size() != size {
            let is_appended = self.log_size()? != size;
            let clash = AppendError::Commit(CommitError::Clash);
            return Err(if is_appended { clash } else { Corrupt::Record("activity log").into() });
        }
        writes.extend(log.append(&entries, now())?);
        let batch = Batch {
            expect: vec![(log::size(), size)],
            set: vec![(log::size(), log.size())],
            writes: self.barrier.seal(writes)?,
            ..Batch::default()
        };
        Ok(Some((batch, if is_all { Appended::All } else { Appended::Some })))
    }
}
