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

pub(crate) use self::file::{BeforeRestore, KnownLog, KnownLogs};
use crate::clock::now_millis;
use crate::files::{self, FileError};
use crate::text::{clean, date_time, entries};

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

/// A comparison. Its requests are sent while no other one is made.
pub(crate) struct Comparison<'w> {
    path: Option<&'w Path>,
    compared: MutexGuard<'w, BTreeMap<OrganizationId, Instant>>,
    organization: OrganizationId,
    /// The known log of the organization, or the one that the daemon probably states.
    known: Option<KnownLog>,
    /// Whether the organization is known to be in that log.
    is_of_organization: bool,
    is_repeated: bool,
}

/// What follows from an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compared {
    Done,
    /// Another log is known that the daemon states: its proof must be requested.
    Repeat,
}

impl Witness {
    /// Creates a witness with this file of known checkpoints.
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path: Some(path), compared: Mutex::default() }
    }

    /// Begins the comparison for an organization.
    pub(crate) async fn begin(&self, organization: OrganizationId) -> Result<Comparison<'_>, WitnessError> {
        let compared = self.compared.lock().await;
        let path = self.path.as_deref();
        let logs = path.map(KnownLogs::load).transpose().map_err(|error| file(&error))?.unwrap_or_default();
        let own = logs.of(organization);
        let is_of_organization = own.is_some();
        let known = own.or_else(|| logs.newest()).cloned();
        Ok(Comparison { path, compared, organization, known, is_of_organization, is_repeated: false })
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
    pub(crate) fn compare(&mut self, stated: Option<&LogCheckpoint>) -> Result<Compared, WitnessError> {
        let Some(path) = self.path else { return Ok(Compared::Done) };
        let of_organization = self.known.as_ref().filter(|_| self.is_of_organization);
        let Some(stated) = stated else {
            return match of_organization {
                None => Ok(Compared::Done),
                Some(known) => Err(WitnessError::Missing {
                    known: entries(known.checkpoint.size),
                    since: known.seen_millis,
                }),
            };
        };
        let (checkpoint, key) = stated.open().map_err(WitnessError::Invalid)?;
        let note = stated.checkpoint.clone();
        let newer = KnownLog { checkpoint, key, note, seen_millis: now_millis(), before: None };
        if let Some(known) = of_organization {
            check(self.organization, known, &newer, &stated.consistency)?;
        }
        if self.known.as_ref().is_some_and(|known| known.note == newer.note) && self.is_of_organization {
            // Nothing is stored, which a full disk would not allow.
            self.compared.insert(self.organization, Instant::now());
            return Ok(Compared::Done);
        }
        // No other process changes the file meanwhile.
        let _lock = files::lock(path).map_err(|error| file(&error))?;
        let mut logs = KnownLogs::load(path).map_err(|error| file(&error))?;
        if !self.is_of_organization {
            // Another process may have seen the organization meanwhile.
            let own = logs.of(self.organization);
            let named = own.or_else(|| logs.named(&newer.checkpoint.origin));
            let is_expected = |known: &KnownLog| {
                self.known
                    .as_ref()
                    .is_some_and(|expected| expected.checkpoint.origin == known.checkpoint.origin)
            };
            match named {
                None => {}
                Some(known) if is_expected(known) => {
                    // The proof is for what was expected.
                    let known = self.known.as_ref().unwrap_or(known);
                    check(self.organization, known, &newer, &stated.consistency)?;
                }
                Some(_) if self.is_repeated => return Err(WitnessError::Invalid(LogError::Malformed)),
                Some(known) => {
                    let is_of_organization = own.is_some();
                    (self.known, self.is_repeated) = (Some(known.clone()), true);
                    self.is_of_organization = is_of_organization;
                    return Ok(Compared::Repeat);
                }
            }
        }
        if logs.keep(self.organization, newer) {
            logs.save(path).map_err(|error| file(&error))?;
        }
        self.compared.insert(self.organization, Instant::now());
        Ok(Compared::Done)
    }
}

fn described(checkpoint: &Checkpoint) -> String {
    let size = entries(checkpoint.size);
    match checkpoint.restored() {
        None => size,
        Some(restored) => format!("{size} after the restore of {}", date_time(restored)),
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
