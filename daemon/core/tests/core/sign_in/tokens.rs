//! Verification tokens: which of them are accepted, how often, and with which signature of the client.

use quorate_common::api_error::{ApiError, Code};
use serde_json::json;

use super::*;

pub(super) const TOKEN: &str = "invalid verification token";
pub(crate) const UNSIGNED: &str =
    "invalid client signature: `clientSignature` is required, because the token is bound to a key";
pub(super) const SCHEME: &str = "`scheme` must be CLIENT_SIGNATURE_SCHEME_API_P256";
pub(super) const SIGNER: &str = "`publicKey` is not the key of the verification token";
pub(super) const FORM: &str = "`signature` must be r and s, 32 bytes each, in hexadecimal";
pub(super) const UNVERIFIED: &str =
    "`signature` does not verify over the bytes of `message` with the key of the verification token";
pub(super) const OTHER_TOKEN: &str = "`tokenId` of `message` is not the claim `id` of the verification token";
const OTHER_KEY: &str = "`login.publicKey` of `message` is not `publicKey` of the request";
const STATEMENT: &str = "`message` must have the members `login.publicKey`, `tokenId` and `type` (USAGE_TYPE_LOGIN), and no other";

/// Asserts that an answer names this reason why the client signature is invalid.
pub(super) fn is_unsigned<T: std::fmt::Debug>(what: &str, answer: Result<T, ApiError>, reason: &str) {
    let error = answer.expect_err(what);
    let message = format!("invalid client signature: {reason}");
    assert_eq!((error.code, error.message), (Code::InvalidArgument, message), "{what}");
}

/// Creates a sub-organization whose root user has this email address.
pub(super) fn child_with(fixture: &mut Fixture, email: &str, number: u32) -> OrganizationId {
    let users = json!([{"userName": "root", "userEmail": email, "apiKeys": [{"apiKeyName": "key",
        "publicKey": public_key(number), "curveType": "API_KEY_CURVE_P256"}]}]);
    let child = json!({"subOrganizationName": "third", "rootUsers": users, "rootQuorumThreshold": 1});
    let created = fixture.execute("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7", &child);
    let created = &created["result"]["createSubOrganizationResultV7"]["subOrganizationId"];
    created.as_str().expect("an id").parse().expect("an id")
}

/// Returns a token that the fixture's organization issued.
pub(super) fn token(fixture: &Fixture, change: impl FnOnce(&mut Claims)) -> String {
    let mut claims = Claims { id: 9, organization: fixture.id, ..Claims::default() };
    change(&mut claims);
    claims.sign(&fixture.memory)
}

#[test]
fn tokens_expire() {
    let mut fixture = Fixture::new(1);
    let id = fixture.id;
    let millis = |exp: u64| TokenEnd::Millis(exp.to_string());
    for (exp, is_valid) in [
        (millis(NOW), false),
        (millis(NOW + 1), true),
        (millis(0), false),
        (TokenEnd::Millis("soon".to_owned()), false),
    ] {
        let token = token(&fixture, |claims| claims.exp = exp.clone());
        assert_eq!(log_in(&mut fixture.clone(), id, &token, 30, NOW).is_ok(), is_valid, "{exp:?}");
    }
    for (seconds, is_valid) in [(NOW / 1000, false), (NOW / 1000 + 1, true)] {
        let token = token(&fixture, |claims| (claims.key, claims.exp) = (None, TokenEnd::Seconds(seconds)));
        assert_eq!(log_in(&mut fixture.clone(), id, &token, 30, NOW).is_ok(), is_valid, "{seconds}");
    }
    let code = init(&mut fixture, "INIT_OTP", EMAIL, &json!({}), NOW).expect("a code is sent");
    let parameters = json!({"otpId": code.id, "otpCode": code.code, "expirationSeconds": "60"});
    let token = token_of(&run(&mut fixture, "VERIFY_OTP", &parameters, NOW).expect("the code is right"));
    refused(log_in(&mut fixture, id, &token, 30, NOW + 60_000), TOKEN);
    log_in(&mut fixture, id, &token, 30, NOW + 59_999).expect("the last moment");
}

/// A store that was restored does not know which tokens were used since its backup.
#[test]
fn tokens_end_with_a_restore() {
    let mut fixture = Fixture::new(1);
    let id = fixture.id;
    let verified = |fixture: &mut Fixture, now: u64| {
        let code = init(fixture, "INIT_OTP", EMAIL, &json!({}), now).expect("a code is sent");
        let parameters = json!({"otpId": code.id, "otpCode": code.code});
        token_of(&run(fixture, "VERIFY_OTP", &parameters, now).expect("the code is right"))
    };
    let before = verified(&mut fixture, NOW);
    log_in(&mut fixture.clone(), id, &before, 30, NOW).expect("a session");
    fixture.memory.restored = NOW + 1;
    // Whatever was stamped before is refused, and so is what may have been stamped ahead of time.
    let restored = "request is too old: it must be stamped more than five minutes after this restored store was released";
    refused(log_in(&mut fixture.clone(), id, &before, 30, NOW + 300_000), restored);
    let now = NOW + 300_001;
    refused(log_in(&mut fixture.clone(), id, &before, 30, now), TOKEN);
    let after = verified(&mut fixture, now);
    log_in(&mut fixture, id, &after, 30, now).expect("a session");
}

