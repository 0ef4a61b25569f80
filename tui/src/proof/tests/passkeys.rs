//! Tests of votes that passkeys sign.

use quorate_common::ids::AuthenticatorId;
use quorate_common::wire::{Authenticator, Credential, Timestamp};

use super::mark;
use crate::passkey::Passkey;
use crate::proof::{Mark, Review};
use crate::testing::{Fixture, NOW, threshold_proposal};

fn authenticator(passkey: &Passkey<'_>) -> Authenticator {
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
    let (own, other) = (Passkey::of("own"), Passkey::of("other"));
    let same = |message: &str| message.to_owned();
    let good = voted(&own, &own, same);
    // The key was added after the first contact and was not accepted.
    assert_eq!((mark(&good, "K7"), good.tally.has()), (Mark::Stated, 2));
    let strange = voted(&other, &own, same);
    assert_eq!((mark(&strange, "K7"), strange.tally.has()), (Mark::Care, 1), "not a key of the voter");
    let elsewhere = voted(&own, &own, |message| message.replace("APPROVE", "REJECT"));
    assert_eq!((mark(&elsewhere, "K7"), elsewhere.tally.has()), (Mark::Care, 1), "signed over other bytes");
}

#[test]
fn user_with_two_keys_counts_once() {
    let (fixture, mut record) = threshold_proposal();
    let own = Passkey::of("own");
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
