//! Sign-in with ID tokens, and their use as proof of an identity.

use base64ct::{Base64UrlUnpadded, Encoding};
use quorate_common::api_error::{ApiError, Code};
use quorate_common::ids::OrganizationId;
use quorate_core::auth_proxy;
use serde_json::{Value, json};

use crate::fixture::{Fixture, NOW, Person, public_key};
use crate::id_tokens::{self, ISSUER, SEVERAL_KEYS, Token, nonce};

const LOGIN: &str = "ACTIVITY_TYPE_OAUTH_LOGIN";
const PROVIDERS: &str = "ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2";

/// Number of the key that a login registers.
const SESSION: u32 = 40;

fn log_in(fixture: &mut Fixture, token: &str) -> Result<Value, ApiError> {
    log_in_with(fixture, token, SESSION)
}

fn log_in_with(fixture: &mut Fixture, token: &str, key: u32) -> Result<Value, ApiError> {
    let (root, id) = (fixture.roots[0].clone(), fixture.id);
    fixture.submit(&root, id, LOGIN, &json!({"oidcToken": token, "publicKey": public_key(key)}), NOW)
}

fn token() -> Token {
    Token::new("user", &public_key(SESSION))
}

/// Asserts that a login with a token is rejected as an invalid request, and that nothing is stored.
fn rejected(fixture: &mut Fixture, name: &str, token: &str) {
    let before = fixture.memory.stored(fixture.id).head.version;
    let error = log_in(fixture, token).expect_err(name);
    assert_eq!(
        (error.code, error.turnkey_error_code.as_deref()),
        (Code::InvalidArgument, Some("INVALID_OIDC_TOKEN")),
        "{name}"
    );
    assert!(error.message.starts_with("invalid OIDC token"), "{name}: {}", error.message);
    assert_eq!(fixture.memory.stored(fixture.id).head.version, before, "{name}");
}

#[test]
fn a_login_opens_a_session_of_the_user_with_the_identity() {
    let mut fixture = Fixture::new(1);
    let answer = log_in(&mut fixture, &token().sign()).expect("the login is accepted");
    let session = answer["activity"]["result"]["oauthLoginResult"]["session"].as_str().expect("a token");
    let claims = super::claims_of(session);
    assert_eq!(claims["user_id"], json!(fixture.user.user));
    assert_eq!(claims["public_key"], json!(public_key(SESSION)));
    assert_eq!(answer["activity"]["intent"]["oauthLoginIntent"]["oidcToken"], "");
    let session = Person { number: SESSION, ..fixture.user.clone() };
    let body = json!({"organizationId": fixture.id}).to_string().into_bytes();
    let whoami = fixture.memory.query("whoami", &session.stamps(&body), &body, NOW).expect("a user");
    assert_eq!(whoami["userId"], json!(fixture.user.user));
    // The same token for the same key again: the key is registered.
    let error = log_in(&mut fixture, &token().claim("jti", json!(1)).sign()).expect_err("the key is in use");
    assert_eq!(error.code, Code::AlreadyExists);
}

#[test]
fn tokens_with_several_audiences_and_the_other_nonce_are_accepted() {
    let now = NOW / 1000;
    for (number, token) in [
        token().claim("aud", json!(["other", "audience"])),
        token().claim("nonce", Value::Null).claim("tknonce", json!(nonce(&public_key(SESSION)))),
        token()
            .claim("nonce", json!("of another library"))
            .claim("tknonce", json!(nonce(&public_key(SESSION)))),
        token().claim("iat", json!(now + 60)),
        token().claim("nbf", json!(now + 60)),
        token().claim("exp", json!(now + 1)),
        token().head("kid", Value::Null),
        token().head("typ", Value::Null),
    ]
    .into_iter()
    .enumerate()
    {
        let mut fixture = Fixture::new(1);
        log_in(&mut fixture, &token.sign()).unwrap_or_else(|error| panic!("{number}: {error:?}"));
    }
}

