//! Invalid and valid client data, in registrations and in assertions.

use quorate_common::webauthn::{AssertionError, AttestationError, challenge_of};

use crate::authenticator::{Authenticator, BODY, CHALLENGE, ORIGIN, Registration, Response, encoded};

/// Returns client data with these three members, each given as JSON, and more text before the end.
fn client_data(ceremony: &str, challenge: &str, origin: &str, more: &str) -> String {
    format!(r#"{{"type":{ceremony},"challenge":{challenge},"origin":{origin}{more}}}"#)
}

/// Invalid client data for one ceremony and one challenge.
fn invalid(own: &str, other: &str, challenge: &str) -> Vec<(&'static str, String)> {
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
        ("challenge truncated", client_data(own, &challenge.replace('Z', ""), origin, "")),
        ("challenge a list", client_data(own, &format!("[{challenge}]"), origin, "")),
        ("challenge absent", good.replace("\"challenge\"", "\"challenged\"")),
        ("origin empty", client_data(own, challenge, "\"\"", "")),
        ("origin null", client_data(own, challenge, "null", "")),
        ("origin a list", client_data(own, challenge, &format!("[{origin}]"), "")),
        ("origin absent", good.replace("\"origin\"", "\"topOrigin\"")),
        ("duplicate type", client_data(own, challenge, origin, &format!(",\"type\":{own}"))),
        ("duplicate challenge", client_data(own, challenge, origin, &format!(",\"challenge\":{challenge}"))),
        ("duplicate origin", client_data(own, challenge, origin, ",\"origin\":\"https://evil.example\"")),
        ("a duplicate unknown member", client_data(own, challenge, origin, ",\"a\":1,\"a\":1")),
        ("a duplicate nested member", client_data(own, challenge, origin, ",\"a\":{\"b\":1,\"b\":1}")),
        ("a list", format!("[{own},{challenge},{origin}]")),
        ("a text", format!("\"{}\"", "x".repeat(40))),
        ("empty", String::new()),
        ("truncated", good.trim_end_matches('}').to_owned()),
        ("text after it", format!("{good}x")),
        ("two of them", format!("{good}{good}")),
        ("byte order mark", format!("\u{feff}{good}")),
        ("too deep", client_data(own, challenge, origin, &deep)),
        ("too long", client_data(own, challenge, origin, &long)),
    ]
}

/// Valid client data that a browser may write.
fn valid(own: &str, challenge: &str) -> Vec<String> {
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
fn registrations_reject_invalid_client_data() {
    let registration = Authenticator::new().register();
    let rows = invalid("webauthn.create", "webauthn.get", &encoded(CHALLENGE));
    assert_eq!(rows.len(), 31);
    for (name, json) in rows {
        let error = registration.with_client_data(&json).verify();
        assert_eq!(error, Err(AttestationError::Invalid), "{name}: {json}");
    }
    let binary = Registration { client_data: b"{\"type\":\"\xff\"}".to_vec(), ..registration };
    assert_eq!(binary.verify(), Err(AttestationError::Invalid));
}

#[test]
fn registrations_accept_client_data_of_browsers() {
    let registration = Authenticator::new().register();
    for json in valid("webauthn.create", &encoded(CHALLENGE)) {
        let credential = registration.with_client_data(&json).verify();
        assert_eq!(credential.map(|credential| credential.origin), Ok(ORIGIN.to_owned()), "{json}");
    }
}

#[test]
fn submitted_challenge_must_equal_the_one_in_client_data() {
    let registration = Authenticator::new().register();
    let own = registration.challenge.clone();
    let json = String::from_utf8(registration.client_data.clone()).unwrap();
    let padded = format!("{own}{}", "=".repeat(own.len().next_multiple_of(4) - own.len()));
    for (submitted, is_valid) in [
        (own.as_str(), true),
        (padded.as_str(), true),
        ("", false),
        ("AAAA", false),
        (&own[..own.len() - 4], false),
        (&format!("{own}="), false),
        (&format!(" {own}"), false),
        ("!", false),
    ] {
        let changed = Registration { challenge: submitted.to_owned(), ..registration.clone() };
        assert_eq!(changed.verify().is_ok(), is_valid, "{submitted}");
    }
    // 0xfb 0xff 0xbf is `-_-_` in one alphabet and `+/+/` in the other.
    let url = registration.with_client_data(&json.replace(&own, "-_-_"));
    for (submitted, is_valid) in [("-_-_", true), ("+/+/", true), ("-_+/", false)] {
        let changed = Registration { challenge: submitted.to_owned(), ..url.clone() };
        assert_eq!(changed.verify().is_ok(), is_valid, "{submitted}");
    }
}

fn with_client_data(authenticator: &Authenticator, response: &Response, json: &str) -> Response {
    authenticator.sign(Response { client_data: json.as_bytes().to_vec(), ..response.clone() })
}

#[test]
fn assertions_reject_invalid_client_data() {
    let mut authenticator = Authenticator::new();
    let key = authenticator.register().key();
    let response = authenticator.assert(BODY);
    let rows = invalid("webauthn.get", "webauthn.create", &challenge_of(BODY));
    assert_eq!(rows.len(), 31);
    for (name, json) in rows {
        let error = with_client_data(&authenticator, &response, &json).verify(&key, BODY);
        // Client data that is too long is rejected before decoding.
        let expected = if name == "too long" { AssertionError::Members } else { AssertionError::Signature };
        assert_eq!(error, Err(expected), "{name}: {json}");
    }
}

#[test]
fn assertions_accept_client_data_of_browsers() {
    let mut authenticator = Authenticator::new();
    let key = authenticator.register().key();
    let response = authenticator.assert(BODY);
    for json in valid("webauthn.get", &challenge_of(BODY)) {
        let verified = with_client_data(&authenticator, &response, &json).verify(&key, BODY);
        assert_eq!(verified.map(|verified| verified.origin), Ok(ORIGIN.to_owned()), "{json}");
    }
}

/// The challenges are almost that of the body.
#[test]
fn assertions_reject_similar_challenges() {
    let mut authenticator = Authenticator::new();
    let key = authenticator.register().key();
    let response = authenticator.assert(BODY);
    let json = String::from_utf8(response.client_data.clone()).unwrap();
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
        let error =
            with_client_data(&authenticator, &response, &json.replace(&own, &challenge)).verify(&key, BODY);
        assert_eq!(error, Err(AssertionError::Signature), "{name}");
    }
}

/// The caller checks origins, so that they are returned exactly.
#[test]
fn origins_are_returned_unchanged() {
    let mut authenticator = Authenticator::new();
    let key = authenticator.register().key();
    let response = authenticator.assert(BODY);
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
        let json = String::from_utf8(response.client_data.clone()).unwrap().replace(ORIGIN, origin);
        let verified = with_client_data(&authenticator, &response, &json).verify(&key, BODY).unwrap();
        assert_eq!(verified.origin, origin);
    }
}
