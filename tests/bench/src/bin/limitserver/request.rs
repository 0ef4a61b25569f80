//! Request handling of both limits: parse, find caller and key, check the stamp, sign, and format the
//! activity.

use std::collections::HashMap;

use base64ct::{Base64UrlUnpadded, Encoding};
use quorate_bench::targets::Target;
use quorate_chain::curve::{Curve, Message, SecretKey, Signature};
use quorate_common::activity::{Selection, Status};
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{ActivityId, OrganizationId, UserId, VoteId};
use quorate_common::stamp::{ApiKeyCurve, Scheme, StampKey};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use sha2::{Digest, Sha256};

/// Reason for a rejected request.
pub(crate) type Invalid = &'static str;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StampMembers<'a> {
    pub(crate) public_key: &'a str,
    scheme: &'a str,
    pub(crate) signature: &'a str,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Envelope<'a> {
    organization_id: &'a str,
    pub(crate) timestamp_ms: &'a str,
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
pub(crate) struct Caller {
    key: StampKey,
    pub(crate) user: UserId,
    pub(crate) shown: Box<RawValue>,
}

/// A known organization.
pub(crate) struct Organization {
    pub(crate) id: OrganizationId,
    callers: HashMap<String, Caller>,
    keys: HashMap<String, SecretKey>,
}

/// A signing request with a verified stamp, and its verified signature.
pub(crate) struct Signed<'a> {
    pub(crate) organization: &'a Organization,
    pub(crate) caller: &'a Caller,
    pub(crate) members: StampMembers<'a>,
    pub(crate) envelope: Envelope<'a>,
    signature: Signature,
}

/// All organizations by id.
pub(crate) struct Organizations(HashMap<String, Organization>);

impl Organizations {
    pub(crate) fn of(targets: &[Target]) -> Self {
        let mut organizations: HashMap<String, Organization> = HashMap::new();
        for target in targets {
            let id: OrganizationId = target.organization_id.parse().expect("an organization id");
            let empty = || Organization { id, callers: HashMap::new(), keys: HashMap::new() };
            let organization = organizations.entry(target.organization_id.clone()).or_insert_with(empty);
            organization.callers.insert(target.api_public_key.clone(), caller(target));
            let secret: [u8; 32] = Sha256::digest(&target.sign_with).into();
            let key = SecretKey::from_bytes(Curve::Secp256k1, &secret).expect("the digest is a scalar");
            organization.keys.insert(target.sign_with.clone(), key);
        }
        Self(organizations)
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = OrganizationId> {
        self.0.values().map(|organization| organization.id)
    }

    fn get(&self, id: &str) -> Result<&Organization, Invalid> {
        self.0.get(id).ok_or("unknown organization")
    }

    /// Answers a `whoami` query.
    pub(crate) fn whoami(&self, stamp: &str, body: &[u8]) -> Result<Vec<u8>, Invalid> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Answer<'a> {
            organization_id: &'a OrganizationId,
            organization_name: &'static str,
            user_id: &'a UserId,
            username: &'static str,
        }
        let query: Query<'_> = serde_json::from_slice(body).map_err(|_| "not a query")?;
        let organization = self.get(query.organization_id)?;
        let decoded = decode(stamp)?;
        let (caller, _) = authenticate(organization, &decoded, body)?;
        let answer = Answer {
            organization_id: &organization.id,
            organization_name: "limit",
            user_id: &caller.user,
            username: "user",
        };
        serde_json::to_vec(&answer).map_err(|_| "no JSON")
    }

    /// Verifies a decoded stamp and signs.
    pub(crate) fn sign<'a>(&'a self, decoded: &'a [u8], body: &'a [u8]) -> Result<Signed<'a>, Invalid> {
        let envelope: Envelope<'_> = serde_json::from_slice(body).map_err(|_| "not a body")?;
        let organization = self.get(envelope.organization_id)?;
        let (caller, members) = authenticate(organization, decoded, body)?;
        let key = organization.keys.get(envelope.parameters.sign_with).ok_or("unknown key")?;
        let digest = const_hex::decode_to_array(envelope.parameters.payload).map_err(|_| "not a digest")?;
        let signature = key.sign(&Message::Digest(digest)).map_err(|_| "no signature")?;
        Ok(Signed { organization, caller, members, envelope, signature })
    }
}