#[test]
fn invalid_tokens_are_rejected() {
    let mut fixture = Fixture::new(1);
    let now = NOW / 1000;
    let (valid, key) = (token(), public_key(SESSION));
    let raw = const_hex::encode(sha2::Digest::finalize(sha2::Digest::chain_update(
        <sha2::Sha256 as sha2::Digest>::new(),
        const_hex::decode(&key).expect("hex"),
    )));
    for (name, token) in [
        ("alg none", valid.clone().head("alg", json!("none"))),
        ("alg HS256", valid.clone().head("alg", json!("HS256"))),
        ("alg of another key type", valid.clone().head("alg", json!("RS256"))),
        ("alg ES384", valid.clone().head("alg", json!("ES384"))),
        ("no alg", valid.clone().head("alg", Value::Null)),
        ("critical extension", valid.clone().head("crit", json!(["b64"]))),
        ("unknown kid", valid.clone().head("kid", json!("key 99"))),
        ("key of another issuer", Token { key: 61, ..valid.clone() }),
        ("issuer with a slash", valid.clone().claim("iss", json!(format!("{ISSUER}/")))),
        ("issuer in another case", valid.clone().claim("iss", json!("https://ISSUER.example"))),
        ("issuer that is not registered", valid.clone().claim("iss", json!(SEVERAL_KEYS))),
        ("no issuer", valid.clone().claim("iss", Value::Null)),
        ("other audience", valid.clone().claim("aud", json!("other"))),
        ("other audiences", valid.clone().claim("aud", json!(["other", "another"]))),
        ("no audience", valid.clone().claim("aud", json!([]))),
        ("too many audiences", valid.clone().claim("aud", json!(vec!["audience"; 17]))),
        ("other subject", valid.clone().claim("sub", json!("nobody"))),
        ("empty subject", valid.clone().claim("sub", json!(""))),
        ("no subject", valid.clone().claim("sub", Value::Null)),
        ("ends now", valid.clone().claim("exp", json!(now))),
        ("has ended", valid.clone().claim("exp", json!(now - 1))),
        ("no end", valid.clone().claim("exp", Value::Null)),
        ("end as a text", valid.clone().claim("exp", json!((now + 600).to_string()))),
        ("issued in the future", valid.clone().claim("iat", json!(now + 61))),
        ("not yet valid", valid.clone().claim("nbf", json!(now + 61))),
        ("no nonce", valid.clone().claim("nonce", Value::Null)),
        ("nonce of another key", valid.clone().claim("nonce", json!(nonce(&public_key(41))))),
        ("nonce of the bytes of the key", valid.clone().claim("nonce", json!(raw))),
        ("nonce in upper case", valid.clone().claim("nonce", json!(nonce(&key).to_uppercase()))),
        ("nonce is the key", valid.clone().claim("nonce", json!(key))),
    ] {
        rejected(&mut fixture, name, &token.sign());
    }
}

#[test]
fn only_the_log_learns_why_a_token_is_rejected() {
    let mut fixture = Fixture::new(1);
    let (valid, now) = (token(), NOW / 1000);
    for (token, cause) in [
        (valid.clone().claim("nonce", json!("other")), "its `nonce` is not the SHA-256 digest"),
        (valid.clone().claim("sub", json!("nobody")), "no user of this organization"),
        (valid.clone().claim("aud", json!("other")), "no user of this organization"),
        (valid.clone().claim("exp", json!(now)), "it has expired"),
        (valid.clone().claim("nbf", json!(now + 61)), "it is not valid yet"),
        (valid.clone().head("kid", json!("key 99")), "its issuer has no such key"),
        (Token { key: 61, ..valid.clone() }, "its signature does not verify"),
        (valid.clone().head("alg", json!("none")), "it is malformed"),
    ] {
        let error = log_in(&mut fixture, &token.sign()).expect_err(cause);
        assert!(error.cause.as_deref().is_some_and(|logged| logged.starts_with(cause)), "{cause}: {error:?}");
        assert_eq!(error.message, "invalid OIDC token");
        let sent = serde_json::to_string(&error).expect("an error");
        assert!(!sent.contains(cause), "{sent}");
    }
}

#[test]
fn malformed_tokens_are_rejected() {
    let mut fixture = Fixture::new(1);
    let valid = token().sign();
    let parts: Vec<&str> = valid.split('.').collect();
    let [header, claims, signature] = parts.as_slice() else { panic!("three parts") };
    let doubled = format!("{{\"sub\":\"user\",{}", &token().claims.to_string()[1..]);
    let altered =
        Base64UrlUnpadded::encode_string(token().claim("sub", json!("spare")).claims.to_string().as_bytes());
    for (name, token) in [
        ("nothing", String::new()),
        ("two parts", format!("{header}.{claims}")),
        ("five parts", format!("{header}.{claims}.{signature}.a.b")),
        ("no signature", format!("{header}.{claims}.")),
        ("altered claims", format!("{header}.{altered}.{signature}")),
        ("altered signature", format!("{header}.{claims}.A{}", &signature[1..])),
        ("padded", format!("{header}.{claims}.{signature}==")),
        ("not base64", format!("{header}.%%.{signature}")),
        ("not JSON", id_tokens::sign("{}", "claims", 60)),
        ("claim given twice", id_tokens::sign(&token().header.to_string(), &doubled, 60)),
        ("17 KiB", token().claim("pad", json!("a".repeat(17 * 1024))).sign()),
    ] {
        rejected(&mut fixture, name, &token);
    }
    let error = log_in(&mut fixture, &"a".repeat(1 << 20)).expect_err("too long");
    assert_eq!(error.code, Code::InvalidArgument);
    log_in(&mut fixture, &valid).expect("the unaltered token is accepted");
}

