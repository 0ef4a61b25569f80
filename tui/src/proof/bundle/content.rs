//! The members of a proof bundle, version 1. What a signature covers, what the daemon states and what the exporting
//! console knows are separate. A member is never renamed or given another meaning without a new version.

use quorate_common::activity::{Selection, Status, VoteAttestation};
use quorate_common::api_error::ApiError;
use quorate_common::console::activity_log::LogEntry;
use quorate_common::console::{OrganizationDetail, RuleInputs, Waiting};
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{ActivityId, OrganizationId, UserId, VoteId};
use quorate_common::wire::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The content of a bundle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Content {
    pub(super) signed: Signed,
    pub(super) stated: Stated,
    pub(super) exporter: Exporter,
}

/// What signatures cover: the fingerprint and the votes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Signed {
    /// SHA-256 of the message of the proposal, which is one of the votes.
    pub(super) fingerprint: Fingerprint,
    /// Votes in the order in which they were cast.
    pub(super) votes: Vec<SignedVote>,
}

/// A vote as it was signed.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SignedVote {
    /// Exact bytes that were signed; absent if they contain members that are never exported.
    pub(super) message: Option<String>,
    /// Paths of the members because of which the message is absent.
    pub(super) withheld: Option<Vec<String>>,
    /// SHA-256 of the message in hex; present only if the message is absent.
    pub(super) message_sha256: Option<String>,
    pub(super) public_key: String,
    pub(super) signature: String,
    pub(super) scheme: String,
    /// What the daemon states about the vote, which nobody signed.
    pub(super) stated: StatedVote,
}

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct StatedVote {
    pub(super) id: VoteId,
    pub(super) user_id: UserId,
    pub(super) activity_id: ActivityId,
    pub(super) selection: Selection,
    pub(super) attestation: Option<VoteAttestation>,
    pub(super) created_at: Timestamp,
}

/// What the daemon states, which nobody signed.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Stated {
    pub(super) activity: StatedActivity,
    /// What the activity waits for; present while it waits.
    pub(super) waiting: Option<Waiting>,
    /// Further inputs of the rule; present while it waits.
    pub(super) rule_inputs: Option<RuleInputs>,
    /// Other waiting activities that flags depend on.
    pub(super) related: Vec<Related>,
    /// The organization with its users, keys and policies.
    pub(super) organization: OrganizationDetail,
    /// The activity in the activity log, without the proof for a known checkpoint. Bundles of earlier versions have none.
    pub(super) log: Option<LogEntry>,
}

/// The activity without its votes and its result. Results can contain session tokens, and no check needs them.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct StatedActivity {
    pub(super) id: ActivityId,
    pub(super) organization_id: OrganizationId,
    pub(super) status: Status,
    #[serde(rename = "type")]
    pub(super) activity_type: String,
    /// The intent with sensitive members masked.
    pub(super) intent: Value,
    pub(super) created_at: Timestamp,
    pub(super) updated_at: Timestamp,
    pub(super) failure: Option<ApiError>,
}

/// Another waiting activity.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Related {
    pub(super) id: ActivityId,
    #[serde(rename = "type")]
    pub(super) activity_type: Option<String>,
    pub(super) proposer: Option<UserId>,
    pub(super) created_millis: u64,
}

/// The console that exported the bundle, and what it knows. A reader must not trust it more than its source.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Exporter {
    pub(super) version: String,
    pub(super) exported_at_millis: u64,
    /// Root quorum that the console knows; absent if it knows none.
    pub(super) known_quorum: Option<ExportedQuorum>,
    pub(super) known_keys: Vec<ExportedKey>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ExportedQuorum {
    pub(super) threshold: u32,
    pub(super) user_ids: Vec<UserId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ExportedKey {
    pub(super) user_id: UserId,
    pub(super) public_key: String,
    /// Whether the key was pinned at the first contact or accepted since.
    pub(super) is_confirmed: bool,
}
