//! Each vote by itself: is it signed, by whose key, for this activity, and does it still count?

use quorate_common::activity::{Selection, Status, VOTE_WINDOW_MILLIS, Vote};
use quorate_common::console::OrganizationDetail;
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::UserId;
use quorate_common::stamp::{self, Scheme, Stamp};
use serde_json::Value;

use super::{Evidence, Proposal};
use crate::keys::canonical;
use crate::text::clean;

/// A stamp may be this much older than the moment it was recorded.
const STAMP_AGE_MILLIS: u64 = 60 * 60 * 1000;

/// A vote with what is wrong with it.
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each shown by itself")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VoteProof {
    /// Who is said to have cast it.
    pub(crate) user: UserId,
    /// That user's name, cleaned.
    pub(crate) name: String,
    /// Yes or no.
    pub(crate) selection: Selection,
    /// Whether it is the proposal itself.
    pub(crate) proposes: bool,
    /// When it was recorded, by the daemon's word.
    pub(crate) cast: u64,
    /// Key that signed it.
    pub(crate) public_key: String,
    /// Whether the signature fits message and key.
    pub(crate) signed: bool,
    /// Why it is not counted, if so.
    pub(crate) flaw: Option<String>,
    /// Whether it is older than the window.
    pub(crate) lapsed: bool,
    /// Whether the key entered the roster within a day.
    pub(crate) new_key: bool,
    /// Whether the key was pinned at the first contact, or accepted since.
    pub(crate) key_confirmed: bool,
}

impl VoteProof {
    /// What has to be said of the key, if it is one of the user.
    pub(crate) fn key_note(&self) -> &'static str {
        match (&self.flaw, self.new_key, self.key_confirmed) {
            (None, true, _) => ", key first seen within a day [!]",
            (None, false, false) => ", key not accepted here [s]",
            _ => "",
        }
    }

    /// Whether it is a live, verified approval.
    pub(crate) fn counts(&self) -> bool {
        self.flaw.is_none() && !self.lapsed && self.selection == Selection::Approved
    }
}

/// Examines all votes in their order. A second approval of one user by the same key is not counted; one by another key
/// may be what a policy asks for, and the tally counts the user once all the same.
pub(super) fn examine(evidence: &Evidence<'_>, proposal: Option<&Proposal>) -> Vec<VoteProof> {
    let mut proofs: Vec<VoteProof> = Vec::new();
    for vote in &evidence.record.row.activity.votes {
        let mut proof = examine_one(evidence, proposal, vote);
        let again = proofs.iter().any(|earlier| {
            earlier.user == proof.user && earlier.public_key == proof.public_key && earlier.counts()
        });
        if proof.counts() && again {
            proof.flaw = Some("this user has voted already; counted once".to_owned());
        }
        proofs.push(proof);
    }
    proofs
}

fn examine_one(evidence: &Evidence<'_>, proposal: Option<&Proposal>, vote: &Vote) -> VoteProof {
    let organization = &evidence.record.organization;
    let activity = &evidence.record.row.activity;
    let proposes = Fingerprint::of(vote.message.as_bytes()) == activity.fingerprint;
    let signed = is_signed(vote);
    let ballot = Ballot::read(&vote.message);
    let flaw = if !signed {
        Some("the signature does not fit the message".to_owned())
    } else if vote.activity_id != activity.id {
        Some("it belongs to another activity".to_owned())
    } else {
        key_flaw(organization, vote)
            .or_else(|| ballot_flaw(&ballot, proposal, vote, proposes, &activity.organization_id.to_string()))
    };
    let cast = vote.created_at.millis();
    // An activity that is over is judged as of its end.
    let reckoned =
        if activity.status == Status::ConsensusNeeded { evidence.now } else { activity.updated_at.millis() };
    let stamped = ballot.stamped.unwrap_or(0).saturating_add(STAMP_AGE_MILLIS);
    let lapsed = reckoned.saturating_sub(cast.min(stamped)) >= VOTE_WINDOW_MILLIS;
    let name = organization.users.iter().find(|user| user.user_id == vote.user_id);
    let id = organization.head.organization_id;
    VoteProof {
        user: vote.user_id,
        name: name.map_or_else(|| vote.user_id.to_string(), |user| clean(&user.user_name)),
        selection: vote.selection,
        proposes,
        cast,
        public_key: clean(&vote.public_key),
        signed,
        flaw,
        lapsed,
        new_key: evidence.roster.is_new(id, vote.user_id, &vote.public_key, evidence.now),
        key_confirmed: evidence.roster.is_confirmed(id, vote.user_id, &vote.public_key),
    }
}

/// Whether the signature fits key and message. Of a passkey's it is not known here at which web site it was made.
pub(super) fn is_signed(vote: &Vote) -> bool {
    let Some(scheme) = Scheme::of_name(&vote.scheme) else { return false };
    let (public_key, signature) = (vote.public_key.clone(), vote.signature.clone());
    stamp::fits(&Stamp { public_key, scheme, signature }, vote.message.as_bytes())
}

/// Whether the key is one of that user in the organization's record.
pub(super) fn is_registered(organization: &OrganizationDetail, user: UserId, public_key: &str) -> bool {
    let user = organization.users.iter().find(|known| known.user_id == user);
    user.is_some_and(|user| user.public_keys().any(|key| canonical(key) == canonical(public_key)))
}

fn key_flaw(organization: &OrganizationDetail, vote: &Vote) -> Option<String> {
    if is_registered(organization, vote.user_id, &vote.public_key) {
        return None;
    }
    Some("its key is not a key of that user in this organization".to_owned())
}

/// The vote's own words.
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

fn ballot_flaw(
    ballot: &Ballot,
    proposal: Option<&Proposal>,
    vote: &Vote,
    proposes: bool,
    organization: &str,
) -> Option<String> {
    let flaw = |text: &str| Some(text.to_owned());
    let founds = proposes && proposal.is_some_and(Proposal::founds);
    if !founds && !ballot.organization.eq_ignore_ascii_case(organization) {
        return flaw("it was signed for another organization");
    }
    if proposes {
        return if vote.selection == Selection::Approved {
            None
        } else {
            flaw("the proposal is shown as a rejection")
        };
    }
    let expected = match vote.selection {
        Selection::Approved => "ACTIVITY_TYPE_APPROVE_ACTIVITY",
        Selection::Rejected => "ACTIVITY_TYPE_REJECT_ACTIVITY",
    };
    if ballot.activity_type != expected {
        return flaw("what was signed is not this vote");
    }
    let Some(proposal) = proposal else { return flaw("there is no proposal to compare it with") };
    match ballot.fingerprint.parse::<Fingerprint>() {
        Ok(named) if named == proposal.fingerprint => None,
        _ => flaw("it was signed for another fingerprint"),
    }
}
