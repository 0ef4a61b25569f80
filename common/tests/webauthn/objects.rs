//! Attestation objects that are not one map of three members in plain CBOR, and ids that differ from that of
//! the credential.

use base64ct::{Base64, Base64Url, Encoding};
use quorate_common::webauthn::{ATTESTATION_LIMIT_BYTES, Attestation, AttestationError};

use crate::authenticator::{AAGUID, ORIGIN, Registration, encoded};
use crate::builder::{Members, Parts, bytes, indefinite, list, map, number, object, registered, text};

/// Attestation objects with one error in the outer map.
fn outer(own: &Members) -> Vec<(&'static str, Vec<u8>)> {
    let without = |index: usize| {
        let mut members = own.clone();
        members.remove(index);
        map(&members)
    };
    let replaced = |index: usize, value: Vec<u8>| {
        let mut members = own.clone();
        members[index].1 = value;
        map(&members)
    };
    let more = |name: Vec<u8>, value: Vec<u8>| map(&[own.as_slice(), &[(name, value)]].concat());
    let whole = map(own);
    let cut = &whole[..whole.len() - 1];
    vec![
        ("no format", without(0)),
        ("no statement", without(1)),
        ("format in bytes", replaced(0, bytes(b"none"))),
        ("format a number", replaced(0, number(1))),
        ("statement a list", replaced(1, list(&[]))),
        ("statement null", replaced(1, vec![0xf6])),
        ("authenticator data a text", replaced(2, text("data"))),
        ("authenticator data null", replaced(2, vec![0xf6])),
        ("authenticator data a list", replaced(2, list(&[own[2].1.clone()]))),
        ("authenticator data empty", replaced(2, bytes(&[]))),
        ("one more member", more(text("epAtt"), vec![0xf4])),
        ("one more member with a number for a name", more(number(1), number(1))),
        ("duplicate format", more(text("fmt"), text("none"))),
        ("duplicate statement", more(text("attStmt"), map(&[]))),
        ("duplicate authenticator data", more(text("authData"), own[2].1.clone())),
        ("duplicate authenticator data, once with a non-minimal encoding", {
            more([&[0x78, 8], b"authData".as_slice()].concat(), own[2].1.clone())
        }),
        ("a name in bytes", more(bytes(b"epAtt"), number(1))),
        ("a name that is a list", more(list(&[]), number(1))),
        ("a byte after it", [whole.as_slice(), &[0]].concat()),
        ("an empty map after it", [whole.as_slice(), &[0xa0]].concat()),
        ("truncated", cut.to_vec()),
        ("one byte short at the front", whole[1..].to_vec()),
        ("in a list", list(std::slice::from_ref(&whole))),
        ("in a byte string", bytes(&whole)),
        ("tagged as CBOR", [&[0xd9, 0xd9, 0xf7], whole.as_slice()].concat()),
        ("one member more claimed", [&[0xa4], &whole[1..]].concat()),
        ("one member less claimed", [&[0xa2], &whole[1..]].concat()),
    ]
}

/// The same three members in CBOR that no authenticator writes.
fn unusual(own: &Members) -> Vec<(&'static str, Vec<u8>)> {
    let whole = map(own);
    let replaced = |index: usize, name: Vec<u8>, value: Vec<u8>| {
        let mut members = own.clone();
        members[index] = (name, value);
        map(&members)
    };
    let (name, data) = own[2].clone();
    let in_parts = indefinite(0x5f, &[bytes(&data[2..9]), bytes(&data[9..])].concat());
    vec![
        ("indefinite map", indefinite(0xbf, &whole[1..])),
        ("indefinite authenticator data", replaced(2, name.clone(), in_parts)),
        ("indefinite format", replaced(0, text("fmt"), indefinite(0x7f, &text("none")))),
        ("indefinite statement", replaced(1, text("attStmt"), indefinite(0xbf, &[]))),
        ("indefinite name", replaced(2, indefinite(0x7f, &text("authData")), data)),
        ("2^32 bytes", replaced(2, name.clone(), vec![0x5b, 0, 0, 0, 1, 0, 0, 0, 0])),
        ("2^64 - 1 bytes", replaced(2, name, [vec![0x5b], vec![0xff; 8]].concat())),
        ("a map of 2^32 members", [&[0xbb, 0, 0, 0, 1, 0, 0, 0, 0], &whole[1..]].concat()),
        ("a map of 2^64 - 1 members", [&[0xbb], [0xff; 8].as_slice(), &whole[1..]].concat()),
        ("1,000 maps alone", [[0xa1, 0].repeat(1_000), vec![0]].concat()),
        ("empty", vec![]),
        ("a number", number(7)),
        ("longer than any statement", [whole, vec![0; ATTESTATION_LIMIT_BYTES]].concat()),
    ]
}

