//! Stamps: the header in every spelling and with every flaw, and signatures that do not hold.

use base64ct::{Base64, Base64Unpadded, Base64Url, Encoding};
use p256::ecdsa::Signature;
use quorate_common::stamp::LIMIT_BYTES;
use quorate_common::webauthn::{Assertion, AssertionFlaw};
use serde_json::{Value, json};

use crate::witness::{Answer, BODY, Witness, encoded};

fn asserted() -> (Witness, quorate_common::webauthn::PasskeyKey, Answer) {
    let mut witness = Witness::new();
    let key = witness.register().key();
    let answer = witness.assert(BODY);
    (witness, key, answer)
}

#[test]
fn the_header_reads_in_every_spelling() {
    let (_, key, answer) = asserted();
    let raw = answer.header();
    let expected = Assertion::read(&raw).unwrap();
    assert!(key.verify(&expected, BODY).is_ok());
    let padded = json!({
        "credentialId": Base64::encode_string(&answer.credential_id),
        "clientDataJson": Base64Url::encode_string(&answer.client_data),
        "signature": Base64Unpadded::encode_string(&answer.signature),
        "authenticatorData": Base64::encode_string(&answer.data),
        "type": "public-key",
        "clientExtensionResults": {"credProps": {"rk": true}},
        "userHandle": null,
    })
    .to_string();
    for text in [
        raw.clone(),
        padded,
        encoded(raw.as_bytes()),
        Base64Url::encode_string(raw.as_bytes()),
        Base64::encode_string(raw.as_bytes()),
        Base64Unpadded::encode_string(raw.as_bytes()),
        format!("{raw} \n"),
        encoded(format!(" {raw}").as_bytes()),
        expected.text(),
        encoded(expected.text().as_bytes()),
    ] {
        assert_eq!(Assertion::read(&text), Ok(expected.clone()), "{text}");
    }
}

#[test]
fn headers_that_are_no_objects_are_malformed() {
    let (_, _, answer) = asserted();
    let raw = answer.header();
    let open = raw.trim_end_matches('}');
    let long = format!("{open},\"more\":\"{}\"}}", "x".repeat(LIMIT_BYTES));
    let twice = format!("{open},\"signature\":\"{}\"}}", encoded(&answer.signature));
    let deep = format!("{open},\"more\":{}{}}}", "[".repeat(1_000), "]".repeat(1_000));
    for text in [
        String::new(),
        "!".into(),
        "{".into(),
        "[]".into(),
        "null".into(),
        "e30 ".into(),
        "====".into(),
        "-_+/".into(),
        open.into(),
        format!("{raw}x"),
        format!("{raw}{raw}"),
        format!(" {raw}"),
        format!("\u{feff}{raw}"),
        raw.replace('"', "'"),
        twice.clone(),
        deep.clone(),
        long.clone(),
        encoded(b""),
        encoded(b"[]"),
        encoded(b"\"text\""),
        encoded(b"{\"a\":1,\"a\":1}"),
        encoded(twice.as_bytes()),
        encoded(deep.as_bytes()),
        encoded(long.as_bytes()),
        encoded(format!("[{raw}]").as_bytes()),
        encoded(encoded(raw.as_bytes()).as_bytes()),
        encoded(&[b"{\"a\":\"".as_slice(), &[0xff], b"\"}"].concat()),
    ] {
        assert_eq!(Assertion::read(&text), Err(AssertionFlaw::Malformed), "{text}");
    }
    assert_eq!(AssertionFlaw::Malformed.to_string(), "malformed activity stamp");
    assert_eq!(AssertionFlaw::Members.to_string(), "could not extract webauthn stamp");
    assert_eq!(AssertionFlaw::Signature.to_string(), "could not verify WebAuthN signature");
}

#[test]
fn each_member_is_needed_and_base64url() {
    let (_, _, answer) = asserted();
    let good: Value = serde_json::from_str(&answer.header()).unwrap();
    let check = |value: &Value| {
        assert_eq!(Assertion::read(&value.to_string()), Err(AssertionFlaw::Members), "{value}");
    };
    check(&json!({}));
    for (name, longest) in
        [("credentialId", 1_023), ("authenticatorData", 4_096), ("clientDataJson", 8_192), ("signature", 512)]
    {
        let mut without = good.clone();
        let value = without.as_object_mut().unwrap().remove(name).unwrap();
        check(&without);
        let mut renamed = without.clone();
        renamed[name.to_uppercase()] = value.clone();
        check(&renamed);
        for bad in [
            json!(null),
            json!(7),
            json!([value]),
            json!({"value": value}),
            json!("!"),
            json!(" "),
            json!("A"),
            json!("-_+/"),
            json!(format!("{}=====", value.as_str().unwrap())),
            json!(encoded(&vec![7; longest + 1])),
        ] {
            let mut changed = without.clone();
            changed[name] = bad;
            check(&changed);
        }
        let mut longer = without.clone();
        longer[name] = json!(encoded(&vec![7; longest]));
        assert!(Assertion::read(&longer.to_string()).is_ok(), "{name}");
        let mut empty = without;
        empty[name] = json!("");
        assert_eq!(Assertion::read(&empty.to_string()).is_err(), name == "credentialId", "{name}");
    }
}

