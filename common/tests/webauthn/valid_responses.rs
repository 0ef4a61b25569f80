//! Responses of a correct authenticator verify and have the expected contents.

use quorate_common::webauthn::{Assertion, AssertionError};
use sha2::{Digest, Sha256};

use crate::authenticator::{AAGUID, Authenticator, BODY, ORIGIN, RELYING_PARTY, encoded};

#[test]
fn registrations_verify() {
    let registration = Authenticator::new().register();
    let credential = registration.verify().unwrap();
    assert_eq!(credential.credential_id, registration.credential_id);
    assert_eq!(credential.relying_party, *Sha256::digest(RELYING_PARTY));
    assert_eq!(credential.aaguid, encoded(&AAGUID));
    assert_eq!(credential.format, "none");
    assert_eq!(credential.origin, ORIGIN);
    assert_eq!(credential.signature_count, 0);
}

#[test]
fn assertions_verify_for_their_body() {
    let mut authenticator = Authenticator::new();
    let key = authenticator.register().key();
    for count in 1..4 {
        let response = authenticator.assert(BODY);
        let verified = response.verify(&key, BODY).unwrap();
        assert_eq!(verified.origin, ORIGIN);
        assert_eq!(verified.relying_party, *Sha256::digest(RELYING_PARTY));
        assert_eq!(verified.signature_count, count);
        assert!(verified.user_verified);
    }
}

#[test]
fn user_verification_is_reported_and_not_required() {
    let mut authenticator = Authenticator::without_verification();
    let key = authenticator.register().key();
    let verified = authenticator.assert(BODY).verify(&key, BODY).unwrap();
    assert!(!verified.user_verified);
}

#[test]
fn stored_text_parses_to_an_equal_assertion() {
    let mut authenticator = Authenticator::new();
    authenticator.register();
    let response = authenticator.assert(BODY);
    let assertion = Assertion::read(&response.header()).unwrap();
    assert_eq!(assertion.credential_id(), encoded(&response.credential_id));
    assert_eq!(Assertion::read(&assertion.text()), Ok(assertion.clone()));
    assert!(assertion.text().starts_with("{\"credentialId\":\""), "{}", assertion.text());
}

#[test]
fn assertions_need_a_present_user() {
    let mut authenticator = Authenticator::new();
    let key = authenticator.register().key();
    let mut response = authenticator.assert(BODY);
    response.data[32] &= !1;
    assert_eq!(authenticator.sign(response).verify(&key, BODY), Err(AssertionError::Signature));
}
