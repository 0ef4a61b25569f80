//! Authenticator data: its layout, byte by byte and flag by flag, in registrations and in assertions.

use quorate_common::webauthn::{AssertionError, AttestationError};
use sha2::{Digest, Sha256};

use crate::authenticator::{Authenticator, BODY, RELYING_PARTY, Response};
use crate::builder::{Parts, bytes, indefinite, map, number, registered, text};

const USER_PRESENT: u8 = 0x01;
const USER_VERIFIED: u8 = 0x04;
const ATTESTED: u8 = 0x40;
const EXTENSIONS: u8 = 0x80;

/// Outputs of extensions, as authenticators write them.
fn extensions() -> Vec<u8> {
    map(&[(text("credProtect"), number(2)), (text("hmac-secret"), vec![0xf5])])
}

/// Invalid data after the extension flag.
fn invalid_extensions() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("no extensions", vec![]),
        ("two maps of extensions", [extensions(), extensions()].concat()),
        ("extensions and a byte", [extensions(), vec![0]].concat()),
        ("extensions in bytes", bytes(&extensions())),
        ("extensions as null", vec![0xf6]),
        ("indefinite extensions without an end", vec![0xbf]),
        ("indefinite extensions", indefinite(0xbf, &extensions()[1..])),
        ("a duplicate extension", map(&[(text("a"), number(1)), (text("a"), number(1))])),
        ("truncated extensions", extensions()[..9].to_vec()),
        ("1,000 lists in extensions", map(&[(text("a"), [vec![0x81; 1_000], vec![0]].concat())])),
    ]
}

#[test]
fn registrations_reject_invalid_layouts() {
    let (_, registration, parts) = registered();
    let whole = parts.join();
    assert_eq!(registration.with_data(&whole).verify(), registration.verify());
    let flags = |flags: u8| Parts { flags, ..parts.clone() };
    let length = |length: u16| Parts { length, ..parts.clone() };
    let own = parts.length;
    let mut rows = vec![
        ("36 bytes", whole[..36].to_vec()),
        ("37 bytes and the flag of a credential", whole[..37].to_vec()),
        ("37 bytes", [&whole[..32], &[USER_PRESENT], &whole[33..37]].concat()),
        ("no bytes", vec![]),
        ("user not present", flags(parts.flags & !USER_PRESENT).join()),
        ("user verified but not present", flags((parts.flags & !USER_PRESENT) | USER_VERIFIED).join()),
        ("a credential without its flag", flags(parts.flags & !ATTESTED).join()),
        ("truncated within the model", whole[..50].to_vec()),
        ("truncated within the length", whole[..54].to_vec()),
        ("truncated within the id", whole[..55].to_vec()),
        ("truncated before the key", whole[..whole.len() - parts.key.len()].to_vec()),
        ("truncated within the key", whole[..whole.len() - 1].to_vec()),
        ("a byte after the key", [whole.as_slice(), &[0]].concat()),
        ("extensions without their flag", Parts { rest: extensions(), ..parts.clone() }.join()),
        ("an id of no bytes", Parts { length: 0, id: vec![], ..parts.clone() }.join()),
        ("an id of 1,024 bytes", Parts { length: 1_024, id: vec![7; 1_024], ..parts.clone() }.join()),
        ("an id shorter than its length field", length(own + 1).join()),
        ("an id longer than its length field", length(own - 1).join()),
        ("an id longer than the rest", length(1_023).join()),
        ("an id of 65,535 bytes", length(u16::MAX).join()),
    ];
    for (name, rest) in invalid_extensions() {
        rows.push((name, Parts { flags: parts.flags | EXTENSIONS, rest, ..parts.clone() }.join()));
    }
    assert_eq!(rows.len(), 30);
    for (name, data) in rows {
        assert_eq!(registration.with_data(&data).verify(), Err(AttestationError::Invalid), "{name}");
    }
    for length in [0, 1_024] {
        let parts = Parts { length, id: vec![7; usize::from(length)], ..parts.clone() };
        assert_eq!(registration.with_parts(&parts).verify(), Err(AttestationError::Invalid), "{length}");
    }
}

#[test]
fn registrations_accept_every_valid_layout() {
    let (_, registration, parts) = registered();
    for (name, changed) in [
        ("an id of one byte", Parts { length: 1, id: vec![7], ..parts.clone() }),
        ("an id of 1,023 bytes", Parts { length: 1_023, id: vec![7; 1_023], ..parts.clone() }),
        ("user not verified", Parts { flags: USER_PRESENT | ATTESTED, ..parts.clone() }),
        ("a backed-up credential", Parts { flags: parts.flags | 0b0001_1000, ..parts.clone() }),
        ("reserved flags", Parts { flags: parts.flags | 0b0010_0010, ..parts.clone() }),
        ("extensions", Parts { flags: parts.flags | EXTENSIONS, rest: extensions(), ..parts.clone() }),
        (
            "no outputs of extensions",
            Parts { flags: parts.flags | EXTENSIONS, rest: map(&[]), ..parts.clone() },
        ),
        ("an all-zero model id", Parts { aaguid: vec![0; 16], ..parts.clone() }),
    ] {
        let credential = registration.with_parts(&changed).verify();
        assert!(credential.is_ok(), "{name}: {credential:?}");
    }
    let counted = Parts { count: vec![0x01, 0x02, 0x03, 0x04], ..parts.clone() };
    assert_eq!(registration.with_parts(&counted).verify().unwrap().signature_count, 0x0102_0304);
    let elsewhere = Parts { relying_party: vec![9; 32], ..parts };
    assert_eq!(registration.with_parts(&elsewhere).verify().unwrap().relying_party, [9; 32]);
}

