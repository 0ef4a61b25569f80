//! The errors of the guard, with what the operator can do.

use std::io;
use std::path::PathBuf;

use quorate_core::error::Corrupt;
use quorate_core::model::Millis;

use crate::clock;
use crate::journal::JournalError;
use crate::store::StoreError;

/// Last part of the errors for which a loss can be accepted.
const ACCEPT_LOSS: &str = "; to continue with the present store, run 'quorated accept-loss'";

/// Describes the time up to which a store has changes. Other daemons may have continued with it after it lost some.
fn end_of_store(time: Option<Millis>, guard_time: Millis) -> String {
    match time {
        None => "it has no acknowledged change".to_owned(),
        Some(time) if time > guard_time => {
            format!("another daemon has continued without them, until {}", clock::text(time))
        }
        Some(time) => format!("it ends at {}", clock::text(time)),
    }
}

/// Describes how many commits are missing.
fn later_commits(missing: u64) -> String {
    if missing == 1 { "1 later commit is".to_owned() } else { format!("{missing} later commits are") }
}

/// Describes how a daemon continues with the store as it is, which others may be serving.
fn remedy(time: Option<Millis>, guard_time: Millis) -> &'static str {
    if time.is_some_and(|time| time > guard_time) {
        "; to continue with the present store, stop all its daemons and run 'quorated accept-loss' for this one, or move \
         its data directory away and run 'quorated join'"
    } else {
        ACCEPT_LOSS
    }
}

/// An error of the guard: the store does not match its guard file, or one of the two cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum GuardError {
    /// The store is older than its guard file.
    #[error(
        "the store lost acknowledged changes: {}, and at least {} missing (the guard file {} was last written at {}); \
         restore a backup that ends later{}",
        end_of_store(*.store_time, *.guard_time), later_commits(*.missing), .file.display(),
        clock::text(*.guard_time), remedy(*.store_time, *.guard_time)
    )]
    Lost {
        /// Path of the guard file.
        file: PathBuf,
        /// Time of the newest group in the store, of any daemon, if it has one.
        store_time: Option<Millis>,
        /// Newest time in the guard file.
        guard_time: Millis,
        /// Number of groups that the guard file has seen and the store does not have.
        missing: u64,
    },
    /// The store and its guard file have different histories.
    #[error(
        "the store does not match the guard file {}: it is another store, or an older copy; restore the \
         store or the guard file so that they match{ACCEPT_LOSS}", .0.display()
    )]
    Mismatch(PathBuf),
    /// Another process has committed as this daemon.
    #[error(
        "another process has continued as the daemon of the guard file {}, such as one with a copy of its data directory: \
         end that process, and restart this daemon",
        .0.display()
    )]
    Continued(PathBuf),
    /// The records of the store are not the ones that the daemon wrote.
    #[error(
        "records of the store were removed, put back, added or damaged, by a malfunction or by someone with \
         write access to the disk; 'quorated verify' lists those that it can identify; restore the newest \
         backup, or run 'quorated accept-loss' to continue with the present records"
    )]
    Altered,
    /// There is a guard file, but the store is empty.
    #[error(
        "the store is empty; check that its disk is mounted, or restore the store from a backup; to create a \
         new store, move the data directory and the guard file away"
    )]
    Empty,
    /// The guard file is missing.
    #[error(
        "the guard file {} is missing, so it is unknown whether the store is complete; put the \
         same file back if it was moved, but not a copy from a backup{ACCEPT_LOSS}",
        .0.display()
    )]
    Missing(PathBuf),
    /// The guard file of a daemon on a shared store is missing.
    #[error(
        "the guard file {} is missing; if this daemon is new on the database, run 'quorated join'; if not, put the \
         same file back if it was moved, but not a copy from a backup{ACCEPT_LOSS}",
        .0.display()
    )]
    MissingOnShared(PathBuf),
    /// The directory for the guard file of a new store is missing.
    #[error("the directory {} of the guard file does not exist; create it with mode 0700", .0.display())]
    NoDirectory(PathBuf),
    /// There is a guard file, but no store.
    #[error(
        "the guard file {} belongs to a store that is not in {}; restore that store, or move the guard file \
         away to create a new store", .file.display(), .folder.display()
    )]
    NoStore {
        /// Path of the guard file.
        file: PathBuf,
        /// Directory of the store.
        folder: PathBuf,
    },
    /// The contents of the guard file are invalid.
    #[error(
        "the guard file {} is damaged or belongs to another store; restore the right one{ACCEPT_LOSS}",
        .0.display()
    )]
    Damaged(PathBuf),
    /// The guard file cannot be read or written.
    #[error("guard file {}: {source}", .file.display())]
    System {
        /// Path of the guard file.
        file: PathBuf,
        /// I/O error of the operating system.
        source: io::Error,
    },
    /// The guard's records in the store cannot be read.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl GuardError {
    /// Returns whether the store could not be read, so that nothing is known about its records.
    #[must_use]
    pub const fn is_of_store(&self) -> bool {
        matches!(self, Self::Store(_) | Self::Corrupt(Corrupt::Store(_) | Corrupt::Unavailable))
    }
}
