//! Attestation statements: the formats of the standard, with each member invalid in turn.

use quorate_common::webauthn::AttestationError;

use crate::builder::{Members, Piece, bytes, indefinite, list, map, number, object, registered, text};

/// A format of the standard with the members of its statement.
struct Format {
    name: &'static str,
    members: Members,
    /// Number of members at the end that may be absent.
    optional: usize,
}

fn format_of(name: &'static str, members: Vec<(&str, Piece)>, optional: usize) -> Format {
    let members = members.into_iter().map(|(name, value)| (text(name), value)).collect();
    Format { name, members, optional }
}

/// The formats of Web Authentication §8, in its order.
fn formats() -> Vec<Format> {
    let signature = || bytes(&[7; 70]);
    let chain = || list(&[bytes(b"certificate"), bytes(b"authority")]);
    let single = || list(&[bytes(b"certificate")]);
    vec![
        format_of("packed", vec![("alg", number(-7)), ("sig", signature()), ("x5c", chain())], 1),
        format_of(
            "tpm",
            vec![
                ("ver", text("2.0")),
                ("alg", number(-65535)),
                ("x5c", chain()),
                ("sig", signature()),
                ("certInfo", bytes(b"information")),
                ("pubArea", bytes(b"area")),
            ],
            0,
        ),
        format_of("android-key", vec![("alg", number(-7)), ("sig", signature()), ("x5c", chain())], 0),
        format_of("android-safetynet", vec![("ver", text("14366018")), ("response", bytes(b"a.b.c"))], 0),
        format_of("fido-u2f", vec![("x5c", single()), ("sig", signature())], 0),
        format_of("none", vec![], 0),
        format_of("apple", vec![("x5c", chain())], 0),
    ]
}

/// Returns values of other types than `value`, and lists without certificates.
fn invalid_values(value: &Piece) -> Vec<Piece> {
    let others =
        [number(-7), text("7"), bytes(&[7]), list(&[number(7)]), map(&[]), vec![0xf6], vec![0xf5], list(&[])];
    // The upper three bits of its head are the major type of a value.
    let is_same_type = |other: &Piece| other[0] >> 5 == value[0] >> 5;
    let is_bad_list = |other: &Piece| *other == list(&[number(7)]) || *other == list(&[]);
    others.into_iter().filter(|other| !is_same_type(other) || is_bad_list(other)).collect()
}

#[test]
fn statements_of_the_standard_are_accepted_unverified() {
    let (_, registration, parts) = registered();
    for Format { name: format, members, optional } in formats() {
        for kept in members.len() - optional..=members.len() {
            let statement = map(&members[..kept]);
            let credential = registration.with_object(&object(format, &statement, &parts.join())).verify();
            assert_eq!(credential.unwrap().format, format);
        }
    }
}

#[test]
fn each_member_is_required_and_typed() {
    let (_, registration, parts) = registered();
    let mut checked = 0;
    for Format { name: format, members, optional } in formats() {
        let mut check = |name: String, statement: Piece| {
            let error = registration.with_object(&object(format, &statement, &parts.join())).verify();
            assert_eq!(error, Err(AttestationError::Invalid), "{format}: {name}");
            checked += 1;
        };
        for index in 0..members.len() {
            let mut without = members.clone();
            let (name, value) = without.remove(index);
            let shown = String::from_utf8_lossy(&name[1..]).into_owned();
            if index < members.len() - optional {
                check(format!("without {shown}"), map(&without));
            }
            for other in invalid_values(&value) {
                let mut changed = members.clone();
                changed[index].1.clone_from(&other);
                check(format!("{shown} as {other:02x?}"), map(&changed));
            }
            let twice = [members.as_slice(), &[(name, value)]].concat();
            check(format!("duplicate {shown}"), map(&twice));
        }
        check(
            "one more member".to_owned(),
            map(&[members.as_slice(), &[(text("more"), number(1))]].concat()),
        );
        check("indefinite".to_owned(), indefinite(0xbf, &map(&members)[1..]));
    }
    assert!(checked > 150, "{checked}");
}

#[test]
fn rejects_statements_with_invalid_contents() {
    let (_, registration, parts) = registered();
    let two = list(&[bytes(b"certificate"), bytes(b"another")]);
    let mixed = list(&[bytes(b"certificate"), text("another")]);
    let signature = bytes(&[7; 70]);
    let tpm = |version: &str| {
        let mut members = formats().remove(1).members;
        members[0].1 = text(version);
        members
    };
    let packed = |chain: &Piece| {
        vec![(text("alg"), number(-7)), (text("sig"), signature.clone()), (text("x5c"), chain.clone())]
    };
    for (name, format, members) in [
        ("none with a statement", "none", packed(&two)),
        (
            "two certificates of a U2F key",
            "fido-u2f",
            vec![(text("x5c"), two), (text("sig"), signature.clone())],
        ),
        ("another TPM", "tpm", tpm("1.2")),
        ("a TPM without number", "tpm", tpm("")),
        ("a certificate in text", "packed", packed(&mixed)),
        ("another format", "compound", vec![]),
        ("a format in other case", "None", vec![]),
        ("a format without name", "", vec![]),
        ("a format with more text", "none ", vec![]),
        ("packed without anything", "packed", vec![]),
        ("members of another format", "apple", vec![(text("ver"), text("2.0"))]),
    ] {
        let error = registration.with_object(&object(format, &map(&members), &parts.join())).verify();
        assert_eq!(error, Err(AttestationError::Invalid), "{name}");
    }
}
