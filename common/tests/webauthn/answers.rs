//! What an honest authenticator answers holds, and says what it must.

use quorate_common::webauthn::{Assertion, AssertionFlaw};
use sha2::{Digest, Sha256};

use crate::witness::{AAGUID, BODY, ORIGIN, RELYING_PARTY, Witness, encoded};

#[test]
fn registrations_hold() {
    let registration = Witness::new().register();
    let credential = registration.verify().unwrap();
    assert_eq!(credential.credential_id, registration.credential_id);
    assert_eq!(credential.relying_party, *Sha256::digest(RELYING_PARTY));
    assert_eq!(credential.aaguid, encoded(&AAGUID));
    assert_eq!(credential.format, "none");
    assert_eq!(credential.origin, ORIGIN);
    assert_eq!(credential.signature_count, 0);
}

#[test]
fn assertions_hold_for_their_body() {
    let mut witness = Witness::new();
    let key = witness.register().key();
    for count in 1..4 {
        let answer = witness.assert(BODY);
        let proven = answer.verify(&key, BODY).unwrap();
        assert_eq!(proven.origin, ORIGIN);
        assert_eq!(proven.relying_party, *Sha256::digest(RELYING_PARTY));
        assert_eq!(proven.signature_count, count);
        assert!(proven.user_verified);
    }
}

#[test]
fn verification_of_the_user_is_told_and_not_asked_for() {
    let mut witness = Witness::without_verification();
    let key = witness.register().key();
    let proven = witness.assert(BODY).verify(&key, BODY).unwrap();
    assert!(!proven.user_verified);
}

#[test]
fn the_kept_text_reads_the_same() {
    let mut witness = Witness::new();
    witness.register();
    let answer = witness.assert(BODY);
    let assertion = Assertion::read(&answer.header()).unwrap();
    assert_eq!(assertion.credential_id(), encoded(&answer.credential_id));
    assert_eq!(Assertion::read(&assertion.text()), Ok(assertion.clone()));
    assert!(assertion.text().starts_with("{\"credentialId\":\""), "{}", assertion.text());
}

#[test]
fn without_a_person_nothing_holds() {
    let mut witness = Witness::new();
    let key = witness.register().key();
    let mut answer = witness.assert(BODY);
    answer.data[32] &= !1;
    assert_eq!(witness.sign(answer).verify(&key, BODY), Err(AssertionFlaw::Signature));
}
