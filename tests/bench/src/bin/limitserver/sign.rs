//! What the limit does for a request: the stamp, the signature, the sealed records, the answer.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use base64ct::{Base64UrlUnpadded, Encoding};
use quorate_bench::requests::now_millis;
use quorate_bench::targets::Target;
use quorate_chain::curve::{Curve, Message, SecretKey, Signature};
use quorate_common::activity::{Selection, Status};
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{ActivityId, OrganizationId, UserId, VoteId};
use quorate_common::stamp::{ApiKeyCurve, Scheme, StampKey};
use quorate_core::model::record::Record;
use quorate_core::model::{ActivityRecord, VoteRecord, layout};
use quorate_core::seal::{NONCE, SealKey};
use quorated::store::embedded::Embedded;
use quorated::store::{Batch, Change, Group, Store, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use sha2::{Digest, Sha256};

use crate::commit::Committer;

/// Why there is no answer.
type Flaw = &'static str;

/// Number of the activity type on the wire.
const SIGN_RAW_PAYLOAD_V2: u16 = 51;
/// Random bytes of one request: nonces of three records, the random part of the activity id, a vote id.
const RANDOM: usize = 3 * NONCE + 10 + 16;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StampMembers<'a> {
    public_key: &'a str,
    scheme: &'a str,
    signature: &'a str,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    organization_id: &'a str,
    timestamp_ms: &'a str,
    #[serde(borrow)]
    parameters: Parameters<'a>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Parameters<'a> {
    sign_with: &'a str,
    payload: &'a str,
    encoding: &'a str,
    hash_function: &'a str,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Query<'a> {
    organization_id: &'a str,
}

/// A known API key and its user.
struct Caller {
    key: StampKey,
    user: UserId,
    shown: Box<RawValue>,
}

/// A known organization.
struct Place {
    id: OrganizationId,
    callers: HashMap<String, Caller>,
    keys: HashMap<String, SecretKey>,
}

/// All that the limit knows.
pub(crate) struct Limit {
    places: HashMap<String, Place>,
    seal: SealKey,
    committer: Committer,
}

impl Limit {
    pub(crate) fn open(targets: &[Target], folder: &Path) -> Self {
        let store: Arc<dyn Store> = Arc::new(Embedded::open(folder, 0).expect("the store opens"));
        let mut places: HashMap<String, Place> = HashMap::new();
        for target in targets {
            let id: OrganizationId = target.organization_id.parse().expect("an organization id");
            let empty = || Place { id, callers: HashMap::new(), keys: HashMap::new() };
            let place = places.entry(target.organization_id.clone()).or_insert_with(empty);
            place.callers.insert(target.api_public_key.clone(), caller(target));
            let secret: [u8; 32] = Sha256::digest(&target.sign_with).into();
            let key = SecretKey::from_bytes(Curve::Secp256k1, &secret).expect("the digest is a scalar");
            place.keys.insert(target.sign_with.clone(), key);
        }
        let versions = places.values().map(|place| (version(place.id), 1)).collect();
        store
            .commit(&Group::of(Batch { set: versions, ..Batch::default() }))
            .expect("the store takes writes");
        let seal = SealKey::new(&[1; 32]).expect("32 bytes are a key");
        Self { places, seal, committer: Committer::start(store) }
    }

    /// The twin of a query: who sent this?
    pub(crate) fn whoami(&self, stamp: &str, body: &[u8]) -> Result<Vec<u8>, Flaw> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Answer<'a> {
            organization_id: &'a OrganizationId,
            organization_name: &'static str,
            user_id: &'a UserId,
            username: &'static str,
        }
        let query: Query<'_> = serde_json::from_slice(body).map_err(|_| "not a query")?;
        let place = self.places.get(query.organization_id).ok_or("unknown organization")?;
        let decoded = decode(stamp)?;
        let (caller, _) = authenticate(place, &decoded, body)?;
        let answer = Answer {
            organization_id: &place.id,
            organization_name: "limit",
            user_id: &caller.user,
            username: "user",
        };
        serde_json::to_vec(&answer).map_err(|_| "no JSON")
    }

    /// The twin of a signature: checked, signed, sealed, durable, answered.
    pub(crate) async fn sign(&self, stamp: &str, body: &[u8]) -> Result<Vec<u8>, Flaw> {
        let deciding = self.committer.deciding();
        let (batch, answer) = self.decide(stamp, body)?;
        let durable = self.committer.commit(batch, deciding);
        match durable.await {
            Verdict::Done => Ok(answer),
            Verdict::Clash => Err("known body"),
        }
    }

    fn decide(&self, stamp: &str, body: &[u8]) -> Result<(Batch, Vec<u8>), Flaw> {
        let envelope: Envelope<'_> = serde_json::from_slice(body).map_err(|_| "not a body")?;
        let place = self.places.get(envelope.organization_id).ok_or("unknown organization")?;
        let decoded = decode(stamp)?;
        let (caller, members) = authenticate(place, &decoded, body)?;
        let key = place.keys.get(envelope.parameters.sign_with).ok_or("unknown key")?;
        let digest = const_hex::decode_to_array(envelope.parameters.payload).map_err(|_| "not a digest")?;
        let signature = key.sign(&Message::Digest(digest)).map_err(|_| "no signature")?;
        let mut random = [0; RANDOM];
        getrandom::fill(&mut random).map_err(|_| "no random bytes")?;
        let activity = activity(place, caller, &members, &envelope.parameters, &signature, body, &random)?;
        let answer = answer(&activity, caller)?;
        let stamped = envelope.timestamp_ms.parse().map_err(|_| "no time")?;
        Ok((self.batch(stamped, &activity, &random)?, answer))
    }

    /// The same records as the daemon's, under the same conditions.
    fn batch(&self, stamped: u64, activity: &ActivityRecord, random: &[u8; RANDOM]) -> Result<Batch, Flaw> {
        let (organization, id) = (activity.organization, activity.id);
        let taken = layout::body(stamped, &activity.fingerprint);
        let owner = [organization.as_bytes().as_slice(), id.as_bytes()].concat();
        let record = activity.encode().map_err(|_| "no record")?;
        let listed = layout::activity_listed(organization, activity.status, activity.number, id);
        let values =
            [(taken.clone(), owner), (layout::activity(organization, id), record), (listed, Vec::new())];
        let nonces = random.as_chunks::<NONCE>().0;
        let sealed = values.into_iter().zip(nonces).map(|((key, value), nonce)| {
            let sealed = self.seal.seal(*nonce, &key, &value).map_err(|_| "not sealed")?;
            Ok(Change { key, value: Some(sealed), fresh: true })
        });
        Ok(Batch {
            vacant: Vec::new(),
            expect: vec![(version(organization), 1)],
            absent: vec![taken],
            set: Vec::new(),
            writes: sealed.collect::<Result<_, Flaw>>()?,
        })
    }
}