#[test]
fn a_token_opens_one_session() {
    let mut fixture = Fixture::new(1);
    let (id, child) = (fixture.id, fixture.child.home);
    let other = child_with(&mut fixture, EMAIL, 60);
    for token in fixture.sign_in.tokens.clone() {
        let mut fixture = fixture.clone();
        log_in(&mut fixture, child, &token, 30, NOW).expect("a session");
        let rows = |fixture: &Fixture| fixture.memory.rows(b'k').count();
        let before = rows(&fixture);
        for organization in [child, other, id] {
            let error = log_in(&mut fixture, organization, &token, 31, NOW).expect_err("it was used");
            let message = "verification token has already been used";
            assert_eq!((error.code, error.message.as_str()), (Code::AlreadyExists, message));
        }
        assert_eq!(rows(&fixture), before);
    }
}

#[test]
fn tokens_of_other_organizations_are_refused() {
    let mut fixture = Fixture::new(1);
    let (id, child, bare) = (fixture.id, fixture.child.home, fixture.bare.home);
    let of = |fixture: &Fixture, organization| token(fixture, |claims| claims.organization = organization);
    for (issuer, used_in) in [(bare, id), (bare, child), (child, id), (fixture.sibling.home, child)] {
        let token = of(&fixture, issuer);
        refused(log_in(&mut fixture, used_in, &token, 30, NOW), TOKEN);
    }
    let token = of(&fixture, child);
    log_in(&mut fixture, child, &token, 30, NOW).expect("its own token");
}

#[test]
fn altered_tokens_are_refused() {
    let mut fixture = Fixture::new(1);
    let id = fixture.id;
    let token = fixture.sign_in.tokens[0].clone();
    let refused = |fixture: &mut Fixture, token: String| {
        let parameters = json!({"verificationToken": token, "publicKey": public_key(30)});
        refused(run(fixture, "OTP_LOGIN", &parameters, NOW), TOKEN);
    };
    let [header, payload, signature] = token.split('.').collect::<Vec<_>>()[..] else {
        panic!("three parts")
    };
    let other = fixture.sign_in.tokens[1].clone();
    let [_, other_payload, other_signature] = other.split('.').collect::<Vec<_>>()[..] else {
        panic!("three parts")
    };
    let flipped = |text: &str| {
        let start = &text[..4];
        format!("{start}{}{}", if &text[4..5] == "A" { "B" } else { "A" }, &text[5..])
    };
    for altered in [
        format!("{header}.{payload}.{}", flipped(signature)),
        format!("{header}.{}.{signature}", flipped(payload)),
        format!("{header}.{payload}.{other_signature}"),
        format!("{header}.{other_payload}.{signature}"),
        format!("{header}.{payload}."),
        format!("{header}.{payload}"),
        format!("{token}."),
        String::new(),
    ] {
        refused(&mut fixture, altered);
    }
    // A session token has another form, although the same key signs it.
    let root = fixture.roots[0].clone();
    let login = json!({"publicKey": public_key(31)});
    let session = submit(&mut fixture, &root, id, "STAMP_LOGIN", &login, NOW).expect("a session");
    let session = session["result"]["stampLoginResult"]["session"].as_str().expect("a token").to_owned();
    refused(&mut fixture, session);
    log_in(&mut fixture, id, &token, 30, NOW).expect("the token itself is valid");
}

/// Returns a signature in DER, as stamps contain it.
fn der(raw: &Value) -> String {
    let (r, s) = raw.as_str().expect("a text").split_at(64);
    format!("30440220{r}0220{s}")
}

