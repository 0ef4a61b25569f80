//! Verification tokens with other headers and claims, signed by the right key, and what remains of a token after its use.

use aws_lc_rs::hmac;
use base64ct::{Base64UrlUnpadded, Encoding};
use quorate_core::auth_proxy;
use serde_json::json;

use super::tokens::{TOKEN, token};
use super::*;

/// Returns r and s of a signature in DER (RFC 3279, section 2.2.3).
fn fixed(der: &[u8]) -> Vec<u8> {
    let integer = |bytes: &[u8]| {
        let digits: Vec<u8> = bytes.iter().copied().skip_while(|byte| *byte == 0).collect();
        [vec![0; 32 - digits.len()], digits].concat()
    };
    let length = usize::from(der[3]);
    [integer(&der[4..4 + length]), integer(&der[6 + length..])].concat()
}

fn encoded(text: &str) -> String {
    Base64UrlUnpadded::encode_string(text.as_bytes())
}

/// Signs a header and claims with the quorum key, over this input.
fn signed(memory: &Memory, header: &str, claims: &str, prepare: impl Fn(&str) -> Vec<u8>) -> String {
    let input = format!("{}.{}", encoded(header), encoded(claims));
    let signature = QuorumKey::sign(memory, &prepare(&input)).expect("a signature");
    format!("{input}.{}", Base64UrlUnpadded::encode_string(&fixed(&signature)))
}

fn once(input: &str) -> Vec<u8> {
    input.as_bytes().to_vec()
}

