//! Activities in answers: the stored record, joined with the users who voted.

use quorate_common::activity::{Activity, Selection, Status, Vote, VoteAttestation};
use quorate_common::api_error::ApiError;
use quorate_common::wire::{Timestamp, User};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::error::Corrupt;
use crate::kinds;
use crate::model::{ActivityRecord, AttestedProof, Organization, VoteRecord};

/// The votes that the caller may cast on an activity now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CanFlags {
    /// Whether an approval would be accepted.
    pub approve: bool,
    /// Whether a rejection would be accepted.
    pub reject: bool,
}

/// Borrowed form of [`Activity`], which is serialized without copies. The members are the same.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ActivityRef<'a> {
    id: &'a quorate_common::ids::ActivityId,
    organization_id: &'a quorate_common::ids::OrganizationId,
    status: Status,
    #[serde(rename = "type")]
    activity_type: &'static str,
    intent: &'a RawValue,
    result: &'a RawValue,
    votes: Vec<VoteRef<'a>>,
    app_proofs: [(); 0],
    fingerprint: &'a quorate_common::fingerprint::Fingerprint,
    can_approve: bool,
    can_reject: bool,
    created_at: Timestamp,
    updated_at: Timestamp,
    failure: Option<Failure<'a>>,
}

#[serde_with::skip_serializing_none]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct VoteRef<'a> {
    id: &'a quorate_common::ids::VoteId,
    user_id: &'a quorate_common::ids::UserId,
    user: Voter<'a>,
    activity_id: &'a quorate_common::ids::ActivityId,
    selection: Selection,
    message: &'a str,
    public_key: &'a str,
    signature: &'a str,
    scheme: &'static str,
    attestation: Option<VoteAttestation>,
    created_at: Timestamp,
}

/// The user who voted. An existing user is serialized once and reused.
#[derive(Serialize)]
#[serde(untagged)]
enum Voter<'a> {
    Present(&'a RawValue),
    Deleted(Box<User>),
}

/// Returns a user who was deleted after the vote, with the recorded name and without credentials.
fn deleted(vote: &VoteRecord) -> User {
    User {
        user_id: vote.user,
        user_name: vote.user_name.clone(),
        user_email: None,
        user_phone_number: None,
        authenticators: Vec::new(),
        api_keys: Vec::new(),
        user_tags: Vec::new(),
        oauth_providers: Vec::new(),
        created_at: Timestamp::from_millis(vote.created),
        updated_at: Timestamp::from_millis(vote.created),
        mfa_policies: Vec::new(),
    }
}

/// Failure of an activity in its wire form.
#[derive(Serialize)]
struct Failure<'a> {
    code: i32,
    message: &'a str,
    details: &'a [serde_json::Value],
}

impl<'a> Failure<'a> {
    fn of(error: &'a ApiError) -> Self {
        Self { code: error.code.number(), message: &error.message, details: &error.details }
    }
}

fn activity_ref<'a>(
    record: &'a ActivityRecord,
    organization: &'a Organization,
    can: CanFlags,
) -> ActivityRef<'a> {
    let vote = |vote: &'a VoteRecord| VoteRef {
        id: &vote.id,
        user_id: &vote.user,
        user: match organization.member(vote.user).and_then(|member| member.rendered()) {
            Some(user) => Voter::Present(user),
            None => Voter::Deleted(Box::new(deleted(vote))),
        },
        activity_id: &record.id,
        selection: vote.selection,
        message: &vote.message,
        public_key: &vote.public_key,
        signature: &vote.signature,
        scheme: vote.scheme.name(),
        attestation: vote.attestation.as_ref().map(AttestedProof::wire),
        created_at: Timestamp::from_millis(vote.created),
    };
    ActivityRef {
        id: &record.id,
        organization_id: &record.organization,
        status: record.status,
        activity_type: kinds::type_of(record.number),
        intent: &record.intent,
        result: &record.result,
        votes: record.votes.iter().map(vote).collect(),
        app_proofs: [],
        fingerprint: &record.fingerprint,
        can_approve: can.approve,
        can_reject: can.reject,
        created_at: Timestamp::from_millis(record.created),
        updated_at: Timestamp::from_millis(record.updated),
        failure: record.failure.as_ref().map(Failure::of),
    }
}

/// Serializes an activity to JSON.
///
/// # Errors
/// If the activity cannot be serialized.
pub fn activity_json(
    record: &ActivityRecord,
    organization: &Organization,
    can: CanFlags,
) -> Result<Vec<u8>, Corrupt> {
    serde_json::to_vec(&activity_ref(record, organization, can)).map_err(|_| Corrupt::Record("activity"))
}

/// Initial capacity of an answer in bytes, which is enough for most activities with one vote.
const USUAL_BYTES: usize = 3 * 1024;

/// Serializes the answer `{"activity": …}`.
///
/// # Errors
/// If the activity cannot be serialized.
pub fn activity_answer(
    record: &ActivityRecord,
    organization: &Organization,
    can: CanFlags,
) -> Result<Vec<u8>, Corrupt> {
    #[derive(Serialize)]
    struct Answer<'a> {
        activity: ActivityRef<'a>,
    }
    let answer = Answer { activity: activity_ref(record, organization, can) };
    let mut body = Vec::with_capacity(USUAL_BYTES);
    serde_json::to_writer(&mut body, &answer).map_err(|_| Corrupt::Record("activity"))?;
    Ok(body)
}

/// Returns the activity as a value, for the console.
///
/// # Errors
/// If the stored intent or result is not JSON.
pub fn activity(record: &ActivityRecord, organization: &Organization) -> Result<Activity, Corrupt> {
    let error = Corrupt::Record("activity");
    let value = |raw: &RawValue| serde_json::from_str(raw.get()).map_err(|_| error.clone());
    let vote = |vote: &VoteRecord| Vote {
        id: vote.id,
        user_id: vote.user,
        user: Some(organization.user(vote.user).map_or_else(|| deleted(vote), crate::model::User::voter)),
        activity_id: record.id,
        selection: vote.selection,
        message: vote.message.clone(),
        public_key: vote.public_key.clone(),
        signature: vote.signature.clone(),
        scheme: vote.scheme.name().to_owned(),
        attestation: vote.attestation.as_ref().map(AttestedProof::wire),
        created_at: Timestamp::from_millis(vote.created),
    };
    Ok(Activity {
        id: record.id,
        organization_id: record.organization,
        status: record.status,
        activity_type: kinds::type_of(record.number).to_owned(),
        intent: value(&record.intent)?,
        result: value(&record.result)?,
        votes: record.votes.iter().map(vote).collect(),
        app_proofs: Vec::new(),
        fingerprint: record.fingerprint,
        can_approve: false,
        can_reject: false,
        created_at: Timestamp::from_millis(record.created),
        updated_at: Timestamp::from_millis(record.updated),
        failure: record.failure.clone(),
    })
}
