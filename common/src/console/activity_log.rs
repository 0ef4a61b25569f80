//! The activity log as the console reads it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::activity_log::{Checkpoint, LogError, VerifierKey};

/// State of the activity log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogStatus {
    /// Number of entries.
    pub entries: u64,
    /// Time at which the newest entry was added, in milliseconds since 1970; zero before the first one.
    pub newest_at_millis: u64,
}

/// A checkpoint of the activity log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogCheckpoint {
    /// Signed note (C2SP tlog-checkpoint).
    pub checkpoint: String,
    /// Key that verifies it (C2SP signed-note).
    pub verifier_key: String,
    /// Hashes in base64 which prove that the log begins with the entries of an earlier checkpoint, if its size was stated
    /// (RFC 6962 §2.1.2).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub consistency: Vec<String>,
}

impl LogCheckpoint {
    /// Opens the signed note with the key that is stated beside it.
    ///
    /// # Errors
    /// If the key did not sign it.
    pub fn open(&self) -> Result<(Checkpoint, VerifierKey), LogError> {
        let key: VerifierKey = self.verifier_key.parse()?;
        Ok((Checkpoint::open(&self.checkpoint, &key)?, key))
    }
}

/// An activity in the activity log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogEntry {
    /// The checkpoint that the proof leads to.
    #[serde(flatten)]
    pub checkpoint: LogCheckpoint,
    /// Whether the log has the present state of the activity.
    #[serde(flatten)]
    pub state: EntryState,
}

/// Whether the activity log has the present state of an activity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "camelCase")]
pub enum EntryState {
    /// It does.
    Included {
        /// Index of the entry, from 0.
        index: u64,
        /// Hashes in base64 that prove it (RFC 6962 §2.1.1).
        proof: Vec<String>,
    },
    /// It does not yet: it is added within a second.
    Waiting,
    /// It does not: the activity ended before the log began.
    Earlier,
}