#[test]
fn rejects_invalid_objects() {
    let (_, registration, parts) = registered();
    let own = object("none", &map(&[]), &parts.join());
    assert_eq!(map(&own), registration.object, "the builder reproduces the recorded object");
    let rows: Vec<_> = outer(&own).into_iter().chain(unusual(&own)).collect();
    assert_eq!(rows.len(), 40);
    for (name, object) in rows {
        let changed = Registration { object, ..registration.clone() };
        let expected =
            if changed.object.is_empty() { AttestationError::Missing } else { AttestationError::Invalid };
        assert_eq!(changed.verify(), Err(expected), "{name}");
    }
}

/// Returns a registration with this value as the output of an extension, where any CBOR is allowed.
fn with_extension_output(value: Vec<u8>) -> (Registration, Vec<u8>) {
    let (_, registration, parts) = registered();
    let rest = map(&[(text("x"), value)]);
    let data = Parts { flags: parts.flags | 0x80, rest, ..parts }.join();
    (registration.with_data(&data), data)
}

#[test]
fn rejects_hostile_cbor_in_extension_outputs() {
    let deep = |kind: &[u8], levels: usize| [kind.repeat(levels), vec![0]].concat();
    let many = |count: u8| map(&(0..count).map(|at| (number(at.into()), number(0))).collect::<Vec<_>>());
    for (name, value, is_valid) in [
        ("seven nested lists", deep(&[0x81], 7), true),
        ("eight nested lists", deep(&[0x81], 8), false),
        ("1,000 nested lists", deep(&[0x81], 1_000), false),
        ("seven nested maps", deep(&[0xa1, 0], 7), true),
        ("1,000 nested maps", deep(&[0xa1, 0], 1_000), false),
        ("30,000 nested lists", deep(&[0x81], 30_000), false),
        ("one tag", deep(&[0xc1], 1), false),
        ("1,000 tags", deep(&[0xc1], 1_000), false),
        ("64 items", list(&vec![number(0); 64]), true),
        ("65 items", list(&vec![number(0); 65]), false),
        ("64 members", many(64), true),
        ("65 members", many(65), false),
        ("a list of 2^32 items", vec![0x9b, 0, 0, 0, 1, 0, 0, 0, 0], false),
        ("a list of 2^64 - 1 items", [vec![0x9b], vec![0xff; 8]].concat(), false),
        ("a map of 2^32 members", vec![0xbb, 0, 0, 0, 1, 0, 0, 0, 0], false),
        ("a text of 2^32 bytes", vec![0x7b, 0, 0, 0, 1, 0, 0, 0, 0], false),
        ("2^32 bytes", vec![0x5b, 0, 0, 0, 1, 0, 0, 0, 0], false),
        ("a reserved length", vec![0x5c, 0], false),
        ("a reserved number", vec![0x1c], false),
        ("a text that is not UTF-8", vec![0x61, 0xff], false),
        ("a lone break", vec![0xff], false),
        ("an unassigned value", vec![0xe0], false),
        ("a floating-point number", vec![0xf9, 0x3c, 0], false),
        ("a duplicate nested key", map(&[(number(1), number(0)), (vec![0x18, 1], number(0))]), false),
        ("a nested key in bytes", map(&[(bytes(b"x"), number(0))]), false),
        ("indefinite list", indefinite(0x9f, &[0]), false),
        ("indefinite map", indefinite(0xbf, &[0, 0]), false),
        ("indefinite bytes", indefinite(0x5f, &bytes(b"x")), false),
        ("indefinite text", indefinite(0x7f, &text("x")), false),
        ("the largest number", vec![0x1b, 255, 255, 255, 255, 255, 255, 255, 255], true),
        ("the smallest number", vec![0x3b, 255, 255, 255, 255, 255, 255, 255, 255], true),
        ("false, true, null and undefined", list(&[vec![0xf4], vec![0xf5], vec![0xf6], vec![0xf7]]), true),
    ] {
        let (registration, data) = with_extension_output(value);
        let expected = if is_valid { None } else { Some(AttestationError::Invalid) };
        assert_eq!(registration.verify().err(), expected, "{name}: {:02x?}", &data[data.len().min(150)..]);
    }
}