#[test]
fn client_signatures_state_the_token_the_key_and_the_use() {
    let mut fixture = Fixture::new(1);
    let [plain, bound] = fixture.sign_in.tokens.clone();
    let other = token(&fixture, |_| {});
    let statement = |token: &str, login: u32, usage: &str| json!({"login": {"publicKey": public_key(login)}, "tokenId": claims_of(token)["id"], "type": usage});
    let usage = "USAGE_TYPE_LOGIN";
    let right = sign_statement(&statement(&bound, 30, usage), TOKEN_KEY);
    let with = |member: &str, value: Value| {
        let mut changed = right.clone();
        changed[member] = value;
        changed
    };
    let upper = |text: &Value| text.as_str().expect("a text").to_uppercase();
    let mut more = statement(&bound, 30, usage);
    more["more"] = json!(true);
    let stated = statement(&bound, 30, usage).to_string();
    let twice = |member: &str, value: &str| {
        let doubled = format!("\"{member}\":{value},\"{member}\":");
        sign_text(&stated.replacen(&format!("\"{member}\":"), &doubled, 1), TOKEN_KEY)
    };
    let wrong = [
        ("the token twice", twice("tokenId", "\"other\""), STATEMENT),
        ("the key twice", twice("publicKey", &json!(public_key(31)).to_string()), STATEMENT),
        ("the use twice", twice("type", "\"USAGE_TYPE_SIGNUP\""), STATEMENT),
        ("another key of the session", sign_statement(&statement(&bound, 31, usage), TOKEN_KEY), OTHER_KEY),
        ("another token", sign_statement(&statement(&other, 30, usage), TOKEN_KEY), OTHER_TOKEN),
        ("another use", sign_statement(&statement(&bound, 30, "USAGE_TYPE_SIGNUP"), TOKEN_KEY), STATEMENT),
        ("an unknown member", sign_statement(&more, TOKEN_KEY), STATEMENT),
        ("another signer", sign_statement(&statement(&bound, 30, usage), 33), SIGNER),
        ("the key of another signer", with("publicKey", json!(public_key(33))), SIGNER),
        ("another scheme", with("scheme", json!("CLIENT_SIGNATURE_SCHEME_API_ED25519")), SCHEME),
        (
            "another message",
            with("message", json!(statement(&bound, 30, usage).to_string() + " ")),
            UNVERIFIED,
        ),
        ("a signature of zeros", with("signature", json!("00".repeat(64))), UNVERIFIED),
        ("no signature", with("signature", json!("")), FORM),
        ("a signature in DER", with("signature", json!(der(&right["signature"]))), FORM),
    ];
    let login = |token: &str, signature: &Value| json!({"verificationToken": token, "publicKey": public_key(30), "clientSignature": signature});
    for (what, signature, reason) in &wrong {
        for name in ["OTP_LOGIN", "OTP_LOGIN_V2"] {
            is_unsigned(what, run(&mut fixture, name, &login(&bound, signature), NOW), reason);
        }
    }
    let unsigned = json!({"verificationToken": bound, "publicKey": public_key(30)});
    refused(run(&mut fixture, "OTP_LOGIN", &unsigned, NOW), UNSIGNED);
    // Version 2 needs a token of version 2; a bound token may be used in both.
    refused(run(&mut fixture, "OTP_LOGIN_V2", &login(&plain, &right), NOW), TOKEN);
    for name in ["OTP_LOGIN", "OTP_LOGIN_V2"] {
        run(&mut fixture.clone(), name, &login(&bound, &right), NOW).expect("a session");
    }
    let mut case = with("publicKey", json!(upper(&right["publicKey"])));
    case["signature"] = json!(upper(&right["signature"]));
    run(&mut fixture, "OTP_LOGIN_V2", &login(&bound, &case), NOW).expect("hexadecimal digits in upper case");
}

#[test]
fn a_token_of_version_1_can_be_bound_to_a_key() {
    let mut fixture = Fixture::new(1);
    let code = init(&mut fixture, "INIT_OTP", EMAIL, &json!({}), NOW).expect("a code is sent");
    let parameters =
        json!({"otpId": code.id, "otpCode": code.code, "publicKey": public_key(TOKEN_KEY).to_uppercase()});
    let token = token_of(&run(&mut fixture, "VERIFY_OTP", &parameters, NOW).expect("the code is right"));
    assert_eq!(claims_of(&token)["public_key"], json!(public_key(TOKEN_KEY)));
    let mut login = json!({"verificationToken": token, "publicKey": public_key(30)});
    refused(run(&mut fixture, "OTP_LOGIN", &login, NOW), UNSIGNED);
    login["clientSignature"] = client_signature(&token, TOKEN_KEY, &public_key(30));
    refused(run(&mut fixture, "OTP_LOGIN_V2", &login, NOW), TOKEN);
    run(&mut fixture, "OTP_LOGIN", &login, NOW).expect("a session");
}

#[test]
fn a_token_proves_the_contact_of_its_user_only_while_they_have_it() {
    let mut fixture = Fixture::new(1);
    let (id, user) = (fixture.id, fixture.roots[1].user);
    let token = fixture.sign_in.tokens[0].clone();
    let changed = json!({"userId": user, "userEmail": "new@house.example"});
    fixture.execute("ACTIVITY_TYPE_UPDATE_USER_EMAIL", &changed);
    refused(log_in(&mut fixture, id, &token, 30, NOW), "no user found with this email");
}
