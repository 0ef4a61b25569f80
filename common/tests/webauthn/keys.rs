//! COSE keys: the two supported types and invalid variants of them, in registrations and as stored keys.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_SHA256, RSA_PKCS1_SHA512, RSA_PSS_SHA256, RsaEncoding};
use quorate_common::stamp::InvalidPublicKey;
use quorate_common::webauthn::{AssertionError, AttestationError, PasskeyKey};

use crate::authenticator::{Authenticator, BODY, Response, encoded};
use crate::builder::{Members, Parts, Piece, bytes, indefinite, map, number, registered, text};

/// Returns the members of a recorded key, and its coordinates x and y.
fn point_key(key: &[u8]) -> (Members, [u8; 32], [u8; 32]) {
    // 5 members; 1: 2, 3: -7, -1: 1, -2: x, -3: y, as CTAP 2 orders them.
    let head = [0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20];
    assert_eq!(key[..10], head);
    let x: [u8; 32] = key[10..42].try_into().unwrap();
    let y: [u8; 32] = key[45..77].try_into().unwrap();
    (point(&x, &y), x, y)
}

fn point(x: &[u8], y: &[u8]) -> Members {
    vec![
        (number(1), number(2)),
        (number(3), number(-7)),
        (number(-1), number(1)),
        (number(-2), bytes(x)),
        (number(-3), bytes(y)),
    ]
}

fn rsa(modulus: &[u8], exponent: &[u8]) -> Members {
    vec![
        (number(1), number(3)),
        (number(3), number(-257)),
        (number(-1), bytes(modulus)),
        (number(-2), bytes(exponent)),
    ]
}

/// Returns an odd number with this many bits. A parser cannot see that it is not a product of two primes.
fn odd(bits: usize) -> Vec<u8> {
    let mut number = vec![0xff; bits.div_ceil(8)];
    number[0] = 0xff >> (number.len() * 8 - bits);
    number
}

fn with(members: &Members, index: usize, value: Piece) -> Piece {
    let mut members = members.clone();
    members[index].1 = value;
    map(&members)
}

fn without(members: &Members, index: usize) -> Piece {
    let mut members = members.clone();
    members.remove(index);
    map(&members)
}

fn more(members: &Members, name: Piece, value: Piece) -> Piece {
    map(&[members.as_slice(), &[(name, value)]].concat())
}

fn invalid_points(own: &Members, x: &[u8; 32], y: &[u8; 32]) -> Vec<(&'static str, Piece)> {
    let mut off = *y;
    off[31] ^= 1;
    let whole = map(own);
    // The field of P-256 has 2^256 - 2^224 + 2^192 + 2^96 - 1 elements: ff… is not one of them.
    vec![
        ("no key type", without(own, 0)),
        ("no algorithm", without(own, 1)),
        ("no curve", without(own, 2)),
        ("no x", without(own, 3)),
        ("no y", without(own, 4)),
        ("key type OKP", with(own, 0, number(1))),
        ("key type RSA", with(own, 0, number(3))),
        ("key type in text", with(own, 0, text("EC2"))),
        ("ES384", with(own, 1, number(-35))),
        ("ES512", with(own, 1, number(-36))),
        ("ES256K", with(own, 1, number(-47))),
        ("EdDSA", with(own, 1, number(-8))),
        ("RS256 of a point", with(own, 1, number(-257))),
        ("algorithm 7", with(own, 1, number(7))),
        ("algorithm in text", with(own, 1, text("ES256"))),
        ("P-384", with(own, 2, number(2))),
        ("Ed25519", with(own, 2, number(6))),
        ("secp256k1", with(own, 2, number(8))),
        ("curve in text", with(own, 2, text("P-256"))),
        ("x of 31 bytes", map(&point(&x[1..], y))),
        ("x of 33 bytes", map(&point(&[&[0], x.as_slice()].concat(), y))),
        ("x of no bytes", map(&point(&[], y))),
        ("y of 31 bytes", map(&point(x, &y[..31]))),
        ("y of 33 bytes", map(&point(x, &[&[0], y.as_slice()].concat()))),
        ("a byte of x in y", map(&point(&x[..31], &[&x[31..], y].concat()))),
        ("y as a sign", with(own, 4, vec![0xf5])),
        ("x in text", with(own, 3, text(&"x".repeat(32)))),
        ("off the curve", map(&point(x, &off))),
        ("x and y exchanged", map(&point(y, x))),
        ("the origin", map(&point(&[0; 32], &[0; 32]))),
        ("x beyond the field", map(&point(&[0xff; 32], y))),
        ("y beyond the field", map(&point(x, &[0xff; 32]))),
        ("a key id", more(own, number(2), bytes(b"id"))),
        ("operations", more(own, number(4), vec![0x81, 0x02])),
        ("the secret key", more(own, number(-4), bytes(&[7; 32]))),
        ("a member in text", more(own, text("a"), number(1))),
        ("duplicate algorithm", more(own, number(3), number(-7))),
        ("duplicate algorithm, once with a non-minimal encoding", more(own, vec![0x18, 0x03], number(-7))),
        ("indefinite", indefinite(0xbf, &whole[1..])),
        ("indefinite x", with(own, 3, indefinite(0x5f, &bytes(x)))),
        ("tagged", [&[0xc1], whole.as_slice()].concat()),
        ("in a byte string", bytes(&whole)),
        ("no members", map(&[])),
        ("uncompressed", [&[4], x.as_slice(), y].concat()),
    ]
}

