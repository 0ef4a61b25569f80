//! Verifies each vote: its signature, its key, its activity, and whether it still counts.

use quorate_common::activity::{Selection, VOTE_WINDOW_MILLIS, Vote};
use quorate_common::console::OrganizationDetail;
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::UserId;
use quorate_common::stamp::{self, Scheme, Stamp};
use serde_json::Value;

use super::evidence::Evidence;
use super::proposal::Proposal;
use super::states::is_only_stated;
use crate::keys::canonical;
use crate::text::{clean, quoted};

/// Maximum age of a stamp when it is recorded, in milliseconds.
const STAMP_AGE_MILLIS: u64 = 60 * 60 * 1000;

/// The only type that an attested stamp may propose.
const LOGIN: &str = "ACTIVITY_TYPE_STAMP_LOGIN";

/// A vote and the result of its verification.
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each shown separately")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VoteProof {
    /// The voter, as the daemon states.
    pub(crate) user: UserId,
    /// Cleaned name of the voter.
    pub(crate) name: String,
    pub(crate) selection: Selection,
    /// Whether the vote is the proposal itself.
    pub(crate) proposes: bool,
    /// When it was recorded, as the daemon states, in milliseconds since the Unix epoch.
    pub(crate) cast: u64,
    /// Key that signed it.
    pub(crate) public_key: String,
    /// Whether the signature matches message and key.
    pub(crate) signed: bool,
    /// Why the vote does not count, if so.
    pub(crate) error: Option<String>,
    /// Whether the vote is older than the voting window.
    pub(crate) expired: bool,
    /// Whether the key was first seen less than a day ago.
    pub(crate) new_key: bool,
    /// Whether the key was pinned at the first contact or accepted later.
    pub(crate) key_confirmed: bool,
    /// What the token of an attested stamp proved, as the daemon states. The token is not part of the record, so only
    /// the signature by the attested key is verified. Such a vote is a step of an MFA policy and no approval.
    pub(crate) attested: Option<String>,
}

impl VoteProof {
    /// Returns a remark on the key for the end of a line, empty if nothing is remarkable.
    pub(crate) fn key_note(&self) -> &'static str {
        if self.attested.is_some() {
            return "";
        }
        match (&self.error, self.new_key, self.key_confirmed) {
            (None, true, _) => ", key first seen less than a day ago [!]",
            (None, false, false) => ", key not accepted here [s]",
            _ => "",
        }
    }

    /// Returns what the vote is, for the beginning of a line.
    pub(crate) fn noun(&self) -> &'static str {
        match (self.selection, &self.attested) {
            (Selection::Approved, Some(_)) if !self.proposes => "MFA step",
            (Selection::Approved, _) => "approval",
            (Selection::Rejected, _) => "rejection",
        }
    }

    /// Returns what is verified of a valid vote.
    pub(crate) fn verified_part(&self) -> String {
        match &self.attested {
            None => "signature [v]".to_owned(),
            Some(attested) => format!(
                "signature by a temporary key [v]; that the key is theirs rests on the daemon's word: {attested} [s]"
            ),
        }
    }

    /// Returns whether the vote is a verified approval that has not expired.
    pub(crate) fn counts(&self) -> bool {
        self.attested.is_none()
            && self.error.is_none()
            && !self.expired
            && self.selection == Selection::Approved
    }
}

/// Verifies all votes in their order. A second approval of a user with the same key does not count. One with
/// another key can be required by a policy; the tally still counts the user once.
pub(super) fn examine(evidence: &Evidence<'_>, proposal: Option<&Proposal>) -> Vec<VoteProof> {
    let mut proofs: Vec<VoteProof> = Vec::new();
    for vote in &evidence.record.row.activity.votes {
        let mut proof = examine_one(evidence, proposal, vote);
        let again = proofs.iter().any(|earlier| {
            earlier.user == proof.user && earlier.public_key == proof.public_key && earlier.counts()
        });
        if proof.counts() && again {
            proof.error = Some("this user has already voted; counted once".to_owned());
        }
        proofs.push(proof);
    }
    proofs
}

fn examine_one(evidence: &Evidence<'_>, proposal: Option<&Proposal>, vote: &Vote) -> VoteProof {
    let organization = &evidence.record.organization;
    let activity = &evidence.record.row.activity;
    let proposes = Fingerprint::of(vote.message.as_bytes()) == activity.fingerprint;
    let is_attested = Scheme::attested_from_name(&vote.scheme).is_some();
    let signed = if is_attested { is_signed_by_attested_key(vote) } else { is_signed(vote) };
    let ballot = Ballot::read(&vote.message);
    let error = if !signed && is_only_stated(activity, proposal) {
        Some("its bytes are not stored as they were signed [s]".to_owned())
    } else if !signed {
        Some("the signature does not match the message".to_owned())
    } else if vote.activity_id != activity.id {
        Some("the vote belongs to another activity".to_owned())
    } else {
        let owner_error = if is_attested { attestation_error } else { key_error };
        owner_error(organization, vote).or_else(|| {
            ballot_error(&ballot, proposal, vote, proposes, &activity.organization_id.to_string())
        })
    };
    let cast = vote.created_at.millis();
    // A closed activity is evaluated at the time of its end.
    let evaluated_at = if activity.status.waits() { evidence.now } else { activity.updated_at.millis() };
    let stamped = ballot.stamped.unwrap_or(0).saturating_add(STAMP_AGE_MILLIS);
    let expired = evaluated_at.saturating_sub(cast.min(stamped)) >= VOTE_WINDOW_MILLIS;
    let name = organization.users.iter().find(|user| user.user_id == vote.user_id);
    let id = organization.head.organization_id;
    let key = evidence.known_keys.key(id, vote.user_id, &vote.public_key);
    VoteProof {
        user: vote.user_id,
        name: name.map_or_else(|| vote.user_id.to_string(), |user| clean(&user.user_name)),
        selection: vote.selection,
        proposes,
        cast,
        public_key: clean(&vote.public_key),
        signed,
        error,
        expired,
        new_key: key.is_some_and(|key| key.is_new(evidence.now)),
        key_confirmed: key.is_some_and(|key| key.is_confirmed),
        attested: is_attested.then(|| attested_words(vote)),
    }
}