pub(crate) fn decode(stamp: &str) -> Result<Vec<u8>, Invalid> {
    Base64UrlUnpadded::decode_vec(stamp).map_err(|_| "not a stamp")
}

impl Signed<'_> {
    pub(crate) fn intent(&self) -> Result<Box<RawValue>, Invalid> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Intent<'a> {
            sign_raw_payload_intent_v2: &'a Parameters<'a>,
        }
        let intent = Intent { sign_raw_payload_intent_v2: &self.envelope.parameters };
        to_raw_value(&intent).map_err(|_| "no JSON")
    }

    pub(crate) fn result(&self) -> Result<Box<RawValue>, Invalid> {
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
        let signature = &self.signature;
        let parts = Parts { r: signature.r_hex(), s: signature.s_hex(), v: signature.v_hex() };
        to_raw_value(&Outcome { sign_raw_payload_result: parts }).map_err(|_| "no JSON")
    }
}

fn caller(target: &Target) -> Caller {
    let key = StampKey::parse(ApiKeyCurve::P256, &target.api_public_key).expect("a public key");
    let user = UserId::random(Sha256::digest(&target.api_public_key)[..16].try_into().expect("16 bytes"));
    let time = serde_json::json!({ "seconds": "1700000000", "nanos": "0" });
    // As large as the user with one API key that the daemon reports with a vote.
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

fn authenticate<'p, 's>(
    organization: &'p Organization,
    decoded: &'s [u8],
    body: &[u8],
) -> Result<(&'p Caller, StampMembers<'s>), Invalid> {
    let members: StampMembers<'_> = serde_json::from_slice(decoded).map_err(|_| "not a stamp")?;
    let caller = organization.callers.get(members.public_key).ok_or("unknown API key")?;
    if members.scheme != Scheme::P256.name() || !caller.key.verify(Scheme::P256, body, members.signature) {
        return Err("the stamp does not fit the body");
    }
    Ok((caller, members))
}

#[derive(Serialize)]
pub(crate) struct Time {
    seconds: String,
    nanos: &'static str,
}

impl Time {
    pub(crate) fn of(millis: u64) -> Self {
        Self { seconds: (millis / 1000).to_string(), nanos: "0" }
    }
}

/// The answer to a signing request.
#[derive(Serialize)]
pub(crate) struct Answer<'a> {
    pub(crate) activity: ActivityAnswer<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ActivityAnswer<'a> {
    pub(crate) id: &'a ActivityId,
    pub(crate) organization_id: &'a OrganizationId,
    pub(crate) status: Status,
    #[serde(rename = "type")]
    pub(crate) activity_type: &'static str,
    pub(crate) intent: &'a RawValue,
    pub(crate) result: &'a RawValue,
    pub(crate) votes: &'a [VoteAnswer<'a>],
    pub(crate) app_proofs: [(); 0],
    pub(crate) fingerprint: &'a Fingerprint,
    pub(crate) can_approve: bool,
    pub(crate) can_reject: bool,
    pub(crate) created_at: Time,
    pub(crate) updated_at: Time,
    pub(crate) failure: Option<()>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VoteAnswer<'a> {
    pub(crate) id: &'a VoteId,
    pub(crate) user_id: &'a UserId,
    pub(crate) user: &'a RawValue,
    pub(crate) activity_id: &'a ActivityId,
    pub(crate) selection: Selection,
    pub(crate) message: &'a str,
    pub(crate) public_key: &'a str,
    pub(crate) signature: &'a str,
    pub(crate) scheme: &'static str,
    pub(crate) created_at: Time,
}

impl<'a> ActivityAnswer<'a> {
    /// Creates a completed activity that signs a raw payload, without votes.
    pub(crate) fn completed(
        id: &'a ActivityId,
        organization_id: &'a OrganizationId,
        (intent, result): (&'a RawValue, &'a RawValue),
        fingerprint: &'a Fingerprint,
        created: u64,
    ) -> Self {
        Self {
            id,
            organization_id,
            status: Status::Completed,
            activity_type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2",
            intent,
            result,
            votes: &[],
            app_proofs: [],
            fingerprint,
            can_approve: false,
            can_reject: false,
            created_at: Time::of(created),
            updated_at: Time::of(created),
            failure: None,
        }
    }
}
