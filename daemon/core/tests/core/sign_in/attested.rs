//! Attested stamps: logins by keys that are registered nowhere.

use base64ct::{Base64UrlUnpadded, Encoding};
use quorate_common::api_error::{ApiError, Code};
use quorate_common::ids::{OrganizationId, UserId};
use quorate_common::stamp::{ApiKeyCurve, Stamp, Stamper};
use quorate_common::token::TokenEnd;
use quorate_core::authn::{Credentials, Header};
use serde_json::{Value, json};

use super::{Claims, EMAIL, claims_of, submit, whoami, with_key};
use crate::fixture::{Fixture, NOW, Person, public_key};
use crate::id_tokens::{ISSUER, Token};

const LOGIN: &str = "ACTIVITY_TYPE_STAMP_LOGIN";
pub(crate) const BY_TOKEN: &str = "STAMP_ATTESTED_SCHEME_P256_VERIFICATION_TOKEN";
pub(crate) const BY_IDENTITY: &str = "STAMP_ATTESTED_SCHEME_P256_OIDC";

/// Number of the attested key.
const KEY: u32 = super::TOKEN_KEY;

/// Stamps a body with the key of this number, attested by a token.
pub(crate) fn stamps(scheme: &str, token: &str, key: u32, body: &[u8]) -> Credentials {
    let mut secret = [1; 32];
    secret[..4].copy_from_slice(&key.to_be_bytes());
    let stamper = Stamper::new(ApiKeyCurve::P256, &secret).expect("a key");
    let Stamp { public_key, signature, .. } = stamper.stamp(body).expect("a stamp");
    let members = json!({"publicKeyAttestation": token, "scheme": scheme, "publicKey": public_key, "signature": signature});
    let header = Base64UrlUnpadded::encode_string(members.to_string().as_bytes());
    Credentials { attested: Header::Once(header), ..Credentials::default() }
}

/// Logs in at an organization with an attested stamp.
pub(super) fn log_in(
    fixture: &mut Fixture,
    organization: OrganizationId,
    scheme: &str,
    token: &str,
) -> Result<Value, ApiError> {
    log_in_at(fixture, organization, scheme, token, NOW)
}

fn log_in_at(
    fixture: &mut Fixture,
    organization: OrganizationId,
    scheme: &str,
    token: &str,
    now: u64,
) -> Result<Value, ApiError> {
    let body = fixture.body(organization, LOGIN, &json!({"publicKey": public_key(KEY)}), now);
    let stamps = stamps(scheme, token, KEY, &body);
    fixture.memory.submit("stamp_login", &stamps, &body, now)
}

/// Lets the root user of the first sub-organization prove the contact [`EMAIL`].
pub(super) fn verified(fixture: &mut Fixture) {
    let (root, child) = (fixture.roots[0].clone(), fixture.child.clone());
    let update = json!({"userId": child.user, "userEmail": EMAIL});
    fixture
        .submit(&child, child.home, "ACTIVITY_TYPE_UPDATE_USER_EMAIL", &update, NOW)
        .expect("the contact is set");
    let token =
        Claims { id: 90, key: None, organization: fixture.id, ..Claims::default() }.sign(&fixture.memory);
    let login = json!({"verificationToken": token, "publicKey": public_key(91)});
    fixture.submit(&root, child.home, "ACTIVITY_TYPE_OTP_LOGIN", &login, NOW).expect("the contact is proven");
}

pub(super) fn verification_token(fixture: &Fixture) -> Claims {
    Claims { id: 9, organization: fixture.id, ..Claims::default() }
}