/// Returns whether the signature matches key and message. Does not check the web origin of a passkey
/// signature.
pub(super) fn is_signed(vote: &Vote) -> bool {
    let Some(scheme) = Scheme::from_name(&vote.scheme) else { return false };
    let (public_key, signature) = (vote.public_key.clone(), vote.signature.clone());
    stamp::verify(&Stamp { public_key, scheme, signature }, vote.message.as_bytes())
}

/// Returns whether the key of an attested stamp signed the message. Whose key it is, nothing in the record proves.
fn is_signed_by_attested_key(vote: &Vote) -> bool {
    let Some(scheme) = Scheme::attested_from_name(&vote.scheme) else { return false };
    let (public_key, signature) = (vote.public_key.clone(), vote.signature.clone());
    stamp::verify_attested(&Stamp { public_key, scheme, signature }, vote.message.as_bytes())
}

/// Describes what the daemon states that a token proved.
fn attested_words(vote: &Vote) -> String {
    let Some(attestation) = &vote.attestation else { return "nothing is stated".to_owned() };
    match (&attestation.contact, &attestation.identity) {
        (Some(contact), _) => format!("a code sent to {}", clean(contact)),
        (None, Some(identity)) => {
            format!("an ID token of {} for {}", clean(&identity.issuer), quoted(&identity.subject))
        }
        (None, None) => "nothing is stated".to_owned(),
    }
}

/// Returns why what the daemon states about an attested stamp is not that of the user, as the daemon states it.
fn attestation_error(organization: &OrganizationDetail, vote: &Vote) -> Option<String> {
    let user = organization.users.iter().find(|known| known.user_id == vote.user_id);
    let Some(attestation) = vote.attestation.as_ref() else {
        return Some("the record does not state what the attested stamp proved".to_owned());
    };
    let is_theirs = user.is_some_and(|user| match (&attestation.contact, &attestation.identity) {
        (Some(contact), None) => {
            let contacts = [&user.user_email, &user.user_phone_number];
            contacts.into_iter().flatten().any(|own| own.to_lowercase() == contact.to_lowercase())
        }
        (None, Some(identity)) => user.oauth_providers.iter().any(|own| {
            own.provider_id == identity.provider_id
                && (&own.issuer, &own.audience, &own.subject)
                    == (&identity.issuer, &identity.audience, &identity.subject)
        }),
        _ => false,
    });
    (!is_theirs).then(|| "the attested contact or identity is not one of that user".to_owned())
}

/// Returns whether the key belongs to the user in the organization's record.
pub(super) fn is_registered(organization: &OrganizationDetail, user: UserId, public_key: &str) -> bool {
    let user = organization.users.iter().find(|known| known.user_id == user);
    user.is_some_and(|user| user.public_keys().any(|key| canonical(key) == canonical(public_key)))
}

fn key_error(organization: &OrganizationDetail, vote: &Vote) -> Option<String> {
    if is_registered(organization, vote.user_id, &vote.public_key) {
        return None;
    }
    Some("the key is not a key of that user in this organization".to_owned())
}

/// The signed content of a vote.
pub(super) struct Ballot {
    pub(super) activity_type: String,
    pub(super) organization: String,
    pub(super) fingerprint: String,
    pub(super) stamped: Option<u64>,
}

impl Ballot {
    pub(super) fn read(message: &str) -> Self {
        let envelope = quorate_common::json::parse(message.as_bytes()).unwrap_or(Value::Null);
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let stamped = envelope.get("timestampMs");
        Self {
            activity_type: text(envelope.get("type")),
            organization: text(envelope.get("organizationId")),
            fingerprint: text(envelope.pointer("/parameters/fingerprint")),
            stamped: stamped.and_then(|value| value.as_u64().or_else(|| value.as_str()?.parse().ok())),
        }
    }
}

fn ballot_error(
    ballot: &Ballot,
    proposal: Option<&Proposal>,
    vote: &Vote,
    proposes: bool,
    organization: &str,
) -> Option<String> {
    let error = |text: &str| Some(text.to_owned());
    let is_attested = Scheme::attested_from_name(&vote.scheme).is_some();
    if is_attested && (proposes && ballot.activity_type != LOGIN || vote.selection == Selection::Rejected) {
        return error("an attested stamp only proposes a login, or proves a step of an MFA policy");
    }
    let creates_organization = proposes && proposal.is_some_and(Proposal::creates_organization);
    if !creates_organization && !ballot.organization.eq_ignore_ascii_case(organization) {
        return error("the vote was signed for another organization");
    }
    if proposes {
        return if vote.selection == Selection::Approved {
            None
        } else {
            error("the proposal is shown as a rejection")
        };
    }
    let expected = match vote.selection {
        Selection::Approved => "ACTIVITY_TYPE_APPROVE_ACTIVITY",
        Selection::Rejected => "ACTIVITY_TYPE_REJECT_ACTIVITY",
    };
    if ballot.activity_type != expected {
        return error("the signed message is not this vote");
    }
    let Some(proposal) = proposal else { return error("there is no proposal to compare the vote with") };
    match ballot.fingerprint.parse::<Fingerprint>() {
        Ok(named) if named == proposal.fingerprint => None,
        _ => error("the vote was signed for another fingerprint"),
    }
}
