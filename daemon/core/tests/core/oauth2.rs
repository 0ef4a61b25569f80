//! OAuth 2.0: codes are exchanged once, with a permit, and the ID tokens of the service sign in like any other.

use base64ct::{Base64UrlUnpadded, Encoding};
use quorate_common::api_error::{ApiError, Code};
use quorate_common::bundle::TargetKey;
use serde_json::{Value, json};

use crate::fixture::{Fixture, NOW, Person, public_key};
use crate::id_tokens::{OWN_ISSUER, OWN_KEY, Token, nonce};
use crate::oauth2_provider::{BEARER_TOKEN, CODE, ENVELOPE, SUBJECT, VERIFIER};

const AUTHENTICATE: &str = "ACTIVITY_TYPE_OAUTH2_AUTHENTICATE";
/// Number of the key that a login registers.
const SESSION: u32 = 40;

fn parameters(fixture: &Fixture, code: &str) -> Value {
    json!({"oauth2CredentialId": fixture.oauth2_credential, "authCode": code,
        "redirectUri": "https://app.example/callback", "codeVerifier": VERIFIER,
        "nonce": nonce(&public_key(SESSION))})
}

fn authenticate(fixture: &mut Fixture, person: &Person, parameters: &Value) -> Result<Value, ApiError> {
    let organization = fixture.id;
    fixture.submit(person, organization, AUTHENTICATE, parameters, NOW)
}

fn token_of(answer: &Value) -> String {
    let token = &answer["activity"]["result"]["oauth2AuthenticateResult"]["oidcToken"];
    token.as_str().expect("a token").to_owned()
}

fn claims(token: &str) -> Value {
    let claims = token.split('.').nth(1).expect("three parts");
    serde_json::from_slice(&Base64UrlUnpadded::decode_vec(claims).expect("base64url")).expect("JSON")
}

#[test]
fn a_code_becomes_a_token_that_signs_in() {
    let mut fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    let target = TargetKey::generate(&mut |bytes| bytes.fill(9));
    let mut with_key = parameters(&fixture, CODE);
    with_key["bearerTokenTargetPublicKey"] = json!(target.public().hex());
    let body = fixture.body(fixture.id, AUTHENTICATE, &with_key, NOW);
    let answer = fixture.send(&root, "oauth2_authenticate", &body, NOW).expect("the code is valid");
    let token = token_of(&answer);
    let mut seen = claims(&token);
    let bundle = seen.as_object_mut().expect("an object").remove("encrypted_bearer_token");
    let now = NOW / 1000;
    let expected = json!({"iss": OWN_ISSUER, "sub": SUBJECT, "aud": "client", "iat": now, "exp": now + 900,
        "nonce": nonce(&public_key(SESSION))});
    assert_eq!(seen, expected);
    // The bundle is one of credentials: a compressed point, then the ciphertext.
    let bundle = bundle.expect("the access token");
    let bundle =
        bs58::decode(bundle.as_str().expect("a text")).with_check(None).into_vec().expect("Base58Check");
    let sealed = json!({"encappedPublic": const_hex::encode(&bundle[..33]),
        "ciphertext": const_hex::encode(&bundle[33..])});
    let sealed = quorate_common::bundle::Sealed::parse(&sealed.to_string()).expect("a bundle");
    assert_eq!(target.open(&sealed).expect("it decrypts").as_slice(), BEARER_TOKEN.as_bytes());

    // The same bytes again exchange nothing, and the token is gone.
    let again = fixture.send(&root, "oauth2_authenticate", &body, NOW + 1).expect("the activity");
    assert_eq!(token_of(&again), "");
    assert_eq!(fixture.memory.oauth2.codes, [CODE]);
    for secret in [CODE, VERIFIER, &token, BEARER_TOKEN, "client secret"] {
        assert!(!fixture.memory.contains_text(secret), "{secret}");
    }

    // The token registers the identity, and signs in with the key that it was requested for.
    let provider = json!({"userId": fixture.spare.user,
        "oauthProviders": [{"providerName": "x", "oidcToken": token}]});
    fixture.execute("ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2", &provider);
    let parameters_of = |key: u32, token: &str| json!({"oidcToken": token, "publicKey": public_key(key)});
    let id = fixture.id;
    let mut attempt = |key: u32, token: &str| {
        fixture.submit(&root, id, "ACTIVITY_TYPE_OAUTH_LOGIN", &parameters_of(key, token), NOW)
    };
    let other = attempt(SESSION + 1, &token).expect_err("another key");
    assert_eq!(other.message, "invalid OIDC token");
    let own = |change: &dyn Fn(Token) -> Token| {
        let token = Token::new(SUBJECT, &public_key(SESSION));
        let token = token.claim("iss", json!(OWN_ISSUER)).claim("aud", json!("client"));
        change(Token { key: OWN_KEY, ..token.head("kid", json!("key 62")) }).sign()
    };
    for (name, token) in [
        ("another audience", own(&|token| token.claim("aud", json!("other client")))),
        ("another user", own(&|token| token.claim("sub", json!("1")))),
        ("an end in the past", own(&|token| token.claim("exp", json!(now)))),
        ("another key", own(&|token| Token { key: 60, ..token })),
        ("the key of another issuer", own(&|token| Token { key: 60, ..token.head("kid", json!("key 60")) })),
        ("no algorithm", own(&|token| token.head("alg", json!("none")))),
        ("a symmetric algorithm", own(&|token| token.head("alg", json!("HS256")))),
        ("another issuer", own(&|token| token.claim("iss", json!(format!("{OWN_ISSUER}/"))))),
    ] {
        let error = attempt(SESSION, &token).expect_err(name);
        assert_eq!(error.turnkey_error_code.as_deref(), Some("INVALID_OIDC_TOKEN"), "{name}: {error:?}");
    }
    attempt(SESSION, &token).expect("the key of the token");
}

