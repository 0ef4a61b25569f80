//! Key sets and configuration documents. Tokens are tested through the kinds that accept them, and with a real issuer.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use base64ct::{Base64UrlUnpadded, Encoding};
use serde_json::json;

use super::*;

/// The public keys of RFC 7517, appendix A.1: one on P-256 and one of RSA.
fn example() -> Value {
    json!({"keys": [
        {"kty": "EC", "crv": "P-256", "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
            "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM", "use": "enc", "kid": "1"},
        {"kty": "RSA", "n": "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw",
            "e": "AQAB", "alg": "RS256", "kid": "2011-04-29"}
    ]})
}

fn parse(set: &Value) -> Option<IssuerKeys> {
    IssuerKeys::parse(set.to_string().as_bytes())
}

#[test]
fn only_verified_addresses_count() {
    let email = |more: Value| {
        let text = unsigned(&more);
        IdToken::read(&text).unwrap().verified_email().map(str::to_owned)
    };
    for (more, is_verified) in [
        (json!({"email_verified": true}), true),
        (json!({"email_verified": "true"}), true),
        (json!({}), false),
        (json!({"email_verified": false}), false),
        (json!({"email_verified": "false"}), false),
        (json!({"email_verified": 1}), false),
        (json!({"email_verified": null}), false),
        (json!({"email_verified": true, "email": ["a@b.example"]}), false),
        (json!({"email_verified": true, "email": null}), false),
    ] {
        assert_eq!(email(more.clone()).is_some(), is_verified, "{more}");
    }
}

#[test]
fn a_token_for_other_clients_beside_is_not_for_this_client() {
    for (more, is_for_client) in [
        (json!({"aud": "ours"}), true),
        (json!({"aud": ["ours"]}), true),
        (json!({"aud": "ours", "azp": "mobile"}), true),
        (json!({"aud": ["ours", "other"], "azp": "ours"}), true),
        (json!({"aud": ["ours", "other"]}), false),
        (json!({"aud": ["ours", "other"], "azp": "other"}), false),
        (json!({"aud": ["other", "another"], "azp": "ours"}), false),
        (json!({"aud": "other", "azp": "ours"}), false),
    ] {
        let text = unsigned(&more);
        assert_eq!(IdToken::read(&text).unwrap().is_for_client("ours"), is_for_client, "{more}");
    }
}

/// Returns a token with an empty signature and more claims.
fn unsigned(more: &Value) -> String {
    let mut claims = json!({"iss": "i", "sub": "s", "aud": "a", "exp": 1, "email": "a@b.example"});
    claims.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let header = jsonwebtoken::Header::new(Algorithm::ES256);
    let encode = |value: &[u8]| Base64UrlUnpadded::encode_string(value);
    let header = encode(&serde_json::to_vec(&header).unwrap());
    format!("{header}.{}.", encode(claims.to_string().as_bytes()))
}

#[test]
fn keys_that_cannot_sign_are_left_out() {
    let keys = parse(&example()).unwrap();
    assert!(keys.has("2011-04-29"));
    // Its use is encryption.
    assert!(!keys.has("1"));
    let mut signing = example();
    signing["keys"][0]["use"] = "sig".into();
    assert!(parse(&signing).unwrap().has("1"));
    for (member, value) in [("alg", "RS512"), ("kty", "oct"), ("n", "%"), ("use", "enc")] {
        let mut set = example();
        set["keys"][1][member] = value.into();
        assert!(parse(&set).is_none(), "{member} {value}");
    }
}

#[test]
fn hostile_key_sets_are_rejected() {
    let key = example()["keys"][1].clone();
    for (name, text) in [
        ("nothing", String::new()),
        ("a page", "<html></html>".to_owned()),
        ("no keys", json!({}).to_string()),
        ("no list", json!({"keys": {}}).to_string()),
        ("empty", json!({"keys": []}).to_string()),
        ("too many", json!({"keys": vec![key; KEYS + 1]}).to_string()),
    ] {
        assert!(IssuerKeys::parse(text.as_bytes()).is_none(), "{name}");
    }
}

#[test]
fn a_configuration_must_be_that_of_the_issuer() {
    let document = |issuer: &str| json!({"issuer": issuer, "jwks_uri": "https://a.example/keys"}).to_string();
    let url = |document: &str| key_set_url(document.as_bytes(), "https://a.example");
    assert_eq!(url(&document("https://a.example")).as_deref(), Some("https://a.example/keys"));
    assert_eq!(url(&document("https://a.example/")), None);
    assert_eq!(url(&document("https://b.example")), None);
    assert_eq!(url("{}"), None);
    for (issuer, expected) in [
        ("https://a.example", "https://a.example/.well-known/openid-configuration"),
        ("https://a.example/", "https://a.example/.well-known/openid-configuration"),
        ("https://a.example/tenant", "https://a.example/tenant/.well-known/openid-configuration"),
    ] {
        assert_eq!(configuration_url(issuer), expected);
    }
}
