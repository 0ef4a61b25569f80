//! Client data that are not what was asked for, at registrations and at assertions alike.

use quorate_common::webauthn::{AssertionFlaw, AttestationFlaw, challenge_of};

use crate::witness::{Answer, BODY, CHALLENGE, ORIGIN, Registration, Witness, encoded};

/// Client data with these three members, each as JSON, and more text before the end.
fn client_data(ceremony: &str, challenge: &str, origin: &str, more: &str) -> String {
    format!(r#"{{"type":{ceremony},"challenge":{challenge},"origin":{origin}{more}}}"#)
}

/// What may stand in the place of client data, made for one ceremony and one challenge.
fn flawed(own: &str, other: &str, challenge: &str) -> Vec<(&'static str, String)> {
    let own = &format!("\"{own}\"");
    let other = &format!("\"{other}\"");
    let challenge = &format!("\"{challenge}\"");
    let origin = &format!("\"{ORIGIN}\"");
    let good = client_data(own, challenge, origin, "");
    let deep = format!(r#","more":{}{}"#, "[".repeat(1_000), "]".repeat(1_000));
    let long = format!(r#","more":"{}""#, "x".repeat(9_000));
    vec![
        ("the other ceremony", client_data(other, challenge, origin, "")),
        ("type in other case", client_data(&own.to_uppercase(), challenge, origin, "")),
        ("type with more text", client_data(&own.replace("webauthn", "webauthn2"), challenge, origin, "")),
        ("type empty", client_data("\"\"", challenge, origin, "")),
        ("type a number", client_data("7", challenge, origin, "")),
        ("type null", client_data("null", challenge, origin, "")),
        ("type under another name", good.replace("\"type\"", "\"type_\"")),
        ("challenge empty", client_data(own, "\"\"", origin, "")),
        ("challenge of something else", client_data(own, "\"AAAA\"", origin, "")),
        ("challenge not base64url", client_data(own, &challenge.replace('Z', "!"), origin, "")),
        ("challenge cut", client_data(own, &challenge.replace('Z', ""), origin, "")),
        ("challenge a list", client_data(own, &format!("[{challenge}]"), origin, "")),
        ("challenge absent", good.replace("\"challenge\"", "\"challenged\"")),
        ("origin empty", client_data(own, challenge, "\"\"", "")),
        ("origin null", client_data(own, challenge, "null", "")),
        ("origin a list", client_data(own, challenge, &format!("[{origin}]"), "")),
        ("origin absent", good.replace("\"origin\"", "\"topOrigin\"")),
        ("type twice", client_data(own, challenge, origin, &format!(",\"type\":{own}"))),
        ("challenge twice", client_data(own, challenge, origin, &format!(",\"challenge\":{challenge}"))),
        ("origin twice", client_data(own, challenge, origin, ",\"origin\":\"https://evil.example\"")),
        ("an unknown member twice", client_data(own, challenge, origin, ",\"a\":1,\"a\":1")),
        ("an inner member twice", client_data(own, challenge, origin, ",\"a\":{\"b\":1,\"b\":1}")),
        ("a list", format!("[{own},{challenge},{origin}]")),
        ("a text", format!("\"{}\"", "x".repeat(40))),
        ("nothing", String::new()),
        ("cut", good.trim_end_matches('}').to_owned()),
        ("text after it", format!("{good}x")),
        ("two of them", format!("{good}{good}")),
        ("byte order mark", format!("\u{feff}{good}")),
        ("too deep", client_data(own, challenge, origin, &deep)),
        ("too long", client_data(own, challenge, origin, &long)),
    ]
}

/// What an honest browser may write.
fn sound(own: &str, challenge: &str) -> Vec<String> {
    let own = &format!("\"{own}\"");
    let plain = &format!("\"{challenge}\"");
    let padding = "=".repeat(challenge.len().next_multiple_of(4) - challenge.len());
    let padded = &format!("\"{challenge}{padding}\"");
    let origin = &format!("\"{ORIGIN}\"");
    vec![
        client_data(own, plain, origin, ""),
        client_data(own, padded, origin, ""),
        client_data(own, plain, origin, r#","crossOrigin":false"#),
        client_data(own, plain, origin, r#","crossOrigin":true,"topOrigin":"https://shop.example""#),
        client_data(
            own,
            plain,
            origin,
            r#","tokenBinding":{"status":"supported"},"other_keys_can_be_added":7"#,
        ),
        client_data(own, plain, origin, r#","androidPackageName":null"#),
        format!("{{ \"origin\" : {origin} ,\n\"challenge\":{plain},\t\"type\":{own} }}"),
        client_data(own, plain, &origin.replace('/', "\\/"), ""),
    ]
}

#[test]
fn registrations_refuse_flawed_client_data() {
    let registration = Witness::new().register();
    let rows = flawed("webauthn.create", "webauthn.get", &encoded(CHALLENGE));
    assert_eq!(rows.len(), 31);
    for (name, json) in rows {
        let flaw = registration.with_client_data(&json).verify();
        assert_eq!(flaw, Err(AttestationFlaw::Invalid), "{name}: {json}");
    }
    let binary = Registration { client_data: b"{\"type\":\"\xff\"}".to_vec(), ..registration };
    assert_eq!(binary.verify(), Err(AttestationFlaw::Invalid));
}

#[test]
fn registrations_take_what_browsers_write() {
    let registration = Witness::new().register();
    for json in sound("webauthn.create", &encoded(CHALLENGE)) {
        let credential = registration.with_client_data(&json).verify();
        assert_eq!(credential.map(|credential| credential.origin), Ok(ORIGIN.to_owned()), "{json}");
    }
}

#[test]
fn the_challenge_beside_is_the_one_within() {
    let registration = Witness::new().register();
    let own = registration.challenge.clone();
    let json = String::from_utf8(registration.client_data.clone()).unwrap();
    let padded = format!("{own}{}", "=".repeat(own.len().next_multiple_of(4) - own.len()));
    for (beside, holds) in [
        (own.as_str(), true),
        (padded.as_str(), true),
        ("", false),
        ("AAAA", false),
        (&own[..own.len() - 4], false),
        (&format!("{own}="), false),
        (&format!(" {own}"), false),
        ("!", false),
    ] {
        let changed = Registration { challenge: beside.to_owned(), ..registration.clone() };
        assert_eq!(changed.verify().is_ok(), holds, "{beside}");
    }
    // 0xfb 0xff 0xbf is `-_-_` in one alphabet and `+/+/` in the other.
    let url = registration.with_client_data(&json.replace(&own, "-_-_"));
    for (beside, holds) in [("-_-_", true), ("+/+/", true), ("-_+/", false)] {
        let changed = Registration { challenge: beside.to_owned(), ..url.clone() };
        assert_eq!(changed.verify().is_ok(), holds, "{beside}");
    }
}

fn answered(witness: &Witness, answer: &Answer, json: &str) -> Answer {
    witness.sign(Answer { client_data: json.as_bytes().to_vec(), ..answer.clone() })
}

#[test]
fn assertions_refuse_flawed_client_data() {
    let mut witness = Witness::new();
    let key = witness.register().key();
    let answer = witness.assert(BODY);
    let rows = flawed("webauthn.get", "webauthn.create", &challenge_of(BODY));
    assert_eq!(rows.len(), 31);
    for (name, json) in rows {
        let flaw = answered(&witness, &answer, &json).verify(&key, BODY);
        // What is too long is not even decoded.
        let expected = if name == "too long" { AssertionFlaw::Members } else { AssertionFlaw::Signature };
        assert_eq!(flaw, Err(expected), "{name}: {json}");
    }
}

#[test]
fn assertions_take_what_browsers_write() {
    let mut witness = Witness::new();
    let key = witness.register().key();
    let answer = witness.assert(BODY);
    for json in sound("webauthn.get", &challenge_of(BODY)) {
        let proven = answered(&witness, &answer, &json).verify(&key, BODY);
        assert_eq!(proven.map(|proven| proven.origin), Ok(ORIGIN.to_owned()), "{json}");
    }
}

/// Row 150 of the attacks: everything that is nearly the challenge of the body.
#[test]
fn assertions_refuse_neighbours_of_the_challenge() {
    let mut witness = Witness::new();
    let key = witness.register().key();
    let answer = witness.assert(BODY);
    let json = String::from_utf8(answer.client_data.clone()).unwrap();
    let own = challenge_of(BODY);
    assert!(json.contains(&own));
    let digest = <sha2::Sha256 as sha2::Digest>::digest(BODY);
    let digits = const_hex::encode(digest);
    for (name, challenge) in [
        ("of another body", challenge_of(b"{}")),
        ("of the body and a line end", challenge_of(&[BODY, b"\n"].concat())),
        ("of no body", challenge_of(b"")),
        ("the bytes instead of the digits", encoded(&digest)),
        ("the digits themselves", digits.clone()),
        ("upper case digits", encoded(digits.to_uppercase().as_bytes())),
        ("digits with a prefix", encoded(format!("0x{digits}").as_bytes())),
        ("half of the digits", encoded(&digits.as_bytes()[..32])),
        ("encoded twice", encoded(own.as_bytes())),
        ("the digest of the digest", challenge_of(&digest)),
    ] {
        let flaw = answered(&witness, &answer, &json.replace(&own, &challenge)).verify(&key, BODY);
        assert_eq!(flaw, Err(AssertionFlaw::Signature), "{name}");
    }
}

/// Rows 151: the caller judges origins, and is told them to the letter.
#[test]
fn origins_are_told_as_they_are() {
    let mut witness = Witness::new();
    let key = witness.register().key();
    let answer = witness.assert(BODY);
    for origin in [
        "https://evil-wallet.example.com",
        "http://wallet.example.com",
        "https://wallet.example.com:8443",
        "https://wallet.example.com/",
        "HTTPS://WALLET.EXAMPLE.COM",
        "null",
        "android:apk-key-hash:47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU",
        "ios:bundle-id:com.example.wallet",
    ] {
        let json = String::from_utf8(answer.client_data.clone()).unwrap().replace(ORIGIN, origin);
        let proven = answered(&witness, &answer, &json).verify(&key, BODY).unwrap();
        assert_eq!(proven.origin, origin);
    }
}
