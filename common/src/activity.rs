//! Activities and votes as they appear on the wire.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api_error::ApiError;
use crate::fingerprint::Fingerprint;
use crate::ids::{ActivityId, OrganizationId, ProviderId, UserId, VoteId};
use crate::wire::{AuthenticationType, Timestamp, User};

/// Time for which an approval counts, in milliseconds (24 hours).
pub const VOTE_WINDOW_MILLIS: u64 = 24 * 60 * 60 * 1000;

/// Status of an activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Status {
    /// Recorded but not evaluated. Accepted in filters; no activity ever has this status.
    #[serde(rename = "ACTIVITY_STATUS_CREATED")]
    Created = 1,
    /// Being executed. Accepted in filters; no activity ever has this status.
    #[serde(rename = "ACTIVITY_STATUS_PENDING")]
    Pending = 2,
    /// Executed successfully.
    #[serde(rename = "ACTIVITY_STATUS_COMPLETED")]
    Completed = 3,
    /// Execution failed.
    #[serde(rename = "ACTIVITY_STATUS_FAILED")]
    Failed = 4,
    /// Waiting for votes.
    #[serde(rename = "ACTIVITY_STATUS_CONSENSUS_NEEDED")]
    ConsensusNeeded = 5,
    /// Denied by a policy, or rejected by vote.
    #[serde(rename = "ACTIVITY_STATUS_REJECTED")]
    Rejected = 6,
    /// Waiting until the proposer proves further authentication methods, as an MFA policy requires.
    #[serde(rename = "ACTIVITY_STATUS_AUTHENTICATORS_NEEDED")]
    AuthenticatorsNeeded = 7,
}

impl Status {
    /// All statuses in the order of their wire numbers, which start at 1.
    pub const ALL: [Self; 7] = [
        Self::Created,
        Self::Pending,
        Self::Completed,
        Self::Failed,
        Self::ConsensusNeeded,
        Self::Rejected,
        Self::AuthenticatorsNeeded,
    ];

    /// The statuses of activities that wait for votes.
    pub const WAITING: [Self; 2] = [Self::ConsensusNeeded, Self::AuthenticatorsNeeded];

    /// Returns whether an activity with this status waits for votes: for approvals, or for proofs of its proposer.
    pub const fn waits(self) -> bool {
        matches!(self, Self::ConsensusNeeded | Self::AuthenticatorsNeeded)
    }

    /// Returns the number of the status on the wire.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Returns whether the status is final. An activity with a final status never changes again.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Rejected)
    }
}

/// Choice of a voter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Selection {
    /// The voter approves the activity.
    #[serde(rename = "VOTE_SELECTION_APPROVED")]
    Approved,
    /// The voter rejects the activity.
    #[serde(rename = "VOTE_SELECTION_REJECTED")]
    Rejected,
}

/// A vote on an activity.
///
/// `message`, `public_key`, `signature` and `scheme` hold the voter's stamped request byte for byte. Anybody
/// can verify them without trusting the daemon.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Vote {
    /// Unique id of the vote.
    pub id: VoteId,
    /// User who cast the vote.
    pub user_id: UserId,
    /// Current data of the voter; absent if the user was deleted.
    pub user: Option<User>,
    /// Activity that the vote is about.
    pub activity_id: ActivityId,
    /// Approval or rejection.
    pub selection: Selection,
    /// Request body that the voter signed, unchanged.
    pub message: String,
    /// Public key of the voter's stamp, as in [`crate::stamp::Stamp::public_key`].
    pub public_key: String,
    /// Signature of the voter's stamp, as in [`crate::stamp::Stamp::signature`].
    pub signature: String,
    /// `SIGNATURE_SCHEME_*` of the voter's stamp, or `STAMP_ATTESTED_SCHEME_*` of an attested one.
    pub scheme: String,
    /// What the token of an attested stamp proved; absent for other stamps.
    pub attestation: Option<VoteAttestation>,
    /// Time at which the vote was cast.
    pub created_at: Timestamp,
}

/// What the token of an attested stamp proved about the voter, as the daemon verified it. The token is stored nowhere,
/// so nobody can verify this afterwards. The signature by the attested key can be verified.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VoteAttestation {
    /// How the voter authenticated.
    #[serde(rename = "type")]
    pub authentication_type: AuthenticationType,
    /// Email address or phone number to which the code was sent.
    pub contact: Option<String>,
    /// Identity of the ID token.
    pub identity: Option<AttestedIdentity>,
}

/// An OAuth identity that an ID token proved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttestedIdentity {
    /// OAuth provider of the voter.
    pub provider_id: ProviderId,
    /// Claim `iss`.
    pub issuer: String,
    /// Claim `aud`, as registered.
    pub audience: String,
    /// Claim `sub`.
    pub subject: String,
}

/// An activity: one proposed action with its votes and its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Activity {
    /// Unique id (UUID version 7, so that ids sort by submission time).
    pub id: ActivityId,
    /// Organization that the activity acts on.
    pub organization_id: OrganizationId,
    /// Current status.
    pub status: Status,
    /// `ACTIVITY_TYPE_*` as submitted by the proposer.
    #[serde(rename = "type")]
    pub activity_type: String,
    /// Object with one member: the intent name with its parameters.
    pub intent: Value,
    /// Object with one member, the result, once the activity is completed; empty before.
    pub result: Value,
    /// Votes in the order in which they were cast.
    pub votes: Vec<Vote>,
    /// Always empty.
    #[serde(default)]
    pub app_proofs: Vec<Value>,
    /// Fingerprint of the proposer's request body.
    pub fingerprint: Fingerprint,
    /// Whether the caller of the query may approve now.
    pub can_approve: bool,
    /// Whether the caller of the query may reject now.
    pub can_reject: bool,
    /// Time of submission.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// Reason of the failure; present only if the activity failed.
    pub failure: Option<ApiError>,
}
