//! Properties that hold for arbitrary bytes, and for recorded responses with arbitrary damage.

use std::sync::LazyLock;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use quorate_common::webauthn::{Assertion, Attestation, NewCredential, PasskeyKey, challenge_of};

use crate::authenticator::{Authenticator, BODY, Registration, Response, encoded};
use crate::builder::{bytes, data_of, map, object, text};

/// Recorded responses, parsed once. All damage applies to these.
struct Recorded {
    registration: Registration,
    credential: NewCredential,
    key: PasskeyKey,
    response: Response,
    assertion: Assertion,
}

static RECORDED: LazyLock<Recorded> = LazyLock::new(|| {
    let mut authenticator = Authenticator::new();
    let registration = authenticator.register();
    let response = authenticator.assert(BODY);
    Recorded {
        credential: registration.verify().unwrap(),
        key: registration.key(),
        assertion: Assertion::read(&response.header()).unwrap(),
        registration,
        response,
    }
});

/// A modification of a byte string.
#[derive(Clone, Debug)]
enum Damage {
    /// XORs a byte with a mask.
    Change(Index, u8),
    /// Inserts a byte.
    Insert(Index, u8),
    /// Removes a byte.
    Remove(Index),
    /// Removes everything from an index on.
    Cut(Index),
    /// Repeats a range of bytes.
    Double(Index, Index),
    /// Swaps two bytes.
    Swap(Index, Index),
}

impl Damage {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let length = bytes.len();
        if length == 0 {
            return;
        }
        match self {
            Self::Change(index, mask) => bytes[index.index(length)] ^= mask,
            Self::Insert(index, byte) => bytes.insert(index.index(length + 1), *byte),
            Self::Remove(index) => drop(bytes.remove(index.index(length))),
            Self::Cut(index) => bytes.truncate(index.index(length)),
            Self::Double(one, other) => {
                let (one, other) = (one.index(length), other.index(length));
                let piece = bytes[one.min(other)..=one.max(other)].to_vec();
                let end = one.max(other) + 1;
                bytes.splice(end..end, piece);
            }
            Self::Swap(one, other) => bytes.swap(one.index(length), other.index(length)),
        }
    }
}

fn damage() -> impl Strategy<Value = Damage> {
    let index = any::<Index>;
    prop_oneof![
        4 => (index(), 1..=u8::MAX).prop_map(|(index, mask)| Damage::Change(index, mask)),
        2 => (index(), any::<u8>()).prop_map(|(index, byte)| Damage::Insert(index, byte)),
        2 => index().prop_map(Damage::Remove),
        1 => index().prop_map(Damage::Cut),
        1 => (index(), index()).prop_map(|(one, other)| Damage::Double(one, other)),
        1 => (index(), index()).prop_map(|(one, other)| Damage::Swap(one, other)),
    ]
}

fn damaged(bytes: &[u8], damages: &[Damage]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for damage in damages {
        damage.apply(&mut bytes);
    }
    bytes
}

/// Heads of CBOR values mixed with arbitrary bytes, so that parsers get beyond the first value.
fn cbor_like() -> impl Strategy<Value = Vec<u8>> {
    let heads =
        [0xa1, 0xa3, 0xa5, 0x81, 0x82, 0x58, 0x59, 0x63, 0x67, 0x20, 0x26, 0x9f, 0xbf, 0x5f, 0xff, 0xbb];
    vec(prop_oneof![select(heads.to_vec()), any::<u8>()], 0..200)
}

