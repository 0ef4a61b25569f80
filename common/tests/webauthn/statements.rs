//! Attestation statements: the forms of the standard, each member of each tried wrong.

use quorate_common::webauthn::AttestationFlaw;

use crate::forge::{Members, Piece, bytes, indefinite, list, map, number, object, registered, text};

/// A format of the standard with the members of its statement, and how many of the last may be absent.
struct Form {
    format: &'static str,
    members: Members,
    optional: usize,
}

fn form(format: &'static str, members: Vec<(&str, Piece)>, optional: usize) -> Form {
    let members = members.into_iter().map(|(name, value)| (text(name), value)).collect();
    Form { format, members, optional }
}

/// Web Authentication §8, in its order.
fn forms() -> Vec<Form> {
    let signature = || bytes(&[7; 70]);
    let chain = || list(&[bytes(b"certificate"), bytes(b"authority")]);
    let single = || list(&[bytes(b"certificate")]);
    vec![
        form("packed", vec![("alg", number(-7)), ("sig", signature()), ("x5c", chain())], 1),
        form(
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
        form("android-key", vec![("alg", number(-7)), ("sig", signature()), ("x5c", chain())], 0),
        form("android-safetynet", vec![("ver", text("14366018")), ("response", bytes(b"a.b.c"))], 0),
        form("fido-u2f", vec![("x5c", single()), ("sig", signature())], 0),
        form("none", vec![], 0),
        form("apple", vec![("x5c", chain())], 0),
    ]
}

/// Values that are not of the kind of `value`, or are hollow.
fn wrong(value: &Piece) -> Vec<Piece> {
    let kinds =
        [number(-7), text("7"), bytes(&[7]), list(&[number(7)]), map(&[]), vec![0xf6], vec![0xf5], list(&[])];
    // The upper three bits of its head are the kind of a value.
    let is_of = |kind: &Piece| kind[0] >> 5 == value[0] >> 5;
    let hollow = |kind: &Piece| *kind == list(&[number(7)]) || *kind == list(&[]);
    kinds.into_iter().filter(|kind| !is_of(kind) || hollow(kind)).collect()
}

#[test]
fn statements_of_the_standard_are_read_and_not_believed() {
    let (_, registration, parts) = registered();
    for Form { format, members, optional } in forms() {
        for kept in members.len() - optional..=members.len() {
            let statement = map(&members[..kept]);
            let credential = registration.holding(&object(format, &statement, &parts.join())).verify();
            assert_eq!(credential.unwrap().format, format);
        }
    }
}

#[test]
fn each_member_of_a_statement_is_needed_and_of_its_kind() {
    let (_, registration, parts) = registered();
    let mut tried = 0;
    for Form { format, members, optional } in forms() {
        let mut check = |name: String, statement: Piece| {
            let flaw = registration.holding(&object(format, &statement, &parts.join())).verify();
            assert_eq!(flaw, Err(AttestationFlaw::Invalid), "{format}: {name}");
            tried += 1;
        };
        for place in 0..members.len() {
            let mut without = members.clone();
            let (name, value) = without.remove(place);
            let shown = String::from_utf8_lossy(&name[1..]).into_owned();
            if place < members.len() - optional {
                check(format!("without {shown}"), map(&without));
            }
            for other in wrong(&value) {
                let mut instead = members.clone();
                instead[place].1.clone_from(&other);
                check(format!("{shown} as {other:02x?}"), map(&instead));
            }
            let twice = [members.as_slice(), &[(name, value)]].concat();
            check(format!("{shown} twice"), map(&twice));
        }
        check(
            "one more member".to_owned(),
            map(&[members.as_slice(), &[(text("more"), number(1))]].concat()),
        );
        check("indefinite".to_owned(), indefinite(0xbf, &map(&members)[1..]));
    }
    assert!(tried > 150, "{tried}");
}

#[test]
fn what_the_kinds_of_members_do_not_say() {
    let (_, registration, parts) = registered();
    let two = list(&[bytes(b"certificate"), bytes(b"another")]);
    let mixed = list(&[bytes(b"certificate"), text("another")]);
    let signature = bytes(&[7; 70]);
    let tpm = |version: &str| {
        let mut members = forms().remove(1).members;
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
        let flaw = registration.holding(&object(format, &map(&members), &parts.join())).verify();
        assert_eq!(flaw, Err(AttestationFlaw::Invalid), "{name}");
    }
}
