//! The activity and its votes as on the wire.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::fault::Fault;
use crate::fingerprint::Fingerprint;
use crate::ids::{ActivityId, OrganizationId, UserId, VoteId};
use crate::wire::{Timestamp, User};

/// How long an approval counts, in milliseconds: 24 hours.
pub const VOTE_WINDOW_MILLIS: u64 = 24 * 60 * 60 * 1000;

/// Where an activity stands.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
pub enum Status {
    /// Recorded, not evaluated. Known so that filters parse; never produced.
    #[serde(rename = "ACTIVITY_STATUS_CREATED")]
    Created,
    /// Being executed. Known so that filters parse; never produced.
    #[serde(rename = "ACTIVITY_STATUS_PENDING")]
    Pending,
    /// Executed.
    #[serde(rename = "ACTIVITY_STATUS_COMPLETED")]
    Completed,
    /// Execution failed.
    #[serde(rename = "ACTIVITY_STATUS_FAILED")]
    Failed,
    /// Waits for votes.
    #[serde(rename = "ACTIVITY_STATUS_CONSENSUS_NEEDED")]
    ConsensusNeeded,
    /// Denied, or rejected by vote.
    #[serde(rename = "ACTIVITY_STATUS_REJECTED")]
    Rejected,
    /// Waits for a second factor. Known so that filters parse; never produced.
    #[serde(rename = "ACTIVITY_STATUS_AUTHENTICATORS_NEEDED")]
    AuthenticatorsNeeded,
}

impl Status {
    /// All statuses, in the order of their numbers on the wire, which start at 1.
    pub const ALL: [Self; 7] = [
        Self::Created,
        Self::Pending,
        Self::Completed,
        Self::Failed,
        Self::ConsensusNeeded,
        Self::Rejected,
        Self::AuthenticatorsNeeded,
    ];

    /// The number on the wire.
    pub const fn number(self) -> u8 {
        match self {
            Self::Created => 1,
            Self::Pending => 2,
            Self::Completed => 3,
            Self::Failed => 4,
            Self::ConsensusNeeded => 5,
            Self::Rejected => 6,
            Self::AuthenticatorsNeeded => 7,
        }
    }

    /// Whether the activity can still change.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Rejected)
    }
}

/// What a vote says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Selection {
    /// Yes.
    #[serde(rename = "VOTE_SELECTION_APPROVED")]
    Approved,
    /// No.
    #[serde(rename = "VOTE_SELECTION_REJECTED")]
    Rejected,
}

/// A vote. `message`, `public_key`, `signature` and `scheme` are the voter's stamped request, byte for byte,
/// so that anybody can verify it without trusting the daemon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Vote {
    /// Id.
    pub id: VoteId,
    /// Voter.
    pub user_id: UserId,
    /// The voter as now known; absent when the user was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<User>,
    /// Activity voted on.
    pub activity_id: ActivityId,
    /// Yes or no.
    pub selection: Selection,
    /// Raw request body that the voter signed.
    pub message: String,
    /// Public key of the stamp.
    pub public_key: String,
    /// Signature of the stamp.
    pub signature: String,
    /// Scheme of the stamp.
    pub scheme: String,
    /// Cast at.
    pub created_at: Timestamp,
}

/// An activity: one action with its proposal, votes and outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Activity {
    /// Id.
    pub id: ActivityId,
    /// Organization acted upon.
    pub organization_id: OrganizationId,
    /// Where it stands.
    pub status: Status,
    /// `ACTIVITY_TYPE_*` as submitted.
    #[serde(rename = "type")]
    pub activity_type: String,
    /// One member: the intent key and its parameters.
    pub intent: Value,
    /// One member once completed, before that none.
    pub result: Value,
    /// Votes in the order they were cast.
    pub votes: Vec<Vote>,
    /// Always empty.
    #[serde(default)]
    pub app_proofs: Vec<Value>,
    /// Fingerprint of the proposal.
    pub fingerprint: Fingerprint,
    /// Whether the caller may approve now.
    pub can_approve: bool,
    /// Whether the caller may reject now.
    pub can_reject: bool,
    /// Submitted at.
    pub created_at: Timestamp,
    /// Last changed at.
    pub updated_at: Timestamp,
    /// Why it failed, if it did.
    pub failure: Option<Fault>,
}
