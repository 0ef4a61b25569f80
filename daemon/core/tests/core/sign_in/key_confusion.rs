//! Issuers with keys of several types: a token is verified with the key that it names, by the algorithm of that key, and
//! with no other (RFC 8725, sections 2.1 and 3.1).

use aws_lc_rs::hmac;
use aws_lc_rs::signature::{RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RSA_PSS_SHA256};
use base64ct::{Base64, Base64UrlUnpadded, Encoding};
use quorate_common::api_error::{ApiError, Code};
use serde_json::{Value, json};

use crate::fixture::{Fixture, NOW, public_key};
use crate::id_tokens::{MIXED_KEYS, SHARED_ID, Token, jwk, rsa_der, rsa_jwk, rsa_modulus, sign};

/// Number of the key that a login registers.
const SESSION: u32 = 40;

/// Returns an organization in which a user has an identity at each of these issuers.
fn fixture() -> Fixture {
    let mut fixture = Fixture::new(1);
    let identity = |issuer: &str| json!({"providerName": issuer, "oidcClaims": {"iss": issuer, "aud": "audience", "sub": "user"}});
    let providers = [MIXED_KEYS, SHARED_ID].map(identity);
    let parameters = json!({"userId": fixture.user.user, "oauthProviders": providers});
    fixture.execute("ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2", &parameters);
    fixture
}

/// Returns a token of the issuer with several types of keys.
fn token(algorithm: &str, key_id: &str) -> Token {
    let token = Token::new("user", &public_key(SESSION)).claim("iss", json!(MIXED_KEYS));
    token.head("alg", json!(algorithm)).head("kid", json!(key_id))
}

fn log_in(fixture: &mut Fixture, token: &str, now: u64) -> Result<Value, ApiError> {
    let (root, id) = (fixture.roots[0].clone(), fixture.id);
    let parameters = json!({"oidcToken": token, "publicKey": public_key(SESSION)});
    fixture.submit(&root, id, "ACTIVITY_TYPE_OAUTH_LOGIN", &parameters, now)
}

/// Asserts that nobody gets in with a token.
fn rejected(fixture: &mut Fixture, name: &str, token: &str) {
    let error = log_in(fixture, token, NOW).expect_err(name);
    let reason = error.turnkey_error_code.as_deref();
    assert_eq!((error.code, reason), (Code::InvalidArgument, Some("INVALID_OIDC_TOKEN")), "{name}");
}

#[test]
fn each_key_verifies_tokens_of_its_own_algorithm() {
    let fixture = fixture();
    for (name, token) in [
        ("RS256", token("RS256", "rsa").sign_rsa(&RSA_PKCS1_SHA256)),
        ("ES256", token("ES256", "key 60").sign()),
    ] {
        log_in(&mut fixture.clone(), &token, NOW).unwrap_or_else(|error| panic!("{name}: {error:?}"));
    }
}

#[test]
fn a_key_verifies_no_token_of_another_algorithm_or_key() {
    let mut fixture = fixture();
    let jwk_of_attacker = json!(jwk(62));
    for (name, token) in [
        ("RS256 with the id of the other key", token("RS256", "key 60").sign_rsa(&RSA_PKCS1_SHA256)),
        ("ES256 with the id of the other key", token("ES256", "rsa").sign()),
        ("RS256 signed by the other key", token("RS256", "rsa").sign()),
        ("ES256 signed by the other key", token("ES256", "key 60").sign_rsa(&RSA_PKCS1_SHA256)),
        ("RS384", token("RS384", "rsa").sign_rsa(&RSA_PKCS1_SHA384)),
        ("RS512", token("RS512", "rsa").sign_rsa(&RSA_PKCS1_SHA512)),
        ("PS256", token("PS256", "rsa").sign_rsa(&RSA_PSS_SHA256)),
        ("RS256 with another digest", token("RS256", "rsa").sign_rsa(&RSA_PKCS1_SHA512)),
        ("RS256 with another padding", token("RS256", "rsa").sign_rsa(&RSA_PSS_SHA256)),
        ("no id, RS256", token("RS256", "").head("kid", Value::Null).sign_rsa(&RSA_PKCS1_SHA256)),
        ("no id, ES256", token("ES256", "").head("kid", Value::Null).sign()),
        ("empty id", token("ES256", "").sign()),
        ("id in another case", token("RS256", "RSA").sign_rsa(&RSA_PKCS1_SHA256)),
        ("id of another issuer's key", Token { key: 61, ..token("ES256", "key 61") }.sign()),
        ("own id, key of another issuer", Token { key: 61, ..token("ES256", "key 60") }.sign()),
        ("key in the header", {
            let token = token("ES256", "key 60").head("jwk", jwk_of_attacker.clone());
            Token { key: 62, ..token }.sign()
        }),
        ("key in the header without an id", {
            let token = token("ES256", "").head("kid", Value::Null).head("jwk", jwk_of_attacker.clone());
            Token { key: 62, ..token }.sign()
        }),
        ("address of keys in the header", {
            let token = token("ES256", "key 62").head("jku", json!("https://evil.example/keys"));
            Token { key: 62, ..token }.sign()
        }),
        ("none", token("none", "key 60").sign_with(|_| Vec::new())),
        ("None", token("None", "key 60").sign_with(|_| Vec::new())),
        ("ES256 in lower case", token("es256", "key 60").sign()),
        ("ES256 of zeros", token("ES256", "key 60").sign_with(|_| vec![0; 64])),
        ("RS256 of zeros", token("RS256", "rsa").sign_with(|_| vec![0; 256])),
        ("RS256 of no bytes", token("RS256", "rsa").sign_with(|_| Vec::new())),
    ] {
        rejected(&mut fixture, name, &token);
    }
}