fn invalid_rsa_keys(own: &Members, modulus: &[u8]) -> Vec<(&'static str, Piece)> {
    let exponent = [1, 0, 1];
    let mut even = modulus.to_vec();
    *even.last_mut().unwrap() &= 0xfe;
    let zero = [&[0], modulus].concat();
    vec![
        ("RSA of 512 bits", map(&rsa(&odd(512), &exponent))),
        ("RSA of 1,024 bits", map(&rsa(&odd(1_024), &exponent))),
        ("RSA of 2,040 bits", map(&rsa(&odd(2_040), &exponent))),
        ("RSA of 2,047 bits", map(&rsa(&odd(2_047), &exponent))),
        ("RSA of 4,097 bits", map(&rsa(&odd(4_097), &exponent))),
        ("RSA of 8,192 bits", map(&rsa(&odd(8_192), &exponent))),
        ("a zero before the modulus", map(&rsa(&zero, &exponent))),
        ("an even modulus", map(&rsa(&even, &exponent))),
        ("modulus zero", map(&rsa(&[0; 256], &exponent))),
        ("modulus of no bytes", map(&rsa(&[], &exponent))),
        ("exponent of no bytes", map(&rsa(modulus, &[]))),
        ("exponent 0", map(&rsa(modulus, &[0]))),
        ("exponent 1", map(&rsa(modulus, &[1]))),
        ("exponent 2", map(&rsa(modulus, &[2]))),
        ("exponent 65536", map(&rsa(modulus, &[1, 0, 0]))),
        ("a zero before the exponent", map(&rsa(modulus, &[0, 1, 0, 1]))),
        ("exponent 2^33 + 1", map(&rsa(modulus, &[2, 0, 0, 0, 1]))),
        ("exponent 2^64 + 1", map(&rsa(modulus, &[1, 0, 0, 0, 0, 0, 0, 0, 1]))),
        ("exponent 2^64 + 65537", map(&rsa(modulus, &[1, 0, 0, 0, 0, 0, 1, 0, 1]))),
        ("exponent as a number", with(own, 3, number(65_537))),
        ("no RSA algorithm", without(own, 1)),
        ("no modulus", without(own, 2)),
        ("no exponent", without(own, 3)),
        ("PS256", with(own, 1, number(-37))),
        ("RS1", with(own, 1, number(-65_535))),
        ("RS384", with(own, 1, number(-258))),
        ("ES256 of an RSA key", with(own, 1, number(-7))),
        ("the secret exponent", more(own, number(-3), bytes(&[7; 256]))),
        ("duplicate modulus", more(own, number(-1), bytes(modulus))),
    ]
}

#[test]
fn rejects_invalid_keys() {
    let (_, registration, parts) = registered();
    let (own, x, y) = point_key(&parts.key);
    assert_eq!(map(&own), parts.key, "the builder reproduces the recorded key");
    let modulus = odd(2_048);
    let rows: Vec<_> = invalid_points(&own, &x, &y)
        .into_iter()
        .chain(invalid_rsa_keys(&rsa(&modulus, &[1, 0, 1]), &modulus))
        .collect();
    assert_eq!(rows.len(), 73);
    for (name, key) in rows {
        let stored = PasskeyKey::parse(&encoded(&key));
        assert_eq!(stored.err(), Some(InvalidPublicKey), "{name}");
        let changed = registration.with_parts(&Parts { key, ..parts.clone() });
        assert_eq!(changed.verify(), Err(AttestationError::Invalid), "{name}");
    }
}