#[test]
fn a_verification_token_logs_in_at_the_parent_and_at_the_sub_organization() {
    for at_parent in [true, false] {
        let mut fixture = Fixture::new(1);
        verified(&mut fixture);
        let child = fixture.child.clone();
        let token = verification_token(&fixture).sign(&fixture.memory);
        let organization = if at_parent { fixture.id } else { child.home };
        let answer = log_in(&mut fixture, organization, BY_TOKEN, &token).expect("the login is accepted");
        assert_eq!(answer["activity"]["organizationId"], json!(child.home));
        let session = answer["activity"]["result"]["stampLoginResult"]["session"].as_str().expect("a token");
        let claims = claims_of(session);
        assert_eq!(
            (&claims["user_id"], &claims["organization_id"]),
            (&json!(child.user), &json!(child.home))
        );
        let vote = &answer["activity"]["votes"][0];
        assert_eq!(vote["scheme"], BY_TOKEN);
        assert!(!fixture.memory.contains_text(&token), "the token is stored nowhere");
        // It opens one session, also for another request.
        let error =
            log_in_at(&mut fixture, organization, BY_TOKEN, &token, NOW + 1).expect_err("it was used");
        assert_eq!(error.code, Code::AlreadyExists);
        assert_eq!(error.message, "verification token has already been used");
    }
}

#[test]
fn an_identity_logs_in_at_the_parent_and_at_the_organization() {
    let mut fixture = Fixture::new(1);
    let user = json!({"userName": "root", "apiKeys": [], "authenticators": [],
        "oauthProviders": [{"providerName": "t", "oidcToken": Token::new("mira", "").sign()}]});
    let parameters = json!({"subOrganizationName": "new", "rootUsers": [user], "rootQuorumThreshold": 1});
    let created = fixture.execute("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8", &parameters);
    let child = &created["result"]["createSubOrganizationResultV8"]["subOrganizationId"];
    let token = Token::new("mira", &public_key(KEY)).sign();
    let parent = fixture.id;
    let answer = log_in(&mut fixture, parent, BY_IDENTITY, &token).expect("the login is accepted");
    assert_eq!(&answer["activity"]["organizationId"], child);
    // The identity of a user of the organization itself.
    let mut fixture = Fixture::new(1);
    let token = Token::new("user", &public_key(KEY)).sign();
    let answer = log_in(&mut fixture, parent, BY_IDENTITY, &token).expect("the login is accepted");
    let session = answer["activity"]["result"]["stampLoginResult"]["session"].as_str().expect("a token");
    assert_eq!(claims_of(session)["user_id"], json!(fixture.user.user));
}

#[test]
fn a_user_without_another_key_can_end_the_last_session() {
    let mut fixture = Fixture::new(1);
    let user = json!({"userName": "root", "apiKeys": [], "authenticators": [],
        "oauthProviders": [{"providerName": "t", "oidcToken": Token::new("mira", "").sign()}]});
    let parameters = json!({"subOrganizationName": "new", "rootUsers": [user], "rootQuorumThreshold": 1});
    let created = fixture.execute("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8", &parameters);
    let created = &created["result"]["createSubOrganizationResultV8"];
    let child: OrganizationId = created["subOrganizationId"].as_str().expect("an id").parse().expect("an id");
    let token = Token::new("mira", &public_key(KEY)).sign();
    log_in(&mut fixture, child, BY_IDENTITY, &token).expect("the login is accepted");
    let id: UserId = created["rootUserIds"][0].as_str().expect("an id").parse().expect("an id");
    let key = |fixture: &Fixture| {
        fixture.memory.stored(child).user(id).expect("a user").api_keys.first().map(|key| key.id)
    };
    let session = Person { user: id, home: child, ..with_key(&fixture.user, KEY) };
    assert_eq!(whoami(&fixture, &session, child, NOW), Ok(json!(id)));
    let parameters = json!({"userId": id, "apiKeyIds": [key(&fixture)]});
    let done =
        submit(&mut fixture, &session, child, "DELETE_API_KEYS", &parameters, NOW).expect("an own key");
    assert_eq!(done["status"], "ACTIVITY_STATUS_COMPLETED", "{done}");
    assert_eq!(key(&fixture), None);
    whoami(&fixture, &session, child, NOW).expect_err("the session has ended");
}