#[test]
fn tokens_have_one_header_and_one_form() {
    let mut fixture = Fixture::new(1);
    let id = fixture.id;
    let valid = token(&fixture, |claims| claims.key = None);
    let claims = claims_of(&valid);
    let text = claims.to_string();
    let header = r#"{"typ":"JWT","alg":"ES256"}"#;
    let changed = |name: &str, value: Value| {
        let mut claims = claims.clone();
        claims[name] = value;
        signed(&fixture.memory, header, &claims.to_string(), once)
    };
    let without = |name: &str| {
        let mut claims = claims.clone();
        claims.as_object_mut().expect("an object").remove(name);
        signed(&fixture.memory, header, &claims.to_string(), once)
    };
    let input = |header: &str| format!("{}.{}", encoded(header), encoded(&text));
    let public = QuorumKey::public_key(&fixture.memory);
    let by_hmac = |secret: &[u8]| {
        let input = input(r#"{"typ":"JWT","alg":"HS256"}"#);
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), input.as_bytes());
        format!("{input}.{}", Base64UrlUnpadded::encode_string(tag.as_ref()))
    };
    let of = |header: &str| signed(&fixture.memory, header, &text, once);
    let (start, signature) = valid.rsplit_once('.').expect("three parts");
    let forged = [
        ("none", format!("{}.", input(r#"{"typ":"JWT","alg":"none"}"#))),
        ("none with a signature", of(r#"{"typ":"JWT","alg":"none"}"#)),
        ("HS256 with the public key", by_hmac(public.as_bytes())),
        ("HS256 with the bytes of the public key", by_hmac(&const_hex::decode(&public).expect("hex"))),
        ("HS256 with no secret", by_hmac(b"")),
        ("RS256", of(r#"{"typ":"JWT","alg":"RS256"}"#)),
        ("no algorithm", of(r#"{"typ":"JWT"}"#)),
        ("no type", of(r#"{"alg":"ES256"}"#)),
        ("another type", of(r#"{"typ":"at+jwt","alg":"ES256"}"#)),
        ("the header of session tokens", of(r#"{"alg":"ES256","typ":"JWT"}"#)),
        ("two algorithms", of(r#"{"typ":"JWT","alg":"ES256","alg":"none"}"#)),
        ("a key in the header", of(r#"{"typ":"JWT","alg":"ES256","jwk":{}}"#)),
        ("two digests, as session tokens have", {
            signed(&fixture.memory, header, &text, |input| Sha256::digest(input).to_vec())
        }),
        ("padded", format!("{start}.{signature}==")),
        ("four parts", format!("{valid}.{signature}")),
        ("white space", format!("{valid} ")),
        ("claims in a list", signed(&fixture.memory, header, &format!("[{text}]"), once)),
        ("no claims", signed(&fixture.memory, header, "{}", once)),
        ("another organization", changed("organization_id", json!(fixture.bare.home))),
        ("no id", without("id")),
        ("an id that is none", changed("id", json!("1"))),
        ("another kind of contact", changed("verification_type", json!("OTP_TYPE_SMS"))),
        ("an unknown kind of contact", changed("verification_type", json!("OTP_TYPE_PIGEON"))),
        ("no contact", without("contact")),
        ("no end", without("exp")),
        ("an end that is none", changed("exp", json!("never"))),
        ("a negative end", changed("exp", json!(-1))),
    ];
    for (name, forged) in forged {
        let parameters = json!({"verificationToken": forged, "publicKey": public_key(30)});
        let error = run(&mut fixture, "OTP_LOGIN", &parameters, NOW).expect_err(name);
        assert_eq!(error.message, TOKEN, "{name}");
        assert_eq!(auth_proxy::proven_contact(&fixture.memory, id, &forged, NOW), None, "{name}");
        let change = json!({"userId": fixture.spare.user, "userEmail": EMAIL, "verificationToken": forged});
        let error = run(&mut fixture, "UPDATE_USER_EMAIL", &change, NOW).expect_err(name);
        assert_eq!(error.message, TOKEN, "{name}");
    }
    assert!(fixture.memory.rows(b'k').all(|(key, _)| key[1] != b'u'), "no token is used");
    let rebuilt = signed(&fixture.memory, header, &text, once);
    log_in(&mut fixture, id, &rebuilt, 30, NOW).expect("the same claims under the header of the service");
}

#[test]
fn each_purpose_uses_a_token_once_and_lookups_use_it_never() {
    let mut fixture = Fixture::new(1);
    let id = fixture.id;
    let owner = fixture.roots[1].user;
    let plain = token(&fixture, |claims| claims.key = None);
    let end = NOW + 3_600_000;
    let known = |fixture: &Fixture, now: u64| {
        auth_proxy::proven_contact(&fixture.memory, id, &plain, now)
            .map(|contact| contact.as_str().to_owned())
    };
    let user = json!([{"userName": "root", "userEmail": EMAIL, "apiKeys": [crate::samples::key_v2(70)]}]);
    let sign_up = json!({"subOrganizationName": "new", "rootUsers": user, "rootQuorumThreshold": 1, "verificationToken": plain});
    let change = json!({"userId": owner, "userEmail": EMAIL, "verificationToken": plain});
    let login = json!({"verificationToken": plain, "publicKey": public_key(30)});
    let purposes =
        [("CREATE_SUB_ORGANIZATION_V7", &sign_up), ("OTP_LOGIN", &login), ("UPDATE_USER_EMAIL", &change)];
    for (number, (name, parameters)) in purposes.into_iter().enumerate() {
        for _ in 0..10 {
            assert_eq!(known(&fixture, NOW).as_deref(), Some(EMAIL), "{name}");
        }
        // After its end, nothing is possible, whether it was used or not.
        for (late, parameters) in purposes {
            refused(run(&mut fixture.clone(), late, parameters, end), TOKEN);
        }
        run(&mut fixture, name, parameters, NOW).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        for (again, parameters) in &purposes[..=number] {
            let mut parameters = (*parameters).clone();
            if *again == "OTP_LOGIN" {
                parameters["publicKey"] = json!(public_key(31));
            }
            refused(
                // Another millisecond is another request.
                run(&mut fixture.clone(), again, &parameters, NOW + 1),
                "verification token has already been used",
            );
        }
    }
    assert_eq!(known(&fixture, end - 1).as_deref(), Some(EMAIL));
    assert_eq!(known(&fixture, end), None);
    assert_eq!(auth_proxy::proven_contact(&fixture.memory, fixture.child.home, &plain, NOW), None);
}

#[test]
fn a_login_by_an_attested_stamp_is_a_login() {
    let mut fixture = Fixture::new(1);
    let parent = fixture.id;
    let child = fixture.child.home;
    let bound = fixture.sign_in.tokens[1].clone();
    let second = token(&fixture, |_| {});
    // The first login proves the contact, so that an attested stamp finds the user.
    log_in(&mut fixture, parent, &second, 30, NOW).expect("a session");
    let refused_by = |answer: Result<Value, ApiError>| {
        refused(answer, "verification token has already been used");
    };
    refused_by(attested::log_in(&mut fixture, parent, attested::BY_TOKEN, &second));
    attested::log_in(&mut fixture, parent, attested::BY_TOKEN, &bound).expect("a session");
    for organization in [parent, child] {
        refused_by(log_in(&mut fixture, organization, &bound, 31, NOW));
    }
}

#[test]
fn codes_have_six_to_nine_signs_of_their_alphabet() {
    let mut fixture = Fixture::new(1);
    for (number, (length, letters)) in
        [(6, true), (7, true), (8, true), (9, true), (6, false), (9, false)].into_iter().enumerate()
    {
        let contact = format!("person{number}@house.example");
        let more = json!({"otpLength": length, "alphanumeric": letters});
        let code = init(&mut fixture, "INIT_OTP_V3", &contact, &more, NOW).expect("a code is sent").code;
        // Base 32 by Crockford has no I, L, O and U.
        let alphabet = if letters { "0123456789ABCDEFGHJKMNPQRSTVWXYZ" } else { "0123456789" };
        assert_eq!(code.len(), length, "{code}");
        assert!(code.chars().all(|sign| alphabet.contains(sign)), "{code}");
    }
    for length in [json!(0), json!(5), json!(10), json!(-6), json!("6"), json!(6.5)] {
        let error = init(&mut fixture, "INIT_OTP_V3", EMAIL, &json!({"otpLength": length}), NOW);
        let error = error.expect_err("a length that is not offered");
        assert!(error.message.starts_with("invalid request body"), "{length}: {}", error.message);
    }
}