#[test]
fn a_public_key_is_no_secret_of_hmac() {
    let mut fixture = fixture();
    let point =
        |name: &str| Base64UrlUnpadded::decode_vec(jwk(60)[name].as_str().expect("text")).expect("base64");
    let point = [point("x"), point("y")].concat();
    // The structures of RFC 5280 around the keys: SubjectPublicKeyInfo of P-256 (RFC 5480) and of RSA (RFC 3279).
    let ec_head = "3059301306072a8648ce3d020106082a8648ce3d030107034200";
    let rsa_head = "30820122300d06092a864886f70d01010105000382010f00";
    let info = |head: &str, key: &[u8]| [const_hex::decode(head).expect("hex"), key.to_vec()].concat();
    let uncompressed = [&[4], point.as_slice()].concat();
    let pem = |label: &str, der: &[u8]| {
        let text = Base64::encode_string(der);
        let lines: Vec<&str> =
            text.as_bytes().chunks(64).map(|line| str::from_utf8(line).expect("ASCII")).collect();
        format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n")).into_bytes()
    };
    let (ec_info, rsa_info) = (info(ec_head, &uncompressed), info(rsa_head, &rsa_der()));
    let pems = [pem("PUBLIC KEY", &ec_info), pem("PUBLIC KEY", &rsa_info), pem("RSA PUBLIC KEY", &rsa_der())];
    let trimmed = pems.clone().map(|text| text.trim_ascii_end().to_vec());
    let texts = [jwk(60), rsa_jwk()].map(|key| key.to_string().into_bytes());
    let forms = [vec![], point, uncompressed, ec_info, rsa_der(), rsa_modulus(), rsa_info];
    let secrets = forms.into_iter().chain(pems).chain(trimmed).chain(texts);
    let algorithms =
        [("HS256", hmac::HMAC_SHA256), ("HS384", hmac::HMAC_SHA384), ("HS512", hmac::HMAC_SHA512)];
    for (number, secret) in secrets.enumerate() {
        for (name, algorithm) in algorithms {
            for key_id in ["rsa", "key 60"] {
                let key = hmac::Key::new(algorithm, &secret);
                // The header may also claim an algorithm that is accepted.
                for claimed in [name, "RS256", "ES256"] {
                    let mac = |input: &[u8]| hmac::sign(&key, input).as_ref().to_vec();
                    let token = token(claimed, key_id).sign_with(mac);
                    rejected(&mut fixture, &format!("{number} {name} {key_id} {claimed}"), &token);
                }
            }
        }
    }
}

#[test]
fn keys_of_different_types_with_one_id_verify_nothing() {
    let mut fixture = fixture();
    let of = |algorithm: &str| token(algorithm, "shared").claim("iss", json!(SHARED_ID));
    for (name, token) in [
        ("RS256", of("RS256").sign_rsa(&RSA_PKCS1_SHA256)),
        ("ES256", of("ES256").sign()),
        ("no id", of("ES256").head("kid", Value::Null).sign()),
    ] {
        rejected(&mut fixture, name, &token);
    }
}

#[test]
fn signatures_have_one_form() {
    let mut fixture = fixture();
    let valid = token("ES256", "key 60");
    // The standard form is r and s in 64 bytes (RFC 7518, section 3.4), not DER.
    let text = valid.sign();
    let (input, signature) = text.rsplit_once('.').expect("three parts");
    let signature = Base64UrlUnpadded::decode_vec(signature).expect("base64url");
    let integer = |number: &[u8]| {
        let sign: &[u8] = if number[0] >= 0x80 { &[0] } else { &[] };
        let number: Vec<u8> = [sign, number].concat();
        [&[2, u8::try_from(number.len()).expect("short")], number.as_slice()].concat()
    };
    let body = [integer(&signature[..32]), integer(&signature[32..])].concat();
    let der = [&[0x30, u8::try_from(body.len()).expect("short")], body.as_slice()].concat();
    let with = |signature: &[u8]| format!("{input}.{}", Base64UrlUnpadded::encode_string(signature));
    for (name, signature) in [
        ("DER", der),
        ("a byte more", [signature.as_slice(), &[0]].concat()),
        ("a byte less", signature[..63].to_vec()),
        ("twice", signature.repeat(2)),
        ("r and s exchanged", [&signature[32..], &signature[..32]].concat()),
    ] {
        rejected(&mut fixture, name, &with(&signature));
    }
    log_in(&mut fixture, &with(&signature), NOW).expect("the form of the standard");
}

