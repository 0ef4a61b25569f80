//! Descriptions of the errors of redb.

use std::io;

use redb::{DatabaseError, StorageError};

use crate::store::StoreError;

/// Converts an error of a call.
pub(super) fn failed(doing: &'static str, error: impl Into<redb::Error>) -> StoreError {
    let cause = match error.into() {
        redb::Error::Corrupted(_) => "damaged data".to_owned(),
        redb::Error::Io(error) => error.to_string(),
        redb::Error::PreviousIo => "an earlier call of the disk failed".to_owned(),
        other => other.to_string(),
    };
    StoreError::Failed { doing, cause }
}

/// Returns whether a call of the disk failed. redb then makes no more calls.
pub(super) const fn is_of_disk(error: &StorageError) -> bool {
    matches!(error, StorageError::Io(_) | StorageError::PreviousIo)
}

/// Why a file could not be opened.
pub(super) enum OpenError {
    /// Another process has it open.
    InUse,
    /// The file is missing.
    Missing,
    /// A call of the operating system failed.
    System(io::Error),
    /// Another version of redb wrote it; its format has this number.
    Version(u8),
    /// It is damaged or no store.
    Damaged(String),
}

impl From<DatabaseError> for OpenError {
    fn from(error: DatabaseError) -> Self {
        match error {
            DatabaseError::DatabaseAlreadyOpen => Self::InUse,
            DatabaseError::UpgradeRequired(version) => Self::Version(version),
            // An I/O error without an error number of the system is redb's own verdict on the file.
            DatabaseError::Storage(StorageError::Io(error)) if error.raw_os_error().is_some() => {
                Self::System(error)
            }
            other => Self::Damaged(other.to_string()),
        }
    }
}
