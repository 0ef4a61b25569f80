//! Calls of sled, and descriptions of its errors.

use super::StoreError;
use crate::store::panics::caught;

/// Calls sled and converts errors and panics.
pub(super) fn guarded<T>(
    doing: &'static str,
    call: impl FnOnce() -> sled::Result<T>,
) -> Result<T, StoreError> {
    caught(doing, || call().map_err(|error| failed(doing, &error)))
}

/// Converts an error of sled.
pub(super) fn failed(doing: &'static str, error: &sled::Error) -> StoreError {
    StoreError::Failed { doing, cause: cause(error) }
}

/// Describes an error of sled, without details for sled's developers.
pub(super) fn cause(error: &sled::Error) -> String {
    match error {
        sled::Error::Corruption { at: Some(at), .. } => format!("damaged data at {at:?} of the log"),
        sled::Error::Corruption { at: None, .. } => "damaged data".to_owned(),
        other => other.to_string(),
    }
}