fn anything() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        vec(any::<u8>(), 0..300).prop_map(|bytes| encoded(&bytes)),
        cbor_like().prop_map(|bytes| encoded(&bytes)),
        "[A-Za-z0-9_=+/-]{0,80}",
        r#"\{("(credentialId|signature|clientDataJson|authenticatorData)":"[A-Za-z0-9_-]{0,12}",?){0,5}\}"#,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Damage that leaves the response unchanged is skipped.
    #[test]
    fn damaged_assertions_never_verify(
        part in 0..3_usize,
        damages in vec(damage(), 1..4),
    ) {
        let recorded = &*RECORDED;
        let mut response = recorded.response.clone();
        let bytes = [&mut response.data, &mut response.client_data, &mut response.signature];
        for (index, bytes) in bytes.into_iter().enumerate() {
            if index == part {
                *bytes = damaged(bytes, &damages);
            }
        }
        prop_assume!(response != recorded.response);
        prop_assert!(response.verify(&recorded.key, BODY).is_err());
    }

    /// A damaged header may still be valid, for example with other white space or another id, which is not
    /// signed. The signed parts are then unchanged, byte for byte.
    #[test]
    fn damaged_headers_keep_the_signed_data_or_fail(damages in vec(damage(), 1..4), is_raw in any::<bool>()) {
        let recorded = &*RECORDED;
        let raw = recorded.response.header();
        let header = if is_raw { raw } else { encoded(raw.as_bytes()) };
        let header = String::from_utf8_lossy(&damaged(header.as_bytes(), &damages)).into_owned();
        let Ok(assertion) = Assertion::read(&header) else { return Ok(()) };
        prop_assert_eq!(&Assertion::read(&assertion.text()).unwrap(), &assertion);
        if recorded.key.verify(&assertion, BODY).is_ok() {
            let renamed = assertion.text().replace(assertion.credential_id(), recorded.assertion.credential_id());
            prop_assert_eq!(renamed, recorded.assertion.text());
        }
    }

    #[test]
    fn other_bodies_never_verify(body in vec(any::<u8>(), 0..200), damages in vec(damage(), 1..3)) {
        let recorded = &*RECORDED;
        for body in [body, damaged(BODY, &damages)] {
            prop_assume!(body != BODY);
            prop_assert!(recorded.key.verify(&recorded.assertion, &body).is_err());
            prop_assert_ne!(challenge_of(&body), challenge_of(BODY));
        }
    }

    /// Without a statement, a registration has no signature. Damage to the model, relying party, counter or
    /// origin is then undetectable: the stamp over the body decides who may register. The id, the key and the
    /// format must not change.
    #[test]
    fn damaged_registrations_return_no_other_credential(
        part in 0..4_usize,
        damages in vec(damage(), 1..4),
    ) {
        let recorded = &*RECORDED;
        let mut changed = recorded.registration.clone();
        match part {
            0 => changed.object = damaged(&changed.object, &damages),
            1 => changed.client_data = damaged(&changed.client_data, &damages),
            2 => {
                let data = damaged(&data_of(&changed.object), &damages);
                changed.object = map(&object("none", &map(&[]), &data));
            }
            _ => {
                let id = damaged(changed.credential_id.as_bytes(), &damages);
                changed.credential_id = String::from_utf8_lossy(&id).into_owned();
            }
        }
        if let Ok(credential) = changed.verify() {
            prop_assert_eq!(&credential.credential_id, &recorded.credential.credential_id);
            prop_assert_eq!(&credential.public_key, &recorded.credential.public_key);
            prop_assert_eq!(&credential.format, &recorded.credential.format);
        }
    }

    #[test]
    fn arbitrary_text_never_panics_or_registers(
        challenge in anything(),
        credential_id in anything(),
        client_data_json in anything(),
        attestation_object in anything(),
    ) {
        let attestation = Attestation {
            challenge: &challenge,
            credential_id: &credential_id,
            client_data_json: &client_data_json,
            attestation_object: &attestation_object,
        };
        prop_assert!(attestation.verify().is_err());
        let recorded = &*RECORDED;
        let around = Attestation {
            challenge: &recorded.registration.challenge,
            credential_id: &recorded.registration.credential_id,
            client_data_json: &encoded(&recorded.registration.client_data),
            attestation_object: &attestation_object,
        };
        prop_assert!(around.verify().is_err());
        prop_assert!(PasskeyKey::parse(&attestation_object).is_err());
        if let Ok(assertion) = Assertion::read(&client_data_json) {
            prop_assert!(recorded.key.verify(&assertion, BODY).is_err());
        }
    }

    /// Arbitrary bytes replace authenticator data, a key, a statement or client data.
    #[test]
    fn arbitrary_nested_bytes_never_panic(bytes_within in cbor_like()) {
        let recorded = &*RECORDED;
        let data = data_of(&recorded.registration.object);
        let key_at = 55 + usize::from(u16::from_be_bytes([data[53], data[54]]));
        let own = object("none", &map(&[]), &data);
        let with_key = [&data[..key_at], &bytes_within].concat();
        for members in [
            object("none", &map(&[]), &bytes_within),
            object("none", &map(&[]), &with_key),
            object("packed", &bytes_within, &data),
            vec![own[0].clone(), own[1].clone(), (text("authData"), bytes_within.clone())],
            vec![own[0].clone(), (text("attStmt"), bytes(&bytes_within)), own[2].clone()],
        ] {
            prop_assert!(recorded.registration.with_object(&members).verify().is_err());
        }
        let response = Response { data: bytes_within.clone(), ..recorded.response.clone() };
        prop_assert!(response.verify(&recorded.key, BODY).is_err());
        let response = Response { client_data: bytes_within, ..recorded.response.clone() };
        prop_assert!(response.verify(&recorded.key, BODY).is_err());
    }
}
