//! The packed form of an activity, since version 2 of its record: the members below in their order, in the
//! wire format of postcard (specification 1.0). Since version 3, the policy outcomes at each vote follow
//! them, and since version 4, what attested stamps proved. Activities are the most numerous records, and the store writes each several times. The form is
//! therefore compact: it omits member names, refers to parts that occur elsewhere in it, and stores hex as
//! bytes.

use quorate_common::activity::{Selection, Status};
use quorate_common::bounded::{Email, Phone};
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{ActivityId, OrganizationId, PolicyId, ProviderId, UserId, VoteId};
use quorate_common::stamp::Scheme;
use quorate_policy::decide::PolicyOutcome;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::one_time_code::Contact;
use super::record::{Record, from_json};
use super::{ActivityRecord, AttestedProof, Evaluation, Millis, ProvenIdentity, VoteRecord};
use crate::error::Corrupt;

const DAMAGED: Corrupt = Corrupt::Record(ActivityRecord::NOUN);

impl Record for ActivityRecord {
    const NOUN: &'static str = "activity";
    const VERSION: u8 = 4;

    fn encode(&self) -> Result<Vec<u8>, Corrupt> {
        let messages = self.votes.iter().map(|vote| vote.message.len()).sum::<usize>();
        // Enough for everything but failures, to avoid reallocation.
        let mut bytes =
            Vec::with_capacity(messages.saturating_add(self.result.get().len()).saturating_add(1024));
        bytes.push(Self::VERSION);
        pack(self, bytes)
    }

