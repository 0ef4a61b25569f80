//! Appends what was committed to the activity log.

use quorate_core::activity_log::{self, Log};
use quorate_core::error::Corrupt;
use quorate_core::model::layout::{self, log};
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
        let shared = std::sync::Arc::clone(&self.shared);
        let prepared = tokio::task::spawn_blocking(move || shared.prepare_append()).await;
        let prepared = prepared.unwrap_or(Err(Corrupt::Invariant("appending to the activity log panicked")));
        let Some((batch, appended)) = prepared? else { return Ok(Appended::All) };
        fail_points::reach("log.append");
        self.committer.commit(batch, Effects::default(), None).await?;
        fail_points::reach("log.appended");
        Ok(appended)
    }

    /// Completes when entries for the activity log were committed by this daemon.
    pub async fn logged(&self) {
        self.shared.logged.notified().await;
    }
}

impl Shared {
    /// Returns what appends the next entries, if there are some.
    fn prepare_append(&self) -> Result<Option<(Batch, Appended)>, Corrupt> {
        if self.is_held()? {
            return Ok(None);
        }
        let waiting = self.barrier.page(Page::first(log::WAITING, GROUPS))?;
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
        let size = log.size();
        writes.extend(log.append(&entries, now())?);
        let batch = Batch {
            expect: vec![(layout::log::size(), size)],
            set: vec![(layout::log::size(), log.size())],
            writes: self.barrier.seal(writes)?,
            ..Batch::default()
        };
        Ok(Some((batch, if is_all { Appended::All } else { Appended::Some })))
    }
}