#[test]
fn an_identity_logs_in_at_the_parent_by_any_audience() {
    let mut fixture = Fixture::new(1);
    let mut child = |key: u32, audience: &str| {
        let identity = Token::new("mira", "").claim("aud", json!(audience)).sign();
        let user = json!({"userName": "root", "apiKeys": [crate::samples::key_v2(key)], "authenticators": [],
            "oauthProviders": [{"providerName": "t", "oidcToken": identity}]});
        let parameters = json!({"subOrganizationName": "new", "rootUsers": [user], "rootQuorumThreshold": 1});
        let created = fixture.execute("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8", &parameters);
        (fixture.clone(), created["result"]["createSubOrganizationResultV8"]["subOrganizationId"].clone())
    };
    let parent = child(70, "second").0.id;
    let token =
        |audiences: &[&str]| Token::new("mira", &public_key(KEY)).claim("aud", json!(audiences)).sign();
    let (one, second) = child(71, "third");
    for audiences in [&["first", "third"][..], &["third", "first"]] {
        let answer = log_in(&mut one.clone(), parent, BY_IDENTITY, &token(audiences)).expect("a session");
        assert_eq!(answer["activity"]["organizationId"], second, "{audiences:?}");
    }
    let error = log_in(&mut one.clone(), parent, BY_IDENTITY, &token(&["third", "second"]));
    let error = error.expect_err("two sub-organizations");
    assert_eq!(error.turnkey_error_code.as_deref(), Some("CREDENTIAL_CONFLICT"), "{}", error.message);
    let error = log_in(&mut one.clone(), parent, BY_IDENTITY, &token(&["first", "fourth"]));
    assert_eq!(error.expect_err("nobody").code, Code::Unauthenticated);
}

#[test]
fn invalid_attestations_are_rejected() {
    let mut fixture = Fixture::new(1);
    verified(&mut fixture);
    let (parent, child, sibling) = (fixture.id, fixture.child.home, fixture.sibling.home);
    let valid = verification_token(&fixture);
    let mut check = |name: &str, organization, scheme, token: &str, expected: &str| {
        let error = log_in(&mut fixture, organization, scheme, token).expect_err(name);
        assert_eq!(error.message.split(" organizationId").next(), Some(expected), "{name}");
    };
    let memory = crate::memory::Memory::default();
    let invalid = "invalid verification token";
    let nobody = "no user found for attested identity";
    let end = |millis: u64| TokenEnd::Millis(millis.to_string());
    for (name, claims, expected) in [
        ("other key", Claims { key: Some(public_key(33)), ..valid.clone() }, invalid),
        ("no key", Claims { key: None, ..valid.clone() }, invalid),
        ("ended", Claims { exp: end(NOW), ..valid.clone() }, invalid),
        ("first version", Claims { exp: TokenEnd::Seconds(NOW / 1000 + 600), ..valid.clone() }, invalid),
        ("issued elsewhere", Claims { organization: sibling, ..valid.clone() }, invalid),
        ("issued by the sub-organization", Claims { organization: child, ..valid.clone() }, invalid),
        ("contact of nobody", Claims { contact: "nobody@house.example", ..valid.clone() }, nobody),
        // A root user of the parent has this contact, but did not prove it.
        ("contact that was not proven", Claims { contact: "root0@house.example", ..valid.clone() }, nobody),
    ] {
        check(name, parent, BY_TOKEN, &claims.sign(&memory), expected);
    }
    check("sibling", sibling, BY_TOKEN, &valid.clone().sign(&memory), nobody);
    check("other scheme", parent, BY_IDENTITY, &valid.clone().sign(&memory), "invalid OIDC token");
    check("no token", parent, BY_TOKEN, "", invalid);
    let identity = |subject: &str| Token::new(subject, &public_key(KEY));
    check("unknown identity", parent, BY_IDENTITY, &identity("nobody").sign(), nobody);
    check(
        "other nonce",
        parent,
        BY_IDENTITY,
        &Token::new("user", &public_key(33)).sign(),
        "invalid OIDC token",
    );
    check(
        "other signature",
        parent,
        BY_IDENTITY,
        &Token { key: 61, ..identity("user") }.sign(),
        "invalid OIDC token",
    );
    let slash = identity("user").claim("iss", json!(format!("{ISSUER}/")));
    check("other issuer", parent, BY_IDENTITY, &slash.sign(), nobody);
}

