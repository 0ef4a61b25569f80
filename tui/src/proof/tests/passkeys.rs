//! Tests of votes that passkeys sign.

use base64ct::{Base64UrlUnpadded, Encoding};
use quorate_chain::curve::{Curve, SecretKey};
use quorate_common::ids::AuthenticatorId;
use quorate_common::stamp::{ApiKeyCurve, Stamper};
use quorate_common::webauthn::challenge_of;
use quorate_common::wire::{Authenticator, Credential, Timestamp};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::mark;
use crate::proof::{Mark, Review};
use crate::testing::{Fixture, NOW, threshold_proposal};

/// A software authenticator whose key is derived from its name.
pub(super) struct Passkey<'a>(pub(super) &'a str);

impl Passkey<'_> {
    fn secret(&self) -> [u8; 32] {
        Sha256::digest(self.0).into()
    }

    fn id(&self) -> String {
        Base64UrlUnpadded::encode_string(self.0.as_bytes())
    }

    /// Returns the public key: base64url of the COSE key on P-256 (RFC 9053 §7.1.1).
    pub(super) fn public_key(&self) -> String {
        let key = SecretKey::from_bytes(Curve::P256, &self.secret()).unwrap();
        let point = key.public().uncompressed().unwrap();
        let (x, y) = point[1..].split_at(32);
        let head: &[u8] = &[0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32];
        Base64UrlUnpadded::encode_string(&[head, x, &[0x22, 0x58, 32], y].concat())
    }

    /// Signs a body (Web Authentication Level 2 §7.2) and returns the value of `X-Stamp-Webauthn`.
    pub(super) fn header(&self, body: &[u8]) -> String {
        let origin = "https://house.example";
        let client_data = json!({"type": "webauthn.get", "challenge": challenge_of(body), "origin": origin});
        let client_data = client_data.to_string();
        // User present, no signature counter.
        let data = [&Sha256::digest("house.example")[..], &[1], &[0; 4]].concat();
        let stamper = Stamper::new(ApiKeyCurve::P256, &self.secret()).unwrap();
        let signed = stamper.stamp(&[&data[..], &Sha256::digest(&client_data)].concat()).unwrap();
        let signature = const_hex::decode(signed.signature).unwrap();
        json!({"credentialId": self.id(), "authenticatorData": Base64UrlUnpadded::encode_string(&data),
            "clientDataJson": Base64UrlUnpadded::encode_string(client_data.as_bytes()),
            "signature": Base64UrlUnpadded::encode_string(&signature)})
        .to_string()
    }
}

pub(super) fn authenticator(passkey: &Passkey<'_>) -> Authenticator {
    let day = Timestamp::from_millis(NOW - 9 * 86_400_000);
    Authenticator {
        transports: Vec::new(),
        attestation_type: "none".to_owned(),
        aaguid: String::new(),
        credential_id: passkey.id(),
        model: "Security key".to_owned(),
        credential: Credential {
            public_key: passkey.public_key(),
            credential_type: "CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR".to_owned(),
        },
        authenticator_id: AuthenticatorId::from_bytes([0x31; 16]),
        authenticator_name: "yubi-5c".to_owned(),
        created_at: day.clone(),
        updated_at: day,
    }
}

/// Reviews a record with a second approval that a passkey stamped.
fn voted(passkey: &Passkey<'_>, registered: &Passkey<'_>, signed: impl Fn(&str) -> String) -> Review {
    let (fixture, mut record) = threshold_proposal();
    fixture.approve(&mut record, 2);
    let vote = &mut record.row.activity.votes[1];
    vote.public_key = passkey.public_key();
    vote.scheme = "SIGNATURE_SCHEME_TK_WEBAUTHN".to_owned();
    vote.signature = passkey.header(signed(&vote.message).as_bytes());
    let voter = record.organization.users.iter_mut().find(|user| user.user_id == Fixture::user(2)).unwrap();
    voter.authenticators.push(authenticator(registered));
    fixture.review(&record, 0)
}

#[test]
fn approval_by_a_passkey_counts() {
    let (own, other) = (Passkey("own"), Passkey("other"));
    let same = |message: &str| message.to_owned();
    let good = voted(&own, &own, same);
    // The key was added after the first contact and was not accepted.
    assert_eq!((mark(&good, "K7"), good.tally.has()), (Mark::Stated, 2));
    let strange = voted(&other, &own, same);
    assert_eq!((mark(&strange, "K7"), strange.tally.has()), (Mark::Attention, 1), "not a key of the voter");
    let elsewhere = voted(&own, &own, |message| message.replace("APPROVE", "REJECT"));
    assert_eq!(
        (mark(&elsewhere, "K7"), elsewhere.tally.has()),
        (Mark::Attention, 1),
        "signed over other bytes"
    );
}

#[test]
fn user_with_two_keys_counts_once() {
    let (fixture, mut record) = threshold_proposal();
    let own = Passkey("own");
    // The proposer approves again, with an own passkey.
    let proposer = record.row.activity.votes[0].user_id;
    let who = (0..3).find(|index| Fixture::user(*index) == proposer).unwrap();
    fixture.approve(&mut record, who);
    let vote = &mut record.row.activity.votes[1];
    vote.public_key = own.public_key();
    vote.scheme = "SIGNATURE_SCHEME_TK_WEBAUTHN".to_owned();
    vote.signature = own.header(vote.message.as_bytes());
    let voter = record.organization.users.iter_mut().find(|user| user.user_id == proposer).unwrap();
    voter.authenticators.push(authenticator(&own));
    let review = fixture.review(&record, 0);
    assert!(review.votes.iter().all(crate::proof::VoteProof::counts), "both are valid");
    assert_eq!((review.tally.has(), review.tally.counted.len(), review.tally.root.len()), (1, 1, 1));
}
