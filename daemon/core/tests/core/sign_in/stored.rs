//! What is stored of codes, tokens and bundles: nothing that could be used.

use quorate_common::api_error::Code;
use serde_json::json;

use super::*;
use crate::changes::query_as_root;

/// Asserts that neither a row of the store nor an answer about activities contains a text. Messages that are still
/// queued contain it.
fn assert_absent(fixture: &Fixture, secret: &str) {
    for (key, row) in fixture.memory.all_rows() {
        let is_message = key[0] == b'y' || (key[0] == outbox::LETTER && Sms::decode(&row).is_ok());
        let contains = row.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(is_message || !contains, "{secret} is stored under {}", key.escape_ascii());
    }
    let listed = query_as_root(fixture, "list_activities", &json!({"paginationOptions": {"limit": "100"}}));
    assert!(!listed.to_string().contains(secret), "{secret} is shown");
    for activity in listed["activities"].as_array().expect("a list") {
        let shown = query_as_root(fixture, "get_activity", &json!({"activityId": activity["id"]}));
        assert!(!shown.to_string().contains(secret), "{secret} is shown");
    }
}

#[test]
fn codes_tokens_and_bundles_are_not_stored() {
    let mut fixture = Fixture::new(1);
    let id = fixture.id;
    let mut secrets = Vec::new();
    let plain = init(&mut fixture, "INIT_OTP", EMAIL, &json!({}), NOW).expect("a code is sent");
    secrets.extend([plain.code.clone(), plain.altered()]);
    verify(&mut fixture, &plain.id, &plain.altered(), NOW).expect_err("the code is wrong");
    let token = verify(&mut fixture, &plain.id, &plain.code, NOW).expect("the code is right");
    log_in(&mut fixture, id, &token, 30, NOW).expect("a session");
    log_in(&mut fixture, id, &token, 31, NOW).expect_err("the token was used");
    secrets.push(token);
    let encrypted = init(&mut fixture, "INIT_OTP_V3", EMAIL, &json!({}), NOW).expect("a code is sent");
    let token = verify_encrypted(&mut fixture, &encrypted, NOW).expect("the code is right");
    log_in(&mut fixture, id, &token, 32, NOW).expect("a session");
    let ciphertext: Value = serde_json::from_str(&encrypted.encrypted(TOKEN_KEY)).expect("JSON");
    secrets.extend([encrypted.code, token, ciphertext["ciphertext"].as_str().expect("a text").to_owned()]);
    let auth = init(&mut fixture, "INIT_OTP_AUTH", EMAIL, &json!({}), NOW).expect("a code is sent");
    let parameters =
        json!({"otpId": auth.id, "otpCode": auth.code, "targetPublicKey": target().public().hex()});
    run(&mut fixture, "OTP_AUTH", &parameters, NOW).expect("the code is right");
    secrets.push(auth.code);
    let parameters = json!({"email": EMAIL, "targetPublicKey": target().public().hex(),
        "emailCustomization": {"appName": "House"}});
    for name in ["EMAIL_AUTH_V3", "INIT_USER_EMAIL_RECOVERY_V2"] {
        let sent = run(&mut fixture, name, &parameters, NOW).expect("a mail is sent");
        let text = message(&fixture.memory, &sent);
        let bundle = text.lines().find_map(|line| line.strip_prefix("    ")).expect("a bundle");
        secrets.push(bundle.to_owned());
    }
    let sms = init(&mut fixture, "INIT_OTP_V2", "+12025550123", &json!({}), NOW).expect("a code is sent");
    secrets.push(sms.code);
    // A request that the rules refuse is stored nowhere either.
    let refused = json!({"verificationToken": "canary.canary.canary", "publicKey": public_key(33)});
    run(&mut fixture, "OTP_LOGIN", &refused, NOW).expect_err("not a token");
    secrets.push("canary.canary".to_owned());
    for secret in secrets {
        assert!(secret.len() >= 9, "{secret}");
        assert_absent(&fixture, &secret);
    }
}