/// The register that a commit of this organization checks.
fn version(organization: OrganizationId) -> Vec<u8> {
    [b"v".as_slice(), organization.as_bytes()].concat()
}

fn caller(target: &Target) -> Caller {
    let key = StampKey::parse(ApiKeyCurve::P256, &target.api_public_key).expect("a public key");
    let user = UserId::random(Sha256::digest(&target.api_public_key)[..16].try_into().expect("16 bytes"));
    let time = serde_json::json!({ "seconds": "1700000000", "nanos": "0" });
    // As large as the user with one API key that the daemon shows beside a vote.
    let shown = serde_json::json!({
        "userId": user,
        "userName": "user 0",
        "apiKeys": [{
            "credential": { "publicKey": target.api_public_key, "type": "CREDENTIAL_TYPE_API_KEY_P256" },
            "apiKeyId": user,
            "apiKeyName": "bench",
            "createdAt": time,
            "updatedAt": time,
        }],
        "authenticators": [],
        "userTags": [],
        "oauthProviders": [],
        "createdAt": time,
        "updatedAt": time,
    });
    Caller { key, user, shown: to_raw_value(&shown).expect("values serialize") }
}

fn decode(stamp: &str) -> Result<Vec<u8>, Flaw> {
    Base64UrlUnpadded::decode_vec(stamp).map_err(|_| "not a stamp")
}

