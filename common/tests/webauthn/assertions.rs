//! Stamps: valid and invalid headers, and invalid signatures.

use base64ct::{Base64, Base64Unpadded, Base64Url, Encoding};
use p256::ecdsa::Signature;
use quorate_common::stamp::LIMIT_BYTES;
use quorate_common::webauthn::{Assertion, AssertionError};
use serde_json::{Value, json};

use crate::authenticator::{Authenticator, BODY, Response, encoded};

fn asserted() -> (Authenticator, quorate_common::webauthn::PasskeyKey, Response) {
    let mut authenticator = Authenticator::new();
    let key = authenticator.register().key();
    let response = authenticator.assert(BODY);
    (authenticator, key, response)
}

#[test]
fn header_accepts_every_base64_variant() {
    let (_, key, response) = asserted();
    let raw = response.header();
    let expected = Assertion::read(&raw).unwrap();
    assert!(key.verify(&expected, BODY).is_ok());
    let padded = json!({
        "credentialId": Base64::encode_string(&response.credential_id),
        "clientDataJson": Base64Url::encode_string(&response.client_data),
        "signature": Base64Unpadded::encode_string(&response.signature),
        "authenticatorData": Base64::encode_string(&response.data),
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
fn headers_without_an_object_are_malformed() {
    let (_, _, response) = asserted();
    let raw = response.header();
    let open = raw.trim_end_matches('}');
    let long = format!("{open},\"more\":\"{}\"}}", "x".repeat(LIMIT_BYTES));
    let twice = format!("{open},\"signature\":\"{}\"}}", encoded(&response.signature));
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
        assert_eq!(Assertion::read(&text), Err(AssertionError::Malformed), "{text}");
    }
    assert_eq!(AssertionError::Malformed.to_string(), "malformed activity stamp");
    assert_eq!(AssertionError::Members.to_string(), "could not extract webauthn stamp");
    assert_eq!(AssertionError::Signature.to_string(), "could not verify WebAuthN signature");
}

#[test]
fn each_member_is_required_and_base64url() {
    let (_, _, response) = asserted();
    let good: Value = serde_json::from_str(&response.header()).unwrap();
    let check = |value: &Value| {
        assert_eq!(Assertion::read(&value.to_string()), Err(AssertionError::Members), "{value}");
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
fn rejects_invalid_signatures() {
    let (mut authenticator, key, response) = asserted();
    assert!(response.verify(&key, BODY).is_ok());
    let signature = response.signature.clone();
    let parsed = Signature::from_der(&signature).unwrap();
    let mut flipped = signature.clone();
    *flipped.last_mut().unwrap() ^= 1;
    let other_authenticator = Authenticator::other();
    let later = authenticator.assert(BODY);
    let other = authenticator.assert(b"{}");
    // SEQUENCE of two INTEGERs, zero and zero; then one and one.
    let zeros = vec![0x30, 6, 2, 1, 0, 2, 1, 0];
    let ones = vec![0x30, 6, 2, 1, 1, 2, 1, 1];
    for (name, signature) in [
        ("one bit", flipped),
        ("empty", vec![]),
        ("by another key", other_authenticator.sign(response.clone()).signature),
        ("over other authenticator data", later.signature),
        ("over another body", other.signature),
        ("without DER", parsed.to_bytes().to_vec()),
        ("a byte after it", [signature.as_slice(), &[0]].concat()),
        ("truncated", signature[..signature.len() - 1].to_vec()),
        ("a non-minimal DER length", [&[0x30, 0x81], &signature[1..]].concat()),
        ("zeros", zeros),
        ("ones", ones),
        ("in hex", const_hex::encode(&signature).into_bytes()),
    ] {
        let changed = Response { signature, ..response.clone() };
        assert_eq!(changed.verify(&key, BODY), Err(AssertionError::Signature), "{name}");
    }
}

/// Authenticators need not choose the lower s (FIPS 186-5 §6.4.1 does not require it).
#[test]
fn both_halves_of_s_verify() {
    let (_, key, response) = asserted();
    let signature = Signature::from_der(&response.signature).unwrap();
    let negated = Signature::from_scalars(signature.r(), -*signature.s()).unwrap();
    for signature in [signature, negated] {
        let changed = Response { signature: signature.to_der().as_bytes().to_vec(), ..response.clone() };
        assert!(changed.verify(&key, BODY).is_ok());
    }
}

#[test]
fn signed_data_cannot_be_changed() {
    let (mut authenticator, key, response) = asserted();
    let json = String::from_utf8(response.client_data.clone()).unwrap();
    let other = authenticator.assert(b"{}");
    let mut verified = response.data.clone();
    verified[32] ^= 0x04;
    let mut count = response.data.clone();
    count[36] ^= 0x01;
    let mut elsewhere = response.data.clone();
    elsewhere[0] ^= 0x01;
    let with = |data: &[u8], json: &str| Response {
        data: data.to_vec(),
        client_data: json.as_bytes().to_vec(),
        ..response.clone()
    };
    let data = &response.data;
    for (name, changed) in [
        ("another origin", with(data, &json.replace("wallet.", "wa11et."))),
        ("white space after it", with(data, &format!("{json} "))),
        ("white space within", with(data, &json.replace("\",\"", "\", \""))),
        ("an additional member", with(data, &json.replace("{\"", "{\"a\":1,\""))),
        ("the user-verified flag", with(&verified, &json)),
        ("the signature counter", with(&count, &json)),
        ("the relying party", with(&elsewhere, &json)),
        (
            "client data of another response",
            Response { client_data: other.client_data.clone(), ..response.clone() },
        ),
        ("authenticator data of another response", Response { data: other.data.clone(), ..response.clone() }),
    ] {
        assert_ne!(changed, response, "{name}");
        assert_eq!(changed.verify(&key, BODY), Err(AssertionError::Signature), "{name}");
    }
    for body in [b"".as_slice(), b"{}", &BODY[1..], &[BODY, b" "].concat(), &BODY.to_ascii_uppercase()] {
        assert_eq!(response.verify(&key, body), Err(AssertionError::Signature));
    }
    // The id is not signed. It only selects the key, and under the wrong key nothing verifies.
    let renamed = Response { credential_id: b"another".to_vec(), ..response.clone() };
    assert_eq!(Assertion::read(&renamed.header()).unwrap().credential_id(), encoded(b"another"));
    let other_key = Authenticator::other().register().key();
    assert_eq!(response.verify(&other_key, BODY), Err(AssertionError::Signature));
}