#[test]
fn an_algorithm_is_read_once() {
    let mut fixture = fixture();
    let claims = token("ES256", "key 60").claims.to_string();
    for header in [
        r#"{"alg":"none","alg":"ES256","kid":"key 60"}"#,
        r#"{"alg":"ES256","alg":"none","kid":"key 60"}"#,
        r#"{"alg":"ES256","kid":"rsa","kid":"key 60"}"#,
        r#"{"alg":["ES256"],"kid":"key 60"}"#,
        r#"{"alg":"ES256","kid":["key 60"]}"#,
        r#"{"alg":"ES256","kid":60}"#,
        r#"["ES256"]"#,
    ] {
        rejected(&mut fixture, header, &sign(header, &claims, 60));
    }
    let header = r#"{"alg":"ES256","kid":"key 60"}"#;
    log_in(&mut fixture, &sign(header, &claims, 60), NOW).expect("the plain header");
}

#[test]
fn times_hold_to_the_millisecond() {
    let (fixture, now) = (fixture(), NOW / 1000);
    let valid = token("ES256", "key 60");
    // The end is exact. A beginning may be a minute ahead.
    for (name, claim, value, at, is_valid) in [
        ("the last moment", "exp", json!(now + 1), NOW + 999, true),
        ("the end", "exp", json!(now + 1), NOW + 1_000, false),
        ("nbf a second ahead", "nbf", json!(now + 1), NOW, true),
        ("nbf a minute ahead", "nbf", json!(now + 60), NOW, true),
        ("nbf more than a minute ahead", "nbf", json!(now + 61), NOW, false),
        ("nbf, a moment before", "nbf", json!(now + 61), NOW + 999, false),
        ("nbf, at the moment", "nbf", json!(now + 61), NOW + 1_000, true),
        ("iat a minute ahead", "iat", json!(now + 60), NOW, true),
        ("iat more than a minute ahead", "iat", json!(now + 61), NOW, false),
        ("the greatest iat", "iat", json!(u64::MAX), NOW, false),
        ("the greatest end", "exp", json!(u64::MAX), NOW, true),
        ("an end beyond the greatest", "exp", json!(1e30), NOW, false),
        ("a negative end", "exp", json!(-1), NOW, false),
        ("an end of zero", "exp", json!(0), NOW, false),
        ("an end in milliseconds as a text", "exp", json!(NOW.to_string()), NOW, false),
        ("a beginning as a text", "nbf", json!("soon"), NOW, false),
    ] {
        let token = valid.clone().claim(claim, value).sign();
        let answer = log_in(&mut fixture.clone(), &token, at);
        assert_eq!(answer.is_ok(), is_valid, "{name}: {answer:?}");
    }
    // Each beginning counts, not only one of them.
    for (iat, nbf) in [(now, now + 61), (now + 61, now)] {
        let token = valid.clone().claim("iat", json!(iat)).claim("nbf", json!(nbf));
        rejected(&mut fixture.clone(), "one of two beginnings", &token.sign());
    }
}

#[test]
fn a_token_is_used_again_for_its_own_key_only() {
    let mut fixture = fixture();
    let token = token("ES256", "key 60").sign();
    let opened = log_in(&mut fixture, &token, NOW).expect("the first login");
    let key = fixture.memory.stored(fixture.id);
    let user = key.user(fixture.user.user).expect("a user");
    let id = user.api_keys.last().expect("the key of the session").id;
    let delete = json!({"userId": fixture.user.user, "apiKeyIds": [id]});
    fixture.execute("ACTIVITY_TYPE_DELETE_API_KEYS", &delete);
    // The session was ended, and the token lasts, for this key and until its end.
    let (root, organization) = (fixture.roots[0].clone(), fixture.id);
    for (at, key) in [(NOW + 1, SESSION + 1), (NOW + 600_000, SESSION)] {
        let parameters = json!({"oidcToken": token, "publicKey": public_key(key)});
        let error = fixture.submit(&root, organization, "ACTIVITY_TYPE_OAUTH_LOGIN", &parameters, at);
        assert_eq!(error.expect_err("another key, or too late").code, Code::InvalidArgument);
    }
    let again = log_in(&mut fixture, &token, NOW + 599_999).expect("the second login");
    assert_ne!(opened["activity"]["id"], again["activity"]["id"]);
}