#[test]
fn a_token_without_a_key_id_needs_an_issuer_with_one_key() {
    let mut fixture = Fixture::new(1);
    let user = fixture.user.user;
    let identity = json!({"providerName": "several", "oidcClaims": {"iss": SEVERAL_KEYS, "aud": "audience", "sub": "user"}});
    fixture.execute(PROVIDERS, &json!({"userId": user, "oauthProviders": [identity]}));
    let token = token().claim("iss", json!(SEVERAL_KEYS));
    rejected(&mut fixture, "no kid", &token.clone().head("kid", Value::Null).sign());
    rejected(&mut fixture, "kid of another key", &token.clone().head("kid", json!("key 61")).sign());
    log_in(&mut fixture, &token.sign()).expect("the key is named");
}

#[test]
fn only_callers_whom_a_policy_permits_may_log_somebody_in() {
    let mut fixture = Fixture::new(1);
    let spare = fixture.spare.clone();
    let parameters = json!({"oidcToken": token().sign(), "publicKey": public_key(SESSION)});
    let error =
        fixture.submit(&spare, fixture.id, LOGIN, &parameters, NOW).expect_err("no policy permits it");
    assert_eq!(error.code, Code::PermissionDenied);
    let mut fixture = Fixture::new(2);
    let root = fixture.roots[0].clone();
    let error = fixture.submit(&root, fixture.id, LOGIN, &parameters, NOW).expect_err("it may not wait");
    assert_eq!(error.code, Code::PermissionDenied);
}

/// Registers identities for the user `spare`, and returns the answer.
fn register(fixture: &mut Fixture, providers: &Value) -> Result<Value, ApiError> {
    let spare = fixture.spare.clone();
    let parameters = json!({"userId": spare.user, "oauthProviders": providers});
    fixture.submit(&spare, fixture.id, PROVIDERS, &parameters, NOW)
}

#[test]
fn an_identity_is_registered_by_its_token_which_is_not_stored() {
    let mut fixture = Fixture::new(1);
    let token = Token::new("fresh", "").claim("nonce", Value::Null).sign();
    let answer =
        register(&mut fixture, &json!([{"providerName": "own", "oidcToken": token}])).expect("it is valid");
    assert_eq!(answer["activity"]["status"], "ACTIVITY_STATUS_COMPLETED");
    assert!(!answer.to_string().contains(&token));
    assert!(!fixture.memory.contains_text(&token), "the token is stored nowhere");
    let login = Token::new("fresh", &public_key(SESSION)).sign();
    let answer = log_in(&mut fixture, &login).expect("the identity signs in");
    let session = answer["activity"]["result"]["oauthLoginResult"]["session"].as_str().expect("a token");
    assert_eq!(super::claims_of(session)["user_id"], json!(fixture.spare.user));
    for (name, token) in [
        ("another issuer", Token::new("x", "").claim("iss", json!("https://evil.example"))),
        ("key of another issuer", Token { key: 61, ..Token::new("x", "") }),
        ("ended", Token::new("x", "").claim("exp", json!(NOW / 1000))),
    ] {
        let provider = json!([{"providerName": "own", "oidcToken": token.sign()}]);
        let error = register(&mut fixture, &provider).expect_err(name);
        assert_eq!(error.turnkey_error_code.as_deref(), Some("INVALID_OIDC_TOKEN"), "{name}");
    }
    let both = json!([{"providerName": "own", "oidcToken": Token::new("x", "").sign(), "oidcClaims": {"iss": ISSUER, "aud": "a", "sub": "s"}}]);
    let error = register(&mut fixture, &both).expect_err("it is ambiguous");
    assert_eq!(error.turnkey_error_code.as_deref(), Some("INVALID_OIDC_TOKEN"));
    let issuers: Vec<Value> = (0..5)
        .map(|number| json!({"providerName": "p", "oidcToken": Token::new("x", "").claim("iss", json!(format!("https://{number}.example"))).sign()}))
        .collect();
    let error = register(&mut fixture, &json!(issuers)).expect_err("an issuer is unknown");
    assert_eq!(error.code, Code::InvalidArgument);
}