#[test]
fn a_stamp_must_sign_the_body_with_the_attested_key() {
    let mut fixture = Fixture::new(1);
    let token = Token::new("user", &public_key(KEY)).sign();
    let body = fixture.body(fixture.id, LOGIN, &json!({"publicKey": public_key(KEY)}), NOW);
    let mut send = |stamps: Credentials| fixture.memory.submit("stamp_login", &stamps, &body, NOW);
    let error = send(stamps(BY_IDENTITY, &token, KEY, b"another body")).expect_err("another body");
    assert_eq!(error.turnkey_error_code.as_deref(), Some("SIGNATURE_INVALID"));
    let error = send(stamps(BY_IDENTITY, &token, 33, &body)).expect_err("another key");
    assert_eq!(error.turnkey_error_code.as_deref(), Some("INVALID_OIDC_TOKEN"));
    send(stamps(BY_IDENTITY, &token, KEY, &body)).expect("the attested key");
}

#[test]
fn attested_stamps_only_open_sessions() {
    let mut fixture = Fixture::new(1);
    let token = Token::new("user", &public_key(KEY)).sign();
    let body = json!({"organizationId": fixture.id}).to_string().into_bytes();
    let by_identity = |body: &[u8]| stamps(BY_IDENTITY, &token, KEY, body);
    let whoami = fixture.memory.query("whoami", &by_identity(&body), &body, NOW).expect("a user");
    assert_eq!(whoami["userId"], json!(fixture.user.user));
    let error = fixture.memory.query("list_users", &by_identity(&body), &body, NOW).expect_err("only whoami");
    assert_eq!(error.code, Code::Unauthenticated);
    let reject = json!({"fingerprint": fixture.waiting});
    for (activity_type, operation, parameters) in [
        ("ACTIVITY_TYPE_CREATE_USER_TAG", "create_user_tag", json!({"userTagName": "x", "userIds": []})),
        ("ACTIVITY_TYPE_REJECT_ACTIVITY", "reject_activity", reject),
        ("ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION", "create_read_only_session", json!({})),
    ] {
        let body = fixture.body(fixture.id, activity_type, &parameters, NOW);
        let error =
            fixture.memory.submit(operation, &by_identity(&body), &body, NOW).expect_err(activity_type);
        assert_eq!(error.code, Code::Unauthenticated, "{activity_type}: {}", error.message);
    }
}

#[test]
fn a_feature_that_is_off_keeps_its_tokens_from_logging_in() {
    let mut fixture = Fixture::new(1);
    verified(&mut fixture);
    let child = fixture.child.clone();
    let off = json!({"name": "FEATURE_NAME_OTP_EMAIL_AUTH"});
    fixture
        .submit(&child, child.home, "ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE", &off, NOW)
        .expect("it is removed");
    let token = verification_token(&fixture).sign(&fixture.memory);
    let parent = fixture.id;
    let error = log_in(&mut fixture, parent, BY_TOKEN, &token).expect_err("the feature is off");
    assert_eq!(error.message, "FEATURE_NAME_OTP_EMAIL_AUTH is not enabled in this organization");
}

#[test]
fn an_attested_login_does_not_wait_for_further_methods() {
    let mut fixture = Fixture::new(1);
    let user = fixture.user.user;
    let steps = json!([{"any": [{"type": "AUTHENTICATION_TYPE_API_KEY"}]}]);
    let policy = json!({"userId": user, "mfaPolicyName": "all", "condition": "true",
        "requiredAuthenticationMethods": steps, "order": 0});
    fixture.execute("ACTIVITY_TYPE_CREATE_MFA_POLICY", &policy);
    let token = Token::new("user", &public_key(KEY)).sign();
    let parent = fixture.id;
    let error = log_in(&mut fixture, parent, BY_IDENTITY, &token).expect_err("it would wait");
    assert_eq!(error.code, Code::PermissionDenied);
}
