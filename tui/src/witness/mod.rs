//! Keeps the newest checkpoint of each activity log that a daemon stated, and notices a daemon that states an earlier state, or
//! another history, than before.

mod file;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use quorate_common::activity_log::{Checkpoint, LogError};
use quorate_common::console::activity_log::LogCheckpoint;
use quorate_common::ids::OrganizationId;
use tokio::sync::{Mutex, MutexGuard};

pub(crate) use self::file::{KnownLog, KnownLogs};
use crate::clock::now_millis;
use crate::files::FileError;
use crate::text::{clean, counted, date_time, entries};

/// Time for which a checkpoint of an organization is not requested again.
const RECENT: Duration = Duration::from_secs(5);

/// Why nothing that a daemon states is used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum WitnessError {
    #[error(
        "the daemon states an activity log of {stated}, but {known} were known {}: its store was put back to an earlier \
         state, and what it states was not used. Ask its operator; see `quorate log accept --help`",
        date_time(*since)
    )]
    Older { stated: String, known: String, since: u64 },
    #[error(
        "the activity log that the daemon states does not begin with the {known} that were known {}: its store was \
         replaced, and what it states was not used. Ask its operator; see `quorate log accept --help`",
        date_time(*since)
    )]
    Contradiction { known: String, since: u64 },
    #[error(
        "the daemon states no activity log, but {known} were known {}: what it states was not used. Ask its operator; see \
         `quorate log accept --help`",
        date_time(*since)
    )]
    Missing { known: String, since: u64 },
    #[error(
        "organization {organization} was in the activity log {known}, and the daemon states it in {stated}: it is another \
         store, and what it states was not used. Ask its operator; see `quorate log accept --help`"
    )]
    OtherLog { organization: OrganizationId, known: String, stated: String },
    #[error("the checkpoint of the activity log is not valid: {0}")]
    Invalid(LogError),
    #[error("{0}")]
    File(String),
}

/// Compares what a daemon states with the known checkpoints, one answer after another: answers may overtake each other.
#[derive(Debug, Default)]
pub(crate) struct Witness {
    /// File of the known checkpoints; without one, nothing is compared.
    path: Option<PathBuf>,
    /// When the checkpoint of each organization was last compared.
    compared: Mutex<BTreeMap<OrganizationId, Instant>>,
}

/// A comparison. Its request is sent while no other one is made.
pub(crate) struct Comparison<'w> {
    path: Option<&'w Path>,
    compared: MutexGuard<'w, BTreeMap<OrganizationId, Instant>>,
    organization: OrganizationId,
    known: Option<KnownLog>,
}

impl Witness {
    /// Creates a witness with this file of known checkpoints.
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path: Some(path), compared: Mutex::default() }
    }

    /// Begins the comparison for an organization.
    pub(crate) async fn begin(&self, organization: OrganizationId) -> Result<Comparison<'_>, WitnessError> {
        let compared = self.compared.lock().await;
        let known = match &self.path {
            Some(path) => KnownLogs::load(path).map_err(|error| file(&error))?.of(organization).cloned(),
            None => None,
        };
        Ok(Comparison { path: self.path.as_deref(), compared, organization, known })
    }
}

impl Comparison<'_> {
    /// Returns whether nothing was compared a moment ago.
    pub(crate) fn is_due(&self) -> bool {
        let recent = self.compared.get(&self.organization).is_some_and(|at| at.elapsed() < RECENT);
        self.path.is_some() && !recent
    }

    /// Returns the number of entries that are known; zero if nothing is known.
    pub(crate) fn known_size(&self) -> u64 {
        self.known.as_ref().map_or(0, |known| known.checkpoint.size)
    }

    /// Compares the stated checkpoint with the known one, and keeps it if it is newer. `stated` is `None` if the daemon states
    /// none.
    ///
    /// # Errors
    /// If it contradicts what is known, or the known checkpoints cannot be read or written.
    pub(crate) fn end(mut self, stated: Option<&LogCheckpoint>) -> Result<(), WitnessError> {
        let Some(path) = self.path else { return Ok(()) };
        match (&self.known, stated) {
            (None, None) => {}
            (Some(known), None) => {
                let (known, since) = (entries(known.checkpoint.size), known.seen_millis);
                return Err(WitnessError::Missing { known, since });
            }
            (known, Some(stated)) => {
                let (checkpoint, key) = stated.open().map_err(WitnessError::Invalid)?;
                let note = stated.checkpoint.clone();
                let newer = KnownLog { checkpoint, key, note, seen_millis: now_millis() };
                if let Some(known) = known {
                    check(self.organization, known, &newer, &stated.consistency)?;
                }
                // Another process may have kept a newer one.
                let mut known_logs = KnownLogs::load(path).map_err(|error| file(&error))?;
                if known_logs.keep(self.organization, newer) {
                    known_logs.save(path).map_err(|error| file(&error))?;
                }
            }
        }
        self.compared.insert(self.organization, Instant::now());
        Ok(())
    }
}

fn described(checkpoint: &Checkpoint) -> String {
    let size = entries(checkpoint.size);
    if checkpoint.epoch == 0 {
        size
    } else {
        format!("{size} after {}", counted(checkpoint.epoch.into(), "restore"))
    }
}

fn check(
    organization: OrganizationId,
    known: &KnownLog,
    stated: &KnownLog,
    proof: &[String],
) -> Result<(), WitnessError> {
    if known.key != stated.key {
        let (known, stated) = (clean(&known.key.to_string()), clean(&stated.key.to_string()));
        return Err(WitnessError::OtherLog { organization, known, stated });
    }
    let since = known.seen_millis;
    known.checkpoint.check_successor(&stated.checkpoint, proof).map_err(|error| match error {
        LogError::Older => WitnessError::Older {
            stated: described(&stated.checkpoint),
            known: described(&known.checkpoint),
            since,
        },
        LogError::Contradiction => {
            WitnessError::Contradiction { known: entries(known.checkpoint.size), since }
        }
        other => WitnessError::Invalid(other),
    })
}

fn file(error: &FileError) -> WitnessError {
    WitnessError::File(error.to_string())
}

#[cfg(test)]
mod tests;