fn authenticate<'p, 's>(
    place: &'p Place,
    decoded: &'s [u8],
    body: &[u8],
) -> Result<(&'p Caller, StampMembers<'s>), Flaw> {
    let members: StampMembers<'_> = serde_json::from_slice(decoded).map_err(|_| "not a stamp")?;
    let caller = place.callers.get(members.public_key).ok_or("unknown API key")?;
    if members.scheme != Scheme::P256.name() || !caller.key.verify(Scheme::P256, body, members.signature) {
        return Err("the stamp does not fit the body");
    }
    Ok((caller, members))
}

fn activity(
    place: &Place,
    caller: &Caller,
    members: &StampMembers<'_>,
    parameters: &Parameters<'_>,
    signature: &Signature,
    body: &[u8],
    random: &[u8; RANDOM],
) -> Result<ActivityRecord, Flaw> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Intent<'a> {
        sign_raw_payload_intent_v2: &'a Parameters<'a>,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Outcome {
        sign_raw_payload_result: Parts,
    }
    #[derive(Serialize)]
    struct Parts {
        r: String,
        s: String,
        v: String,
    }
    let now = now_millis();
    let (id, vote) = random[3 * NONCE..].split_at(10);
    let parts = Parts { r: signature.r_hex(), s: signature.s_hex(), v: signature.v_hex() };
    let vote = VoteRecord {
        evaluations: Vec::new(),
        id: VoteId::random(vote.try_into().map_err(|_| "too few random bytes")?),
        user: caller.user,
        user_name: "limit".to_owned(),
        selection: Selection::Approved,
        message: std::str::from_utf8(body).map_err(|_| "not a text")?.to_owned(),
        public_key: members.public_key.to_owned(),
        scheme: Scheme::P256,
        signature: members.signature.to_owned(),
        created: now,
    };
    Ok(ActivityRecord {
        id: ActivityId::timed(now, id.try_into().map_err(|_| "too few random bytes")?),
        organization: place.id,
        number: SIGN_RAW_PAYLOAD_V2,
        status: Status::Completed,
        intent: to_raw_value(&Intent { sign_raw_payload_intent_v2: parameters }).map_err(|_| "no JSON")?,
        result: to_raw_value(&Outcome { sign_raw_payload_result: parts }).map_err(|_| "no JSON")?,
        proposer: caller.user,
        votes: vec![vote],
        fingerprint: Fingerprint::of(body),
        failure: None,
        created: now,
        updated: now,
    })
}

#[derive(Serialize)]
struct Time {
    seconds: String,
    nanos: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    id: &'a ActivityId,
    organization_id: &'a OrganizationId,
    status: Status,
    #[serde(rename = "type")]
    activity_type: &'static str,
    intent: &'a RawValue,
    result: &'a RawValue,
    votes: [ShownVote<'a>; 1],
    app_proofs: [(); 0],
    fingerprint: &'a Fingerprint,
    can_approve: bool,
    can_reject: bool,
    created_at: Time,
    updated_at: Time,
    failure: Option<()>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownVote<'a> {
    id: &'a VoteId,
    user_id: &'a UserId,
    user: &'a RawValue,
    activity_id: &'a ActivityId,
    selection: Selection,
    message: &'a str,
    public_key: &'a str,
    signature: &'a str,
    scheme: &'static str,
    created_at: Time,
}

fn answer(activity: &ActivityRecord, caller: &Caller) -> Result<Vec<u8>, Flaw> {
    #[derive(Serialize)]
    struct Answer<'a> {
        activity: Shown<'a>,
    }
    let time = || Time { seconds: (activity.created / 1000).to_string(), nanos: "0" };
    let vote = activity.votes.first().ok_or("no vote")?;
    let vote = ShownVote {
        id: &vote.id,
        user_id: &vote.user,
        user: &caller.shown,
        activity_id: &activity.id,
        selection: vote.selection,
        message: &vote.message,
        public_key: &vote.public_key,
        signature: &vote.signature,
        scheme: vote.scheme.name(),
        created_at: time(),
    };
    let shown = Shown {
        id: &activity.id,
        organization_id: &activity.organization,
        status: activity.status,
        activity_type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2",
        intent: &activity.intent,
        result: &activity.result,
        votes: [vote],
        app_proofs: [],
        fingerprint: &activity.fingerprint,
        can_approve: false,
        can_reject: false,
        created_at: time(),
        updated_at: time(),
        failure: None,
    };
    serde_json::to_vec(&Answer { activity: shown }).map_err(|_| "no JSON")
}