#[test]
fn a_token_is_shown_once() {
    let mut fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    let code = init(&mut fixture, "INIT_OTP_V3", EMAIL, &json!({}), NOW).expect("a code is sent");
    let plain = init(&mut fixture, "INIT_OTP", EMAIL, &json!({}), NOW).expect("a code is sent");
    for (name, parameters) in [
        ("VERIFY_OTP_V2", json!({"otpId": code.id, "encryptedOtpBundle": code.encrypted(TOKEN_KEY)})),
        ("VERIFY_OTP", json!({"otpId": plain.id, "otpCode": plain.code})),
    ] {
        let body = fixture.body(fixture.id, &format!("ACTIVITY_TYPE_{name}"), &parameters, NOW);
        let first = fixture.send(&root, "verify_otp", &body, NOW).expect("the code is right");
        let again = fixture.send(&root, "verify_otp", &body, NOW).expect("the same activity");
        assert_eq!(token_of(&first["activity"]).matches('.').count(), 2);
        assert_eq!(token_of(&again["activity"]), "");
        assert_eq!(first["activity"]["id"], again["activity"]["id"]);
        let shown = query_as_root(&fixture, "get_activity", &json!({"activityId": first["activity"]["id"]}));
        assert_eq!(token_of(&shown["activity"]), "");
        let [intent] =
            &shown["activity"]["intent"].as_object().expect("an object").values().collect::<Vec<_>>()[..]
        else {
            panic!("one intent")
        };
        assert!(intent["otpCode"].as_str().or(intent["encryptedOtpBundle"].as_str()) == Some(""), "{intent}");
    }
}

#[test]
fn a_request_with_a_secret_does_not_wait() {
    let mut fixture = Fixture::new(2);
    let root = fixture.roots[0].clone();
    let prepared = fixture.sign_in.clone();
    let id = fixture.id;
    let target = target().public().hex();
    for (name, parameters, secret) in [
        ("VERIFY_OTP", json!({"otpId": prepared.plain[0], "otpCode": prepared.plain[1]}), &prepared.plain[1]),
        (
            "VERIFY_OTP_V2",
            json!({"otpId": prepared.encrypted[0], "encryptedOtpBundle": prepared.encrypted[1]}),
            &prepared.encrypted[1],
        ),
        (
            "OTP_AUTH",
            json!({"otpId": prepared.auth[0], "otpCode": prepared.auth[1], "targetPublicKey": target}),
            &prepared.auth[1],
        ),
    ] {
        let kept: Vec<_> = fixture.memory.rows(b'k').map(|(key, _)| key.to_vec()).collect();
        let version = fixture.memory.stored(id).head.version;
        let error = run(&mut fixture, name, &parameters, NOW).expect_err("one of two approvals");
        let message = "this activity contains a secret and cannot wait for approvals; a policy must allow it without them";
        assert_eq!((error.code, error.message.as_str()), (Code::PermissionDenied, message));
        let now: Vec<_> = fixture.memory.rows(b'k').map(|(key, _)| key.to_vec()).collect();
        assert_eq!(
            (now, fixture.memory.stored(id).head.version),
            (kept, version),
            "{name}: no attempt is counted"
        );
        assert_absent(&fixture, secret);
    }
    // Logins of the second root user need the approvals of both, but a policy allows one.
    let login = json!({"verificationToken": prepared.tokens[0], "publicKey": public_key(30)});
    run(&mut fixture, "OTP_LOGIN", &login, NOW).expect_err("one of two approvals");
    assert_absent(&fixture, &prepared.tokens[0]);
    let policy = json!({"policyName": "codes", "effect": "EFFECT_ALLOW", "notes": "",
        "condition": "activity.resource == 'OTP' || activity.resource == 'AUTH'",
        "consensus": format!("approvers.any(user, user.id == '{}')", root.user)});
    fixture.execute("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy);
    verify(&mut fixture, &prepared.plain[0], &prepared.plain[1], NOW).expect("the code is still valid");
    run(&mut fixture, "OTP_LOGIN", &login, NOW).expect("the token is still valid");
}
