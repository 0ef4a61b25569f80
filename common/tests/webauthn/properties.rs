//! What holds for any bytes, and for real answers with any damage.

use std::sync::LazyLock;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use quorate_common::webauthn::{Assertion, Attestation, NewCredential, PasskeyKey, challenge_of};

use crate::forge::{bytes, data_of, map, object, text};
use crate::witness::{Answer, BODY, Registration, Witness, encoded};

/// Real answers, made once: what is damaged is always the same.
struct Real {
    registration: Registration,
    credential: NewCredential,
    key: PasskeyKey,
    answer: Answer,
    assertion: Assertion,
}

static REAL: LazyLock<Real> = LazyLock::new(|| {
    let mut witness = Witness::new();
    let registration = witness.register();
    let answer = witness.assert(BODY);
    Real {
        credential: registration.verify().unwrap(),
        key: registration.key(),
        assertion: Assertion::read(&answer.header()).unwrap(),
        registration,
        answer,
    }
});

/// What is done to a byte string.
#[derive(Clone, Debug)]
enum Damage {
    /// A byte becomes another one.
    Change(Index, u8),
    /// A byte comes in.
    Insert(Index, u8),
    /// A byte goes.
    Remove(Index),
    /// All from here on goes.
    Cut(Index),
    /// A piece stands twice.
    Double(Index, Index),
    /// Two bytes change places.
    Swap(Index, Index),
}

impl Damage {
    fn done_to(&self, bytes: &mut Vec<u8>) {
        let length = bytes.len();
        if length == 0 {
            return;
        }
        match self {
            Self::Change(place, mask) => bytes[place.index(length)] ^= mask,
            Self::Insert(place, byte) => bytes.insert(place.index(length + 1), *byte),
            Self::Remove(place) => drop(bytes.remove(place.index(length))),
            Self::Cut(place) => bytes.truncate(place.index(length)),
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
    let place = any::<Index>;
    prop_oneof![
        4 => (place(), 1..=u8::MAX).prop_map(|(place, mask)| Damage::Change(place, mask)),
        2 => (place(), any::<u8>()).prop_map(|(place, byte)| Damage::Insert(place, byte)),
        2 => place().prop_map(Damage::Remove),
        1 => place().prop_map(Damage::Cut),
        1 => (place(), place()).prop_map(|(one, other)| Damage::Double(one, other)),
        1 => (place(), place()).prop_map(|(one, other)| Damage::Swap(one, other)),
    ]
}

fn damaged(bytes: &[u8], damages: &[Damage]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for damage in damages {
        damage.done_to(&mut bytes);
    }
    bytes
}

/// Heads of CBOR values beside any bytes, so that readers get further than the first one.
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

    /// The exception is what was never damaged.
    #[test]
    fn damaged_assertions_never_verify(
        part in 0..3_usize,
        damages in vec(damage(), 1..4),
    ) {
        let real = &*REAL;
        let mut answer = real.answer.clone();
        let bytes = [&mut answer.data, &mut answer.client_data, &mut answer.signature];
        for (place, bytes) in bytes.into_iter().enumerate() {
            if place == part {
                *bytes = damaged(bytes, &damages);
            }
        }
        prop_assume!(answer != real.answer);
        prop_assert!(answer.verify(&real.key, BODY).is_err());
    }

    /// A damaged header may still say the same, as with another order of white space or another id, which is not
    /// signed. All that is signed is then byte for byte what it was.
    #[test]
    fn damaged_headers_say_the_same_or_nothing(damages in vec(damage(), 1..4), is_raw in any::<bool>()) {
        let real = &*REAL;
        let raw = real.answer.header();
        let header = if is_raw { raw } else { encoded(raw.as_bytes()) };
        let header = String::from_utf8_lossy(&damaged(header.as_bytes(), &damages)).into_owned();
        let Ok(assertion) = Assertion::read(&header) else { return Ok(()) };
        prop_assert_eq!(&Assertion::read(&assertion.text()).unwrap(), &assertion);
        if real.key.verify(&assertion, BODY).is_ok() {
            let renamed = assertion.text().replace(assertion.credential_id(), real.assertion.credential_id());
            prop_assert_eq!(renamed, real.assertion.text());
        }
    }

    #[test]
    fn other_bodies_never_verify(body in vec(any::<u8>(), 0..200), damages in vec(damage(), 1..3)) {
        let real = &*REAL;
        for body in [body, damaged(BODY, &damages)] {
            prop_assume!(body != BODY);
            prop_assert!(real.key.verify(&real.assertion, &body).is_err());
            prop_assert_ne!(challenge_of(&body), challenge_of(BODY));
        }
    }

    /// Nothing signs a registration without a statement, so that model, relying party, count and origin may be
    /// damaged unseen: who may register says the stamp over the body. Id, key and format may not be.
    #[test]
    fn damaged_registrations_make_no_other_credential(
        part in 0..4_usize,
        damages in vec(damage(), 1..4),
    ) {
        let real = &*REAL;
        let mut changed = real.registration.clone();
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
            prop_assert_eq!(&credential.credential_id, &real.credential.credential_id);
            prop_assert_eq!(&credential.public_key, &real.credential.public_key);
            prop_assert_eq!(&credential.format, &real.credential.format);
        }
    }

    #[test]
    fn no_text_makes_a_panic_or_a_credential(
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
        let real = &*REAL;
        let around = Attestation {
            challenge: &real.registration.challenge,
            credential_id: &real.registration.credential_id,
            client_data_json: &encoded(&real.registration.client_data),
            attestation_object: &attestation_object,
        };
        prop_assert!(around.verify().is_err());
        prop_assert!(PasskeyKey::parse(&attestation_object).is_err());
        if let Ok(assertion) = Assertion::read(&client_data_json) {
            prop_assert!(real.key.verify(&assertion, BODY).is_err());
        }
    }

    /// Any bytes in the place of authenticator data, a key, a statement or client data.
    #[test]
    fn no_bytes_within_make_a_panic(bytes_within in cbor_like()) {
        let real = &*REAL;
        let data = data_of(&real.registration.object);
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
            prop_assert!(real.registration.holding(&members).verify().is_err());
        }
        let answer = Answer { data: bytes_within.clone(), ..real.answer.clone() };
        prop_assert!(answer.verify(&real.key, BODY).is_err());
        let answer = Answer { client_data: bytes_within, ..real.answer.clone() };
        prop_assert!(answer.verify(&real.key, BODY).is_err());
    }
}