#[test]
fn valid_keys_are_accepted_and_stored_unchanged() {
    let (_, registration, parts) = registered();
    let (own, ..) = point_key(&parts.key);
    let mut reversed = own.clone();
    reversed.reverse();
    for (name, key) in [
        ("in another order", map(&reversed)),
        ("a non-minimal length", [&[0xb8, 5], &map(&own)[1..]].concat()),
        ("RSA of 2,048 bits", map(&rsa(&odd(2_048), &[1, 0, 1]))),
        ("RSA of 2,049 bits", map(&rsa(&odd(2_049), &[1, 0, 1]))),
        ("RSA of 3,072 bits", map(&rsa(&odd(3_072), &[3]))),
        ("RSA of 4,096 bits", map(&rsa(&odd(4_096), &[1, 0xff, 0xff, 0xff, 0xff]))),
    ] {
        let credential = registration.with_parts(&Parts { key: key.clone(), ..parts.clone() }).verify();
        assert_eq!(credential.map(|credential| credential.public_key), Ok(encoded(&key)), "{name}");
        assert!(PasskeyKey::parse(&encoded(&key)).is_ok(), "{name}");
    }
}

#[test]
fn stored_keys_are_base64_of_one_key() {
    let (_, _, parts) = registered();
    let good = encoded(&parts.key);
    assert!(PasskeyKey::parse(&good).is_ok());
    assert!(
        PasskeyKey::parse(&format!("{good}{}", "=".repeat(good.len().next_multiple_of(4) - good.len())))
            .is_ok()
    );
    for bad in [
        "",
        "!",
        &good[1..],
        &good[..good.len() - 4],
        &encoded(&[parts.key.as_slice(), &[0]].concat()),
        &encoded(&[parts.key.as_slice(), &parts.key].concat()),
        &const_hex::encode(&parts.key),
        &"A".repeat(1 << 20),
    ] {
        assert_eq!(PasskeyKey::parse(bad).err(), Some(InvalidPublicKey), "{}", &bad[..bad.len().min(99)]);
    }
}

/// Returns a key pair of AWS-LC, and the modulus and exponent in its DER encoding (RFC 8017 §A.1.1).
fn rsa_pair(size: KeySize) -> (KeyPair, Members) {
    let pair = KeyPair::generate(size).unwrap();
    let der = pair.public_key().as_ref().to_vec();
    // SEQUENCE, INTEGER with a leading zero, INTEGER 65537.
    let length = size.len();
    let modulus = &der[der.len() - length - 5..der.len() - 5];
    assert_eq!(der[der.len() - 5..], [2, 3, 1, 0, 1]);
    let members = rsa(modulus, &[1, 0, 1]);
    (pair, members)
}

fn rsa_signed(pair: &KeyPair, padding: &'static dyn RsaEncoding, response: &Response) -> Response {
    let mut signature = vec![0; pair.public_modulus_len()];
    pair.sign(padding, &SystemRandom::new(), &response.message(), &mut signature).unwrap();
    Response { signature, ..response.clone() }
}

#[test]
fn rsa_keys_register_and_verify() {
    let (mut authenticator, registration, parts) = registered();
    let (pair, members) = rsa_pair(KeySize::Rsa2048);
    let registration = registration.with_parts(&Parts { key: map(&members), ..parts });
    let key = registration.key();
    let by_p256 = authenticator.assert(BODY);
    let response = rsa_signed(&pair, &RSA_PKCS1_SHA256, &by_p256);
    assert!(response.verify(&key, BODY).is_ok());
    let mut longer = response.clone();
    longer.signature.insert(0, 0);
    let (other_pair, _) = rsa_pair(KeySize::Rsa2048);
    for (name, response) in [
        ("another padding", rsa_signed(&pair, &RSA_PSS_SHA256, &by_p256)),
        ("another digest", rsa_signed(&pair, &RSA_PKCS1_SHA512, &by_p256)),
        ("another key", rsa_signed(&other_pair, &RSA_PKCS1_SHA256, &by_p256)),
        ("a signature by a point", by_p256),
        ("a zero before the signature", longer),
        ("no signature", Response { signature: vec![], ..response.clone() }),
        ("zero", Response { signature: vec![0; 256], ..response.clone() }),
    ] {
        assert_eq!(response.verify(&key, BODY), Err(AssertionError::Signature), "{name}");
    }
    let point = Authenticator::new().register().key();
    assert_eq!(response.verify(&point, BODY), Err(AssertionError::Signature), "under the key of a point");
}
