//! The activities as the model knows them: one entry per body, with its votes.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Status of an activity, as named by the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Completed,
    Failed,
    Waits,
    /// Waits until its proposer proves a further method.
    NeedsProof,
    Rejected,
}

pub(super) struct Activity {
    /// Learned when first reported.
    pub(super) id: Option<String>,
    /// Type without prefix.
    pub(super) name: &'static str,
    pub(super) status: Status,
    pub(super) body: Vec<u8>,
    pub(super) result: Value,
    /// Code of the failure.
    pub(super) failure: Option<i64>,
    pub(super) votes: Vec<Vote>,
    /// Answer to the same body sent again, if specified.
    pub(super) replay: Replay,
}

/// Answer to a body that was accepted before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Replay {
    /// The activity.
    Activity,
    /// An error with this HTTP status.
    Error(u16),
    Unspecified,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Vote {
    pub(super) user: String,
    pub(super) public_key: String,
    pub(super) is_approval: bool,
}

impl Status {
    /// Returns whether the activity waits for votes or proofs.
    pub(super) fn waits(self) -> bool {
        matches!(self, Self::Waits | Self::NeedsProof)
    }

    /// Returns the wire name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Completed => "ACTIVITY_STATUS_COMPLETED",
            Self::Failed => "ACTIVITY_STATUS_FAILED",
            Self::Waits => "ACTIVITY_STATUS_CONSENSUS_NEEDED",
            Self::NeedsProof => "ACTIVITY_STATUS_AUTHENTICATORS_NEEDED",
            Self::Rejected => "ACTIVITY_STATUS_REJECTED",
        }
    }
}

impl Activity {
    /// Creates an activity that completes at once, with the vote of its proposer.
    pub(super) fn new(name: &'static str, body: Vec<u8>, vote: Vote) -> Self {
        Self {
            id: None,
            name,
            status: Status::Completed,
            body,
            result: json!({}),
            failure: None,
            votes: vec![vote],
            replay: Replay::Activity,
        }
    }

    /// Returns the fingerprint of the body.
    pub(super) fn fingerprint(&self) -> String {
        format!("sha256:{}", const_hex::encode(Sha256::digest(&self.body)))
    }

    /// Returns the activity type.
    pub(super) fn activity_type(&self) -> String {
        activity_type(self.name)
    }
}

/// Returns the activity type of a name.
pub(super) fn activity_type(name: &str) -> String {
    format!("ACTIVITY_TYPE_{name}")
}

/// Returns a name without its version.
pub(super) fn kind(name: &str) -> &str {
    match name.rsplit_once("_V") {
        Some((kind, version)) if version.bytes().all(|byte| byte.is_ascii_digit()) => kind,
        _ => name,
    }
}

/// Returns the member name of an intent: the kind in camel case, followed by the version.
pub(super) fn intent_name(name: &str) -> String {
    let kind = kind(name);
    let mut words = kind.split('_').map(str::to_lowercase);
    let first = words.next().unwrap_or_default();
    let capital = |word: String| word[..1].to_uppercase() + &word[1..];
    let version = name[kind.len()..].trim_start_matches('_');
    first + &words.map(capital).collect::<String>() + "Intent" + version
}
