//! The activity log: an append-only Merkle tree (RFC 6962 §2.1) with a leaf for each state that an activity had. Its
//! [checkpoints](Checkpoint) are signed. Who keeps one notices a store that was put back to an earlier state.

mod checkpoint;
mod verifier_key;

use std::fmt;

use serde::Serialize;
use tlog_tiles::{Hash, check_record, check_tree, record_hash};

use self::checkpoint::LEVELS;
pub use self::checkpoint::{Checkpoint, origin};
pub use self::verifier_key::VerifierKey;
use crate::activity::{Activity, Status};
use crate::fingerprint::Fingerprint;
use crate::ids::{ActivityId, OrganizationId};

/// First line of the text of an entry: its format.
const FORMAT: &str = "quorate/activity/1";

/// A hash of the tree: SHA-256.
pub type LogHash = [u8; 32];

/// Why a checkpoint or a proof is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// It does not have the format of a signed note (C2SP signed-note, tlog-checkpoint), or of a proof.
    #[error("malformed")]
    Malformed,
    /// The log of another store, or one that another key has signed.
    #[error("not signed with the key of this log")]
    Signature,
    /// It has fewer entries than one that is known, or an earlier epoch.
    #[error("older than a known checkpoint")]
    Older,
    /// It is not proven that the log begins with the entries that are known.
    #[error("contradicts a known checkpoint")]
    Contradiction,
    /// It is not proven that the log contains an entry.
    #[error("the entry is not proven")]
    NotIncluded,
}

/// A state of an activity: an entry of the log. A vote or an outcome leads to another state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActivityState {
    /// Organization acted upon.
    pub organization: OrganizationId,
    /// Id of the activity.
    pub activity: ActivityId,
    /// Fingerprint of the proposal.
    pub fingerprint: Fingerprint,
    /// Status.
    pub status: Status,
    /// Number of votes, that of the proposer included.
    pub votes: usize,
}

impl ActivityState {
    /// Returns the state in which an activity is shown.
    pub fn of(activity: &Activity) -> Self {
        Self {
            organization: activity.organization_id,
            activity: activity.id,
            fingerprint: activity.fingerprint,
            status: activity.status,
            votes: activity.votes.len(),
        }
    }

    /// Returns the text of the entry: six lines.
    pub fn text(&self) -> String {
        let Self { organization, activity, fingerprint, status, votes } = self;
        let status = Shown(*status);
        format!("{FORMAT}\n{organization}\n{activity}\n{fingerprint}\n{status}\n{votes}\n")
    }

    /// Returns the hash of the leaf.
    pub fn leaf(&self) -> LogHash {
        record_hash(self.text().as_bytes()).0
    }

    /// Checks that the log of a checkpoint has this entry at an index, which starts at 0. The hashes of the proof are in base64
    /// (RFC 6962 §2.1.1).
    ///
    /// # Errors
    /// [`LogError::Malformed`] or [`LogError::NotIncluded`].
    pub fn check_included(&self, index: u64, proof: &[String], newest: &Checkpoint) -> Result<(), LogError> {
        if index >= newest.size {
            return Err(LogError::NotIncluded);
        }
        let checked = check_record(&hashes(proof)?, newest.size, Hash(newest.root), index, Hash(self.leaf()));
        checked.map_err(|_| LogError::NotIncluded)
    }
}

impl Checkpoint {
    /// Checks that a newer checkpoint of the same log follows this one: no entry was removed or changed. Each restore of a
    /// backup begins another epoch, which may have fewer and other entries. The hashes of the proof are in base64 (RFC 6962
    /// §2.1.2).
    ///
    /// # Errors
    /// [`LogError::Older`] or [`LogError::Contradiction`] if it does not, and [`LogError::Malformed`].
    pub fn check_successor(&self, newer: &Self, proof: &[String]) -> Result<(), LogError> {
        if newer.epoch > self.epoch {
            return Ok(());
        }
        if newer.epoch < self.epoch || newer.size < self.size {
            return Err(LogError::Older);
        }
        if self.size == 0 {
            return Ok(());
        }
        let checked = check_tree(&hashes(proof)?, newer.size, Hash(newer.root), self.size, Hash(self.root));
        checked.map_err(|_| LogError::Contradiction)
    }
}

/// Decodes hashes in base64. There are at most two for each level of the tree.
fn hashes(proof: &[String]) -> Result<Vec<Hash>, LogError> {
    if proof.len() > 2 * LEVELS {
        return Err(LogError::Malformed);
    }
    proof.iter().map(|hash| Hash::parse_hash(hash).map_err(|_| LogError::Malformed)).collect()
}

/// Writes a status as on the wire.
struct Shown(Status);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.serialize(f)
    }
}

#[cfg(test)]
mod tests;
