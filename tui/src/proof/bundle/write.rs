//! Writes a review as a bundle. Masks what reviews mask, and leaves out what no check needs.

use quorate_common::activity::Vote;
use quorate_common::console::OrganizationDetail;
use quorate_common::console::activity_log::LogEntry;
use quorate_common::fingerprint::Fingerprint;

use super::Bundle;
use super::content::{
    Content, ExportedKey, ExportedQuorum, Exporter, Related, Signed, SignedVote, Stated, StatedActivity,
    StatedVote,
};
use crate::kinds::{masked_intent, masked_request};
use crate::known_keys::KnownKeys;
use crate::proof::review::Review;

impl Bundle {
    /// Creates the bundle of a reviewed activity.
    pub(crate) fn of(review: &Review, known_keys: &KnownKeys, now: u64) -> Self {
        let activity = &review.activity;
        let related = review.siblings.iter().map(|sibling| Related {
            id: sibling.id,
            activity_type: sibling.overriding_type.map(str::to_owned),
            proposer: sibling.proposer,
            created_millis: sibling.created,
        });
        Self::of_content(Content {
            signed: Signed {
                fingerprint: activity.fingerprint,
                votes: activity.votes.iter().map(signed_vote).collect(),
            },
            stated: Stated {
                activity: StatedActivity {
                    id: activity.id,
                    organization_id: activity.organization_id,
                    status: activity.status,
                    activity_type: activity.activity_type.clone(),
                    intent: masked_intent(&activity.activity_type, activity.intent.clone()),
                    created_at: activity.created_at.clone(),
                    updated_at: activity.updated_at.clone(),
                    failure: activity.failure.clone(),
                },
                waiting: review.waiting.clone(),
                rule_inputs: review.rule_inputs.clone(),
                related: related.collect(),
                organization: without_sensitive(&review.organization),
                log: review.log.clone().map(without_known),
            },
            exporter: exporter(&review.organization, known_keys, now),
        })
    }
}

/// Removes what only this console needs.
fn without_known(mut entry: LogEntry) -> LogEntry {
    entry.checkpoint.consistency.clear();
    entry
}

fn signed_vote(vote: &Vote) -> SignedVote {
    let withheld = masked_members(&vote.message);
    let is_withheld = !withheld.is_empty();
    SignedVote {
        message: (!is_withheld).then(|| vote.message.clone()),
        message_sha256: is_withheld.then(|| Fingerprint::of(vote.message.as_bytes()).hex()),
        withheld: is_withheld.then_some(withheld),
        public_key: vote.public_key.clone(),
        signature: vote.signature.clone(),
        scheme: vote.scheme.clone(),
        stated: StatedVote {
            id: vote.id,
            user_id: vote.user_id,
            activity_id: vote.activity_id,
            selection: vote.selection,
            attestation: vote.attestation.clone(),
            created_at: vote.created_at.clone(),
        },
    }
}

/// Returns the paths of the members of a signed message that reviews mask.
fn masked_members(message: &str) -> Vec<String> {
    masked_request(message).map(|(_, paths)| paths).unwrap_or_default()
}

/// Removes what no review reads: sessions, last uses, and encrypted secrets of applications.
fn without_sensitive(organization: &OrganizationDetail) -> OrganizationDetail {
    let mut organization = organization.clone();
    organization.read_only_sessions.clear();
    organization.last_uses.clear();
    organization.invitation_mails.clear();
    for credential in &mut organization.oauth2_credentials {
        credential.encrypted_client_secret.clear();
    }
    organization
}

fn exporter(organization: &OrganizationDetail, known_keys: &KnownKeys, now: u64) -> Exporter {
    let id = organization.head.organization_id;
    let quorum = known_keys.quorum(id).map(|known| ExportedQuorum {
        threshold: known.value.threshold,
        user_ids: known.value.user_ids.iter().copied().collect(),
    });
    let keys = known_keys.seen().into_iter().filter(|seen| seen.organization == id);
    Exporter {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        exported_at_millis: now,
        known_quorum: quorum,
        known_keys: keys
            .map(|seen| ExportedKey {
                user_id: seen.user,
                public_key: seen.public_key.to_owned(),
                is_confirmed: seen.is_confirmed,
            })
            .collect(),
    }
}
