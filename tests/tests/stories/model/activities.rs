//! The record of what was asked, as the model sees it: one entry per body, with its votes.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Where an activity stands; the wire's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Completed,
    Failed,
    Waits,
    Rejected,
}

/// An activity.
pub(super) struct Activity {
    /// Learned when it is first seen.
    pub(super) id: Option<String>,
    /// Type without prefix.
    pub(super) name: &'static str,
    pub(super) status: Status,
    pub(super) body: Vec<u8>,
    pub(super) result: Value,
    /// Code of the failure.
    pub(super) failure: Option<i64>,
    pub(super) votes: Vec<Vote>,
    /// How the very same body is answered again, if that is told.
    pub(super) replay: Replay,
}

/// How a body that was taken before is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Replay {
    Shown,
    /// With this HTTP status.
    Refused(u16),
    Untold,
}

/// A vote on an activity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Vote {
    pub(super) user: String,
    pub(super) public_key: String,
    pub(super) is_approval: bool,
}

impl Status {
    /// The name on the wire.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Completed => "ACTIVITY_STATUS_COMPLETED",
            Self::Failed => "ACTIVITY_STATUS_FAILED",
            Self::Waits => "ACTIVITY_STATUS_CONSENSUS_NEEDED",
            Self::Rejected => "ACTIVITY_STATUS_REJECTED",
        }
    }
}

impl Activity {
    /// One that is done at once, with the vote that its submission is.
    pub(super) fn new(name: &'static str, body: Vec<u8>, vote: Vote) -> Self {
        Self {
            id: None,
            name,
            status: Status::Completed,
            body,
            result: json!({}),
            failure: None,
            votes: vec![vote],
            replay: Replay::Shown,
        }
    }

    /// The name of its body.
    pub(super) fn fingerprint(&self) -> String {
        format!("sha256:{}", const_hex::encode(Sha256::digest(&self.body)))
    }

    /// Its type on the wire.
    pub(super) fn activity_type(&self) -> String {
        activity_type(self.name)
    }
}

/// The type on the wire of a name.
pub(super) fn activity_type(name: &str) -> String {
    format!("ACTIVITY_TYPE_{name}")
}

/// The kind of a name, without its version.
pub(super) fn kind(name: &str) -> &str {
    match name.rsplit_once("_V") {
        Some((kind, version)) if version.bytes().all(|byte| byte.is_ascii_digit()) => kind,
        _ => name,
    }
}

/// The one member of an intent: the kind in one word, with the version at the end.
pub(super) fn intent_name(name: &str) -> String {
    let kind = kind(name);
    let mut words = kind.split('_').map(str::to_lowercase);
    let first = words.next().unwrap_or_default();
    let capital = |word: String| word[..1].to_uppercase() + &word[1..];
    let version = name[kind.len()..].trim_start_matches('_');
    first + &words.map(capital).collect::<String>() + "Intent" + version
}