#[test]
fn a_code_is_exchanged_at_most_once() {
    let mut fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    let valid = parameters(&fixture, CODE);
    authenticate(&mut fixture, &root, &valid).expect("the code is valid");
    let used = authenticate(&mut fixture, &root, &valid).expect_err("the code was used");
    assert_eq!(used.message, "OAuth 2.0 authentication failed: the authorization code was used before");
    assert_eq!(fixture.memory.oauth2.codes, [CODE]);
    // A rejected code is not sent again either.
    let wrong = parameters(&fixture, "wrong");
    for _ in 0..2 {
        authenticate(&mut fixture, &root, &wrong).expect_err("the code is wrong");
    }
    assert_eq!(fixture.memory.oauth2.codes, [CODE, "wrong"]);
    let mut verifier = parameters(&fixture, "other code");
    verifier["codeVerifier"] = json!("another".repeat(7));
    let error = authenticate(&mut fixture, &root, &verifier).expect_err("the verifier is wrong");
    assert_eq!(
        error.message,
        "OAuth 2.0 authentication failed: the provider rejected the authorization code"
    );
}

#[test]
fn values_that_no_client_sends_do_not_cost_the_code() {
    let mut fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    let digest = nonce(&public_key(SESSION));
    for (member, bad) in [
        ("codeVerifier", "short".to_owned()),
        ("codeVerifier", "a".repeat(42)),
        ("codeVerifier", "a".repeat(129)),
        ("codeVerifier", format!("{}+", "a".repeat(43))),
        ("codeVerifier", "ä".repeat(43)),
        ("nonce", "zz".to_owned()),
        ("nonce", digest.to_uppercase()),
        ("nonce", digest[1..].to_owned()),
        ("nonce", format!("{digest}0")),
        ("nonce", public_key(SESSION)),
    ] {
        let mut wrong = parameters(&fixture, CODE);
        wrong[member] = json!(bad);
        let error = authenticate(&mut fixture, &root, &wrong).expect_err("it is rejected");
        let name = if member == "nonce" { "nonce must be" } else { "code_verifier must have" };
        assert!(error.code == Code::InvalidArgument && error.message.starts_with(name), "{bad}: {error:?}");
    }
    assert!(fixture.memory.oauth2.codes.is_empty(), "nothing is sent to the provider");
    let valid = parameters(&fixture, CODE);
    authenticate(&mut fixture, &root, &valid).expect("the code is not spent");
    for length in [43, 128] {
        let mut other = parameters(&fixture, &format!("code {length}"));
        other["codeVerifier"] = json!("-._~".repeat(32)[..length]);
        authenticate(&mut fixture, &root, &other).expect_err("the provider rejects it");
    }
    assert_eq!(fixture.memory.oauth2.codes, [CODE, "code 43", "code 128"]);
}