    fn decode(bytes: &[u8]) -> Result<Self, Corrupt> {
        match bytes.split_first() {
            Some((version @ 2..=4, packed)) => unpack(packed, *version),
            Some((1, json)) => from_json(json),
            _ => Err(Corrupt::Record(Self::NOUN)),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Activity<'a> {
    id: [u8; 16],
    organization: [u8; 16],
    number: u16,
    status: Status,
    #[serde(borrow)]
    intent: Intent<'a>,
    result: &'a str,
    proposer: [u8; 16],
    votes: Vec<Vote<'a>>,
    fingerprint: [u8; 32],
    /// JSON.
    failure: Option<String>,
    created: Millis,
    updated: Millis,
}

#[derive(Serialize, Deserialize)]
enum Intent<'a> {
    /// JSON.
    Whole(&'a str),
    /// `{"name":value}`, whose value is this range of the proposal.
    Proposed { name: &'a str, start: usize, length: usize },
}

#[derive(Serialize, Deserialize)]
struct Vote<'a> {
    id: [u8; 16],
    user: [u8; 16],
    user_name: &'a str,
    selection: Selection,
    message: &'a str,
    #[serde(borrow)]
    public_key: Text<'a>,
    scheme: Scheme,
    #[serde(borrow)]
    signature: Text<'a>,
    created: Millis,
}

#[derive(Serialize, Deserialize)]
enum Text<'a> {
    Plain(&'a str),
    /// Lowercase hex, stored as bytes.
    Hex(Vec<u8>),
}

impl<'a> Text<'a> {
    fn of(text: &'a str) -> Self {
        match const_hex::decode(text) {
            Ok(bytes) if const_hex::encode(&bytes) == text => Self::Hex(bytes),
            _ => Self::Plain(text),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Plain(text) => (*text).to_owned(),
            Self::Hex(bytes) => const_hex::encode(bytes),
        }
    }
}

impl<'a> Intent<'a> {
    fn of(intent: &'a RawValue, proposal: &str) -> Self {
        let whole = intent.get();
        let parts = || {
            let (name, value) = whole.strip_prefix("{\"")?.strip_suffix('}')?.split_once("\":")?;
            let start = proposal.find(value)?;
            Some(Self::Proposed { name, start, length: value.len() })
        };
        parts().unwrap_or(Self::Whole(whole))
    }

    fn json(&self, proposal: &str) -> Option<String> {
        match *self {
            Self::Whole(json) => Some(json.to_owned()),
            Self::Proposed { name, start, length } => {
                let value = proposal.get(start..start.checked_add(length)?)?;
                Some(format!("{{\"{name}\":{value}}}"))
            }
        }
    }
}

fn vote(vote: &VoteRecord) -> Vote<'_> {
    Vote {
        id: *vote.id.as_bytes(),
        user: *vote.user.as_bytes(),
        user_name: &vote.user_name,
        selection: vote.selection,
        message: &vote.message,
        public_key: Text::of(&vote.public_key),
        scheme: vote.scheme,
        signature: Text::of(&vote.signature),
        created: vote.created,
    }
}

fn vote_record(vote: &Vote<'_>) -> VoteRecord {
    VoteRecord {
        id: VoteId::from_bytes(vote.id),
        user: UserId::from_bytes(vote.user),
        user_name: vote.user_name.to_owned(),
        selection: vote.selection,
        message: vote.message.to_owned(),
        public_key: vote.public_key.text(),
        scheme: vote.scheme,
        signature: vote.signature.text(),
        attestation: None,
        created: vote.created,
        evaluations: Vec::new(),
    }
}

/// The policy outcomes at each vote: the id of the policy and its outcome.
type Evaluations = Vec<Vec<([u8; 16], PolicyOutcome)>>;

fn evaluations(record: &ActivityRecord) -> Evaluations {
    // For most activities no policy is evaluated, and the list stays empty.
    if record.votes.iter().all(|vote| vote.evaluations.is_empty()) {
        return Vec::new();
    }
    let packed = |one: &Evaluation| (*one.policy.as_bytes(), one.outcome);
    record.votes.iter().map(|vote| vote.evaluations.iter().map(packed).collect()).collect()
}

/// What an attested stamp proved.
#[derive(Serialize, Deserialize)]
enum Attestation<'a> {
    Email(&'a str),
    Phone(&'a str),
    Identity { provider: [u8; 16], issuer: &'a str, audience: &'a str, subject: &'a str },
}

/// What the attested stamps proved: the position of the vote and its proof.
type Attestations<'a> = Vec<(usize, Attestation<'a>)>;

impl<'a> Attestation<'a> {
    fn of(proof: &'a AttestedProof) -> Self {
        match proof {
            AttestedProof::Contact(Contact::Email(email)) => Self::Email(email.as_str()),
            AttestedProof::Contact(Contact::Phone(phone)) => Self::Phone(phone.as_str()),
            AttestedProof::Identity(one) => Self::Identity {
                provider: *one.provider.as_bytes(),
                issuer: &one.issuer,
                audience: &one.audience,
                subject: &one.subject,
            },
        }
    }

    fn proof(&self) -> Option<AttestedProof> {
        Some(match *self {
            Self::Email(email) => {
                AttestedProof::Contact(Contact::Email(Email::parse(email.to_owned()).ok()?))
            }
            Self::Phone(phone) => {
                AttestedProof::Contact(Contact::Phone(Phone::parse(phone.to_owned()).ok()?))
            }
            Self::Identity { provider, issuer, audience, subject } => {
                AttestedProof::Identity(ProvenIdentity {
                    provider: ProviderId::from_bytes(provider),
                    issuer: issuer.to_owned(),
                    audience: audience.to_owned(),
                    subject: subject.to_owned(),
                })
            }
        })
    }
}

fn attestations(record: &ActivityRecord) -> Attestations<'_> {
    let votes = record.votes.iter().enumerate();
    votes.filter_map(|(at, vote)| Some((at, Attestation::of(vote.attestation.as_ref()?)))).collect()
}

/// Appends the packed form to the bytes.
pub(super) fn pack(record: &ActivityRecord, bytes: Vec<u8>) -> Result<Vec<u8>, Corrupt> {
    let failure = record.failure.as_ref().map(serde_json::to_string).transpose().map_err(|_| DAMAGED)?;
    let activity = Activity {
        id: *record.id.as_bytes(),
        organization: *record.organization.as_bytes(),
        number: record.number,
        status: record.status,
        intent: Intent::of(&record.intent, record.proposal().unwrap_or_default()),
        result: record.result.get(),
        proposer: *record.proposer.as_bytes(),
        votes: record.votes.iter().map(vote).collect(),
        fingerprint: *record.fingerprint.as_bytes(),
        failure,
        created: record.created,
        updated: record.updated,
    };
    let bytes = postcard::to_extend(&activity, bytes).map_err(|_| DAMAGED)?;
    let bytes = postcard::to_extend(&evaluations(record), bytes).map_err(|_| DAMAGED)?;
    postcard::to_extend(&attestations(record), bytes).map_err(|_| DAMAGED)
}

/// Decodes a list that follows the packed form since a version; it is empty in earlier ones.
fn list<'a, T: Deserialize<'a>>(bytes: &'a [u8], is_there: bool) -> Result<(Vec<T>, &'a [u8]), Corrupt> {
    if is_there { postcard::take_from_bytes(bytes).map_err(|_| DAMAGED) } else { Ok((Vec::new(), bytes)) }
}

/// Decodes the packed form of a version, without trailing bytes.
pub(super) fn unpack(bytes: &[u8], version: u8) -> Result<ActivityRecord, Corrupt> {
    let (activity, rest): (Activity<'_>, _) = postcard::take_from_bytes(bytes).map_err(|_| DAMAGED)?;
    let (evaluations, rest): (Evaluations, _) = list(rest, version >= 3)?;
    let (attestations, rest): (Attestations<'_>, _) = list(rest, version >= 4)?;
    if !rest.is_empty() || evaluations.len() > activity.votes.len() {
        return Err(DAMAGED);
    }
    let mut votes: Vec<VoteRecord> = activity.votes.iter().map(vote_record).collect();
    for (vote, outcomes) in votes.iter_mut().zip(evaluations) {
        let outcomes = outcomes.into_iter();
        vote.evaluations = outcomes
            .map(|(policy, outcome)| Evaluation { policy: PolicyId::from_bytes(policy), outcome })
            .collect();
    }
    for (at, attestation) in attestations {
        let vote = votes.get_mut(at).ok_or(DAMAGED)?;
        vote.attestation = Some(attestation.proof().ok_or(DAMAGED)?);
    }
    let raw = |json: String| RawValue::from_string(json).map_err(|_| DAMAGED);
    let proposal = activity.votes.first().map_or("", |vote| vote.message);
    let intent = raw(activity.intent.json(proposal).ok_or(DAMAGED)?)?;
    let failure = activity.failure.as_deref().map(serde_json::from_str).transpose().map_err(|_| DAMAGED)?;
    Ok(ActivityRecord {
        id: ActivityId::from_bytes(activity.id),
        organization: OrganizationId::from_bytes(activity.organization),
        number: activity.number,
        status: activity.status,
        intent,
        result: raw(activity.result.to_owned())?,
        proposer: UserId::from_bytes(activity.proposer),
        votes,
        fingerprint: Fingerprint::from_bytes(activity.fingerprint),
        failure,
        created: activity.created,
        updated: activity.updated,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    /// Encodes the values of an enumeration.
    fn stored<T: Serialize>(all: &[T]) -> Vec<Vec<u8>> {
        all.iter().map(|one| postcard::to_extend(one, Vec::new()).unwrap()).collect()
    }

    #[test]
    fn enumeration_numbers_are_stable() {
        let first = |count: u8| (0..count).map(|number| vec![number]).collect::<Vec<_>>();
        assert_eq!(stored(&Status::ALL), first(7));
        assert_eq!(stored(&[Selection::Approved, Selection::Rejected]), first(2));
        let schemes =
            [Scheme::P256, Scheme::Secp256k1, Scheme::Ed25519, Scheme::Secp256k1Eip191, Scheme::Webauthn];
        assert_eq!(stored(&schemes), first(5));
        let outcomes = [
            PolicyOutcome::Allow,
            PolicyOutcome::DenyExplicit,
            PolicyOutcome::DenyImplicit,
            PolicyOutcome::RequiresConsensus,
            PolicyOutcome::Error,
            PolicyOutcome::TimeInactive,
        ];
        assert_eq!(stored(&outcomes), first(6));
        let attested = [Scheme::AttestedIdToken, Scheme::AttestedVerificationToken];
        assert_eq!(stored(&attested), [[5], [6]]);
        let attestations = [
            Attestation::Email(""),
            Attestation::Phone(""),
            Attestation::Identity { provider: [0; 16], issuer: "", audience: "", subject: "" },
        ];
        let numbers: Vec<u8> = stored(&attestations).iter().filter_map(|one| one.first().copied()).collect();
        assert_eq!(numbers, [0, 1, 2]);
    }

    #[test]
    fn intents_round_trip() {
        for (intent, proposal, proposed) in [
            (r#"{"aIntent":{"b":1}}"#, r#"{"parameters":{"b":1}}"#, true),
            (r#"{"aIntent":{"b":1}}"#, r#"{"parameters":{ "b":1}}"#, false),
            (r#"{"aIntent":{"b":1}}"#, "", false),
            (r#"{"aIntent":{"é":"\":"}}"#, r#"{"p":{"é":"\":"}}"#, true),
            ("{}", "{}", false),
        ] {
            let raw = RawValue::from_string(intent.to_owned()).unwrap();
            let packed = Intent::of(&raw, proposal);
            assert_eq!(matches!(packed, Intent::Proposed { .. }), proposed, "{intent}");
            assert_eq!(packed.json(proposal).as_deref(), Some(intent));
        }
        for (start, length) in [(0, 9), (usize::MAX, 1), (1, usize::MAX), (1, 1)] {
            assert_eq!(Intent::Proposed { name: "a", start, length }.json("é"), None);
        }
    }

    #[test]
    fn texts_round_trip() {
        for text in ["02ab", "02AB", "0x02", "2ab", "", "text"] {
            assert_eq!(Text::of(text).text(), text);
        }
    }
}