fn with_data(authenticator: &Authenticator, response: &Response, data: &[u8]) -> Response {
    authenticator.sign(Response { data: data.to_vec(), ..response.clone() })
}

/// The signatures are made with the right key, so that only the layout is wrong.
#[test]
fn assertions_reject_invalid_layouts() {
    let (mut authenticator, registration, parts) = registered();
    let key = registration.key();
    let response = authenticator.assert(BODY);
    let own = response.data.clone();
    assert_eq!(own.len(), 37);
    let flagged = |flags: u8, rest: &[u8]| [&own[..32], &[flags], &own[33..], rest].concat();
    let credential = &parts.join()[37..];
    let named =
        |length: u16| Parts { length, id: vec![7; length.into()], ..parts.clone() }.join()[37..].to_vec();
    let keyless = Parts { key: map(&[(number(1), number(2))]), ..parts.clone() };
    let mut rows = vec![
        ("36 bytes", own[..36].to_vec()),
        ("no bytes", vec![]),
        ("user not present", flagged(0, &[])),
        ("user verified but not present", flagged(USER_VERIFIED, &[])),
        ("a byte after it", flagged(USER_PRESENT, &[0])),
        ("zeros after it", flagged(USER_PRESENT, &[0; 64])),
        ("the flag of a credential without a credential", flagged(USER_PRESENT | ATTESTED, &[])),
        ("a credential without its flag", flagged(USER_PRESENT, credential)),
        ("a credential and a byte", flagged(USER_PRESENT | ATTESTED, &[credential, &[0]].concat())),
        ("a truncated credential", flagged(USER_PRESENT | ATTESTED, &credential[..credential.len() - 1])),
        ("a credential without a key", flagged(USER_PRESENT | ATTESTED, &keyless.join()[37..])),
        ("a credential with an id of no bytes", flagged(USER_PRESENT | ATTESTED, &named(0))),
        ("a credential with an id of 1,024 bytes", flagged(USER_PRESENT | ATTESTED, &named(1_024))),
        ("extensions without their flag", flagged(USER_PRESENT, &extensions())),
        (
            "extensions before the credential",
            flagged(USER_PRESENT | ATTESTED | EXTENSIONS, &[&extensions(), credential].concat()),
        ),
    ];
    for (name, rest) in invalid_extensions() {
        rows.push((name, flagged(USER_PRESENT | EXTENSIONS, &rest)));
    }
    assert_eq!(rows.len(), 25);
    for (name, data) in rows {
        let error = with_data(&authenticator, &response, &data).verify(&key, BODY);
        assert_eq!(error, Err(AssertionError::Signature), "{name}");
    }
}

#[test]
fn assertions_accept_every_valid_layout() {
    let (mut authenticator, registration, parts) = registered();
    let key = registration.key();
    let response = authenticator.assert(BODY);
    let flagged =
        |flags: u8, rest: &[u8]| [&response.data[..32], &[flags], &response.data[33..], rest].concat();
    let credential = &parts.join()[37..];
    for (name, data, user_verified) in [
        ("user not verified", flagged(USER_PRESENT, &[]), false),
        ("user verified", flagged(USER_PRESENT | USER_VERIFIED, &[]), true),
        ("a backed-up credential", flagged(USER_PRESENT | 0b0001_1000, &[]), false),
        ("reserved flags", flagged(USER_PRESENT | 0b0010_0010, &[]), false),
        ("extensions", flagged(USER_PRESENT | EXTENSIONS, &extensions()), false),
        ("a credential", flagged(USER_PRESENT | ATTESTED, credential), false),
        (
            "a credential and extensions",
            flagged(USER_PRESENT | ATTESTED | EXTENSIONS, &[credential, &extensions()].concat()),
            false,
        ),
    ] {
        let verified = with_data(&authenticator, &response, &data).verify(&key, BODY);
        assert_eq!(verified.map(|verified| verified.user_verified), Ok(user_verified), "{name}");
    }
}

/// The caller checks the relying party and the counter, so that both are returned unchanged.
#[test]
fn relying_party_and_counter_are_returned_unchanged() {
    let (mut authenticator, registration, _) = registered();
    let key = registration.key();
    let response = authenticator.assert(BODY);
    let elsewhere = Sha256::digest("evil.example");
    let data = [elsewhere.as_slice(), &response.data[32..]].concat();
    let verified = with_data(&authenticator, &response, &data).verify(&key, BODY).unwrap();
    assert_eq!(verified.relying_party, *elsewhere);
    assert_ne!(verified.relying_party, *Sha256::digest(RELYING_PARTY));
    for count in [0, 1, u32::MAX] {
        let data = [&response.data[..33], &count.to_be_bytes()].concat();
        let verified = with_data(&authenticator, &response, &data).verify(&key, BODY).unwrap();
        assert_eq!(verified.signature_count, count);
    }
}