#[test]
fn an_exchange_that_was_interrupted_is_not_repeated() {
    let mut fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    let valid = parameters(&fixture, CODE);
    let body = fixture.body(fixture.id, AUTHENTICATE, &valid, NOW);
    fixture.memory.oauth2.ends_at_claim = true;
    fixture.send(&root, "oauth2_authenticate", &body, NOW).expect_err("no answer");
    fixture.memory.oauth2.ends_at_claim = false;
    for _ in 0..2 {
        let error =
            fixture.send(&root, "oauth2_authenticate", &body, NOW + 1).expect_err("it was interrupted");
        assert_eq!(error.code, Code::InvalidArgument);
        assert!(error.message.contains("was used before"), "{}", error.message);
    }
    assert!(fixture.memory.oauth2.codes.is_empty());
}

#[test]
fn nothing_is_exchanged_without_a_permit() {
    let mut fixture = Fixture::new(1);
    let (root, user) = (fixture.roots[0].clone(), fixture.user.clone());
    let valid = parameters(&fixture, CODE);
    let denied = authenticate(&mut fixture, &user, &valid).expect_err("no policy allows it");
    assert_eq!(denied.code, Code::PermissionDenied);
    let mut strict = Fixture::new(2);
    let waiting = parameters(&strict, CODE);
    let error = authenticate(&mut strict, &root, &waiting).expect_err("it would wait");
    assert!(error.message.contains("cannot wait for approvals"), "{}", error.message);
    fixture.memory.oauth2.is_off = true;
    let off = authenticate(&mut fixture, &root, &valid).expect_err("it is off");
    assert_eq!(off.turnkey_error_code.as_deref(), Some("OAUTH2_PROVIDER_NOT_CONFIGURED"));
    fixture.memory.oauth2.is_off = false;
    let id = json!({"oauth2CredentialId": fixture.oauth2_credential});
    fixture.execute("ACTIVITY_TYPE_DELETE_OAUTH2_CREDENTIAL", &id);
    let gone = authenticate(&mut fixture, &root, &valid).expect_err("the credential was deleted");
    assert_eq!(gone.turnkey_error_code.as_deref(), Some("OAUTH2_CREDENTIAL_NOT_FOUND"));
    assert!(fixture.memory.oauth2.codes.is_empty() && strict.memory.oauth2.codes.is_empty());
}

#[test]
fn credentials_are_listed_with_their_secrets_encrypted() {
    let mut fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    let new = json!({"oauth2CredentialId": fixture.oauth2_credential, "provider": "OAUTH2_PROVIDER_DISCORD",
        "clientId": "123456", "encryptedClientSecret": ENVELOPE});
    fixture.execute("ACTIVITY_TYPE_UPDATE_OAUTH2_CREDENTIAL", &new);
    let body = json!({"organizationId": fixture.id}).to_string().into_bytes();
    let listed = fixture.memory.query("list_oauth2_credentials", &root.stamps(&body), &body, NOW);
    let listed = listed.expect("credentials are listed");
    let time = json!({"seconds": (NOW / 1000).to_string(), "nanos": "0"});
    let expected = json!([{"oauth2CredentialId": fixture.oauth2_credential, "organizationId": fixture.id,
        "provider": "OAUTH2_PROVIDER_DISCORD", "clientId": "123456", "encryptedClientSecret": ENVELOPE,
        "createdAt": time, "updatedAt": time}]);
    assert_eq!(listed["oauth2Credentials"], expected);
}