#[test]
fn missing_authenticator_data_has_its_own_error() {
    let (_, registration, parts) = registered();
    let own = object("none", &map(&[]), &parts.join());
    for members in [&own[..2], &own[..1], &[], &[(text("authdata"), own[2].1.clone())]] {
        let error = registration.with_object(members).verify();
        assert_eq!(error, Err(AttestationError::AuthData));
    }
    assert_eq!(
        AttestationError::AuthData.to_string(),
        "missing parameter: user authenticator attestation auth data"
    );
    assert_eq!(AttestationError::Missing.to_string(), "missing parameter: user authenticator attestation");
    assert_eq!(AttestationError::Invalid.to_string(), "invalid authenticator attestation");
}

#[test]
fn members_may_be_in_any_order() {
    let (_, registration, parts) = registered();
    let mut own = object("none", &map(&[]), &parts.join());
    own.reverse();
    assert_eq!(registration.with_object(&own).verify(), registration.verify());
}

#[test]
fn submitted_id_must_equal_the_one_in_authenticator_data() {
    let (_, registration, parts) = registered();
    let more = [parts.id.as_slice(), &[0]].concat();
    let mut other = parts.id.clone();
    other[0] ^= 1;
    for (name, id) in [
        ("empty", String::new()),
        ("of another credential", encoded(&other)),
        ("truncated", encoded(&parts.id[1..])),
        ("longer", encoded(&more)),
        ("not base64url", "!".to_owned()),
        ("with white space", format!("{} ", registration.credential_id)),
        ("with one sign too many", format!("{}A", registration.credential_id)),
        ("in hex", const_hex::encode(&parts.id)),
    ] {
        let changed = Registration { credential_id: id, ..registration.clone() };
        assert_eq!(changed.verify(), Err(AttestationError::Invalid), "{name}");
    }
}

/// Every member may use either base64 alphabet, padded or not. The results use one variant.
#[test]
fn base64_variants_are_normalized() {
    let (_, registration, parts) = registered();
    let parts = Parts { id: vec![0xfb, 0xff, 0xbf, 0xfb], length: 4, ..parts };
    let registration = registration.with_parts(&parts);
    let object = &registration.object;
    let data = &registration.client_data;
    for (id, object, data) in [
        ("-_-_-w", encoded(object), encoded(data)),
        ("-_-_-w==", Base64Url::encode_string(object), Base64Url::encode_string(data)),
        ("+/+/+w==", Base64::encode_string(object), Base64::encode_string(data)),
        ("+/+/+w", Base64::encode_string(object), Base64::encode_string(data)),
    ] {
        let attestation = Attestation {
            challenge: &registration.challenge,
            credential_id: id,
            client_data_json: &data,
            attestation_object: &object,
        };
        let credential = attestation.verify().unwrap();
        assert_eq!(credential.credential_id, "-_-_-w");
        assert_eq!(credential.public_key, encoded(&parts.key));
        assert_eq!(credential.aaguid, encoded(&AAGUID));
        assert_eq!(credential.origin, ORIGIN);
    }
}

#[test]
fn rejects_members_that_are_not_base64() {
    let (_, registration, _) = registered();
    let object = encoded(&registration.object);
    let data = encoded(&registration.client_data);
    let attestation = Attestation {
        challenge: &registration.challenge,
        credential_id: &registration.credential_id,
        client_data_json: &data,
        attestation_object: &object,
    };
    assert!(attestation.verify().is_ok());
    for bad in ["!", " ", "====", "A", "-_+/", "data:,"] {
        let changed = Attestation { attestation_object: bad, ..attestation };
        assert_eq!(changed.verify(), Err(AttestationError::Invalid), "{bad}");
        let changed = Attestation { client_data_json: bad, ..attestation };
        assert_eq!(changed.verify(), Err(AttestationError::Invalid), "{bad}");
    }
    let empty = Attestation { client_data_json: "", ..attestation };
    assert_eq!(empty.verify(), Err(AttestationError::Invalid));
    let empty = Attestation { attestation_object: "", client_data_json: "", ..attestation };
    assert_eq!(empty.verify(), Err(AttestationError::Missing));
}