#[test]
fn an_activity_with_a_token_does_not_wait() {
    let mut fixture = Fixture::new(2);
    let user = |provider: Value| json!({"userName": "new", "apiKeys": [], "authenticators": [], "oauthProviders": [provider], "userTags": []});
    let token = json!({"providerName": "own", "oidcToken": Token::new("fresh", "").sign()});
    let claims =
        json!({"providerName": "own", "oidcClaims": {"iss": ISSUER, "aud": "audience", "sub": "fresh"}});
    let root = fixture.roots[0].clone();
    let mut create = |provider: Value| {
        let users = json!({"users": [user(provider)]});
        fixture.submit(&root, fixture.id, "ACTIVITY_TYPE_CREATE_USERS_V4", &users, NOW)
    };
    let error = create(token).expect_err("it would wait");
    assert_eq!(error.code, Code::PermissionDenied);
    assert!(error.message.contains("secret"), "{}", error.message);
    let waits = create(claims).expect("it waits");
    assert_eq!(waits["activity"]["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    let stored = &waits["activity"]["votes"][0]["message"];
    assert!(stored.as_str().expect("a text").contains("oidcClaims"), "the body is stored as it was sent");
}

/// Returns the sub-organizations of the fixture's organization that a filter finds.
fn found(fixture: &Fixture, filter: &str, value: &str) -> Result<Value, ApiError> {
    let body = json!({"organizationId": fixture.id, "filterType": filter, "filterValue": value})
        .to_string()
        .into_bytes();
    let answer = fixture.memory.query("list_suborgs", &fixture.roots[0].stamps(&body), &body, NOW)?;
    Ok(answer["organizationIds"].clone())
}

/// Creates a sub-organization whose root user has these identities, and returns its id.
fn child(fixture: &mut Fixture, key: u32, providers: &Value) -> OrganizationId {
    let user = json!({"userName": "root", "apiKeys": [{"apiKeyName": "k", "publicKey": public_key(key), "curveType": "API_KEY_CURVE_P256"}],
        "authenticators": [], "oauthProviders": providers});
    let parameters = json!({"subOrganizationName": "new", "rootUsers": [user], "rootQuorumThreshold": 1});
    let created = fixture.execute("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8", &parameters);
    let id = &created["result"]["createSubOrganizationResultV8"]["subOrganizationId"];
    id.as_str().unwrap_or_else(|| panic!("{created}")).parse().expect("an id")
}

#[test]
fn sub_organizations_are_found_by_proven_identities() {
    let mut fixture = Fixture::new(1);
    let claims = |subject: &str, audience: &str| json!({"providerName": "c", "oidcClaims": {"iss": ISSUER, "aud": audience, "sub": subject}});
    let proven = json!({"providerName": "t", "oidcToken": Token::new("mira", "").sign()});
    let first = child(&mut fixture, 70, &json!([proven, claims("mira", "other")]));
    let claimed =
        child(&mut fixture, 71, &json!([claims("mira", "audience"), claims("squatter", "audience")]));
    let text =
        |subject: &str, audience: &str| json!({"iss": ISSUER, "aud": audience, "sub": subject}).to_string();
    // The identity that another sub-organization only claims does not hide the one that is proven.
    assert_eq!(found(&fixture, "OIDC_TOKEN", &Token::new("mira", "").sign()).expect("found"), json!([first]));
    assert_eq!(found(&fixture, "OIDC_CLAIMS", &text("mira", "audience")).expect("found"), json!([first]));
    // Registered beside a token of the same person.
    assert_eq!(found(&fixture, "OIDC_CLAIMS", &text("mira", "other")).expect("found"), json!([first]));
    assert_eq!(found(&fixture, "OIDC_CLAIMS", &text("squatter", "audience")).expect("none"), json!([]));
    for token in [Token { key: 61, ..Token::new("mira", "") }, Token::new("mira", "").claim("exp", json!(1))]
    {
        let error = found(&fixture, "OIDC_TOKEN", &token.sign()).expect_err("invalid");
        assert_eq!(error.turnkey_error_code.as_deref(), Some("INVALID_OIDC_TOKEN"));
    }
    // A login in the sub-organization does not prove an identity that was claimed: the claimant may be somebody else.
    let root = fixture.roots[0].clone();
    let token = Token::new("squatter", &public_key(SESSION)).sign();
    let parameters = json!({"oidcToken": token, "publicKey": public_key(SESSION)});
    fixture.submit(&root, claimed, LOGIN, &parameters, NOW).expect("the parent logs the user in");
    assert_eq!(found(&fixture, "OIDC_CLAIMS", &text("squatter", "audience")).expect("none"), json!([]));
    // Somebody with a token of their own claims the identity of another person at the same issuer.
    let own = json!({"providerName": "own", "oidcToken": Token::new("mallory", "").sign()});
    let mallory =
        child(&mut fixture, 72, &json!([own, claims("victim", "audience"), claims("mallory", "other")]));
    assert_eq!(found(&fixture, "OIDC_CLAIMS", &text("victim", "audience")).expect("none"), json!([]));
    assert_eq!(found(&fixture, "OIDC_CLAIMS", &text("mallory", "other")).expect("found"), json!([mallory]));
}

#[test]
fn a_token_for_another_application_takes_nobody_over() {
    let mut fixture = Fixture::new(1);
    let eve = fixture.child.clone();
    // Anyone who runs an application of the issuer has tokens of its visitors.
    let stolen = Token::new("mira", "").claim("aud", json!("evil")).sign();
    let claims = json!({"iss": ISSUER, "aud": "audience", "sub": "mira"});
    let identities = json!({"userId": eve.user, "oauthProviders": [{"providerName": "t", "oidcToken": stolen},
        {"providerName": "c", "oidcClaims": claims}]});
    fixture
        .submit(&eve, eve.home, "ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2", &identities, NOW + 1)
        .expect("registered");
    let named = [[ISSUER, "audience", "mira"].map(str::to_owned)];
    let with = |fixture: &Fixture, ids: &[OrganizationId]| {
        auth_proxy::with_identity(&fixture.memory, ids, &named).expect("readable")
    };
    assert_eq!(with(&fixture, &[eve.home]), []);
    // Her own sub-organization is found, by whatever audience she registers it.
    let beside = json!([{"providerName": "t", "oidcToken": Token::new("mira", "").claim("aud", json!("phone")).sign()},
        {"providerName": "c", "oidcClaims": claims}]);
    let mira = child(&mut fixture, 70, &beside);
    assert_eq!(with(&fixture, &[eve.home, mira]), [mira]);
}

#[test]
fn sub_organizations_are_found_by_any_audience_of_a_token() {
    let mut fixture = Fixture::new(1);
    let proven = |subject: &str, audience: &str| json!([{"providerName": "t", "oidcToken": Token::new(subject, "").claim("aud", json!(audience)).sign()}]);
    let second = child(&mut fixture, 70, &proven("mira", "second"));
    let several = |audiences: &[&str]| Token::new("mira", "").claim("aud", json!(audiences)).sign();
    for audiences in [&["first", "second"][..], &["second", "first"], &["second"]] {
        let found = found(&fixture, "OIDC_TOKEN", &several(audiences)).expect("found");
        assert_eq!(found, json!([second]), "{audiences:?}");
    }
    assert_eq!(found(&fixture, "OIDC_TOKEN", &several(&["first", "third"])).expect("none"), json!([]));
    // Of several, each is listed once, and pages continue after the last one.
    let first = child(&mut fixture, 71, &proven("mira", "first"));
    let both = child(&mut fixture, 72, &json!([proven("mira", "first")[0], proven("mira", "second")[0]]));
    let mut expected: Vec<String> = [first, second, both].map(|id| id.to_string()).to_vec();
    // All were created at the same instant, so their ids determine the order.
    expected.sort();
    assert_eq!(
        found(&fixture, "OIDC_TOKEN", &several(&["first", "second"])).expect("found"),
        json!(expected)
    );
    let page = |options: Value| {
        let token = several(&["first", "second", "first"]);
        let body = json!({"organizationId": fixture.id, "filterType": "OIDC_TOKEN", "filterValue": token,
            "paginationOptions": options});
        let body = body.to_string().into_bytes();
        let root = &fixture.roots[0];
        let answer = fixture.memory.query("list_suborgs", &root.stamps(&body), &body, NOW).expect("a page");
        answer["organizationIds"].clone()
    };
    assert_eq!(page(json!({"limit": "2"})), json!(expected[..2]));
    assert_eq!(page(json!({"limit": "2", "after": expected[1]})), json!(expected[2..]));
    assert_eq!(page(json!({"limit": "1", "before": expected[2]})), json!(expected[1..2]));
    assert_eq!(page(json!({"limit": "2", "before": expected[2]})), json!(expected[..2]));
}
