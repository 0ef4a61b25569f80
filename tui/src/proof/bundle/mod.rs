//! Proof bundles: files with all that a review needs, so that it can be repeated without a connection. They contain no
//! secrets: members that reviews mask are withheld, and results are left out. `docs/src/reference/proof-bundles.md`
//! describes the format.

mod content;
mod differences;
mod read;
mod unproven;
mod write;

use quorate_common::activity::{Activity, Vote};
use quorate_common::console::ActivityRow;
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::ActivityId;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use self::content::{Content, SignedVote};
use super::evidence::Record;
use super::siblings::{Sibling, Siblings, overriding_type};

pub(crate) use differences::bundle_differences;
pub(crate) use read::BundleError;
pub(crate) use unproven::unproven_lines;

/// Maximum size of a bundle, in bytes.
pub(crate) const BUNDLE_LIMIT: u64 = 16 * 1024 * 1024;

/// Value of `format`.
const FORMAT: &str = "quorate-proof";
/// Version of the format that this console writes and reads.
const VERSION: u64 = 1;

/// A proof bundle.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bundle {
    content: Content,
    /// SHA-256 of the content in its canonical form.
    digest: String,
}

/// Returns the SHA-256 of the content: compact JSON with sorted member names. It detects damage, but proves nothing
/// about the author.
pub(super) fn digest_of(content: &Value) -> String {
    const_hex::encode(Sha256::digest(content.to_string()))
}

impl Bundle {
    fn of_content(content: Content) -> Self {
        let digest = digest_of(&serde_json::to_value(&content).unwrap_or_default());
        Self { content, digest }
    }

    /// Returns the bundle as a JSON object.
    pub(crate) fn json(&self) -> Value {
        json!({"format": FORMAT, "version": VERSION, "contentSha256": self.digest, "content": self.content})
    }

    pub(crate) fn activity_id(&self) -> ActivityId {
        self.content.stated.activity.id
    }

    pub(crate) fn fingerprint(&self) -> Fingerprint {
        self.content.signed.fingerprint
    }

    pub(crate) fn digest(&self) -> &str {
        &self.digest
    }

    /// Returns when the bundle was written by the clock of the exporting console, in milliseconds since the Unix epoch.
    pub(crate) const fn exported_at(&self) -> u64 {
        self.content.exporter.exported_at_millis
    }

    /// Returns the paths of the members because of which signed bytes are withheld.
    pub(crate) fn withheld(&self) -> Vec<&str> {
        let votes = self.content.signed.votes.iter();
        votes.filter_map(|vote| vote.withheld.as_ref()).flatten().map(String::as_str).collect()
    }

    /// Returns the record of the daemon that the bundle contains.
    pub(crate) fn record(&self) -> Record {
        let stated = &self.content.stated;
        let activity = &stated.activity;
        let activity = Activity {
            id: activity.id,
            organization_id: activity.organization_id,
            status: activity.status,
            activity_type: activity.activity_type.clone(),
            intent: activity.intent.clone(),
            result: json!({}),
            votes: self.content.signed.votes.iter().map(vote).collect(),
            app_proofs: Vec::new(),
            fingerprint: self.content.signed.fingerprint,
            can_approve: false,
            can_reject: false,
            created_at: activity.created_at.clone(),
            updated_at: activity.updated_at.clone(),
            failure: activity.failure.clone(),
        };
        Record {
            row: ActivityRow { activity, waiting: stated.waiting.clone() },
            organization: std::sync::Arc::new(stated.organization.clone()),
            rule_inputs: stated.rule_inputs.clone(),
            log: stated.log.clone(),
            is_exported: true,
        }
    }

    /// Returns the other waiting activities.
    pub(crate) fn siblings(&self) -> Siblings {
        let related = self.content.stated.related.iter();
        related
            .map(|one| Sibling {
                id: one.id,
                overriding_type: one.activity_type.as_deref().and_then(overriding_type),
                proposer: one.proposer,
                created: one.created_millis,
            })
            .collect()
    }
}

/// Returns a vote as the daemon records it. A message that is withheld is empty, so its signature does not verify.
fn vote(signed: &SignedVote) -> Vote {
    let stated = &signed.stated;
    Vote {
        id: stated.id,
        user_id: stated.user_id,
        user: None,
        activity_id: stated.activity_id,
        selection: stated.selection,
        message: signed.message.clone().unwrap_or_default(),
        public_key: signed.public_key.clone(),
        signature: signed.signature.clone(),
        scheme: signed.scheme.clone(),
        attestation: stated.attestation.clone(),
        created_at: stated.created_at.clone(),
    }
}