#[test]
fn signatures_that_do_not_fit_are_refused() {
    let (mut witness, key, answer) = asserted();
    assert!(answer.verify(&key, BODY).is_ok());
    let signature = answer.signature.clone();
    let parsed = Signature::from_der(&signature).unwrap();
    let mut flipped = signature.clone();
    *flipped.last_mut().unwrap() ^= 1;
    let stranger = Witness::stranger();
    let later = witness.assert(BODY);
    let other = witness.assert(b"{}");
    // SEQUENCE of two INTEGERs, zero and zero; then one and one.
    let zeros = vec![0x30, 6, 2, 1, 0, 2, 1, 0];
    let ones = vec![0x30, 6, 2, 1, 1, 2, 1, 1];
    for (name, signature) in [
        ("one bit", flipped),
        ("none", vec![]),
        ("by another key", stranger.sign(answer.clone()).signature),
        ("over other authenticator data", later.signature),
        ("over another body", other.signature),
        ("without DER", parsed.to_bytes().to_vec()),
        ("a byte after it", [signature.as_slice(), &[0]].concat()),
        ("cut", signature[..signature.len() - 1].to_vec()),
        ("its length in a longer spelling", [&[0x30, 0x81], &signature[1..]].concat()),
        ("zeros", zeros),
        ("ones", ones),
        ("in hex", const_hex::encode(&signature).into_bytes()),
    ] {
        let changed = Answer { signature, ..answer.clone() };
        assert_eq!(changed.verify(&key, BODY), Err(AssertionFlaw::Signature), "{name}");
    }
}

/// Authenticators need not choose the lower s (FIPS 186-5 §6.4.1 does not ask for it).
#[test]
fn both_halves_of_s_verify() {
    let (_, key, answer) = asserted();
    let signature = Signature::from_der(&answer.signature).unwrap();
    let negated = Signature::from_scalars(signature.r(), -*signature.s()).unwrap();
    for signature in [signature, negated] {
        let changed = Answer { signature: signature.to_der().as_bytes().to_vec(), ..answer.clone() };
        assert!(changed.verify(&key, BODY).is_ok());
    }
}

#[test]
fn nothing_that_is_signed_can_be_changed() {
    let (mut witness, key, answer) = asserted();
    let json = String::from_utf8(answer.client_data.clone()).unwrap();
    let other = witness.assert(b"{}");
    let mut verified = answer.data.clone();
    verified[32] ^= 0x04;
    let mut count = answer.data.clone();
    count[36] ^= 0x01;
    let mut elsewhere = answer.data.clone();
    elsewhere[0] ^= 0x01;
    let with = |data: &[u8], json: &str| Answer {
        data: data.to_vec(),
        client_data: json.as_bytes().to_vec(),
        ..answer.clone()
    };
    let data = &answer.data;
    for (name, changed) in [
        ("another origin", with(data, &json.replace("wallet.", "wa11et."))),
        ("white space after it", with(data, &format!("{json} "))),
        ("white space within", with(data, &json.replace("\",\"", "\", \""))),
        ("a member more", with(data, &json.replace("{\"", "{\"a\":1,\""))),
        ("whether the user is known", with(&verified, &json)),
        ("the count", with(&count, &json)),
        ("the relying party", with(&elsewhere, &json)),
        (
            "client data of another answer",
            Answer { client_data: other.client_data.clone(), ..answer.clone() },
        ),
        ("authenticator data of another answer", Answer { data: other.data.clone(), ..answer.clone() }),
    ] {
        assert_ne!(changed, answer, "{name}");
        assert_eq!(changed.verify(&key, BODY), Err(AssertionFlaw::Signature), "{name}");
    }
    for body in [b"".as_slice(), b"{}", &BODY[1..], &[BODY, b" "].concat(), &BODY.to_ascii_uppercase()] {
        assert_eq!(answer.verify(&key, body), Err(AssertionFlaw::Signature));
    }
    // The id is not signed: it only finds the key, and with the wrong key nothing verifies.
    let renamed = Answer { credential_id: b"another".to_vec(), ..answer.clone() };
    assert_eq!(Assertion::read(&renamed.header()).unwrap().credential_id(), encoded(b"another"));
    let strange = Witness::stranger().register().key();
    assert_eq!(answer.verify(&strange, BODY), Err(AssertionFlaw::Signature));
}
