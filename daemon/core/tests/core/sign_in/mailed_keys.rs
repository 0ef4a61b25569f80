//! Keys that the service makes: for a code, by mail, and for recovery.

use quorate_common::api_error::Code;
use quorate_common::bounded::Email;
use quorate_core::message_end;
use serde_json::json;

use super::*;
use crate::passkey::Passkey;
use crate::samples;

/// Returns the credential bundle in the mail that an activity queued.
fn mailed_bundle(memory: &Memory, activity: &Value) -> String {
    let text = mail(memory, activity).expect("a mail is queued").text.clone();
    let bundle = text.lines().find_map(|line| line.strip_prefix("    "));
    bundle.expect("the mail contains a bundle").to_owned()
}

/// Returns the parameters of a mailed key.
pub(crate) fn mailed(more: &Value) -> Value {
    let mut parameters = json!({"email": EMAIL, "targetPublicKey": target().public().hex(),
        "emailCustomization": {"appName": "House"}});
    for (name, value) in more.as_object().expect("an object") {
        parameters[name] = value.clone();
    }
    parameters
}

/// Mails a recovery key to a contact in the name of a root user, and returns its secret.
pub(crate) fn recovery_key(fixture: &mut Fixture, by: &Person, email: &str) -> [u8; 32] {
    let id = fixture.id;
    let parameters = mailed(&json!({"email": email}));
    let sent = submit(fixture, by, id, "INIT_USER_EMAIL_RECOVERY", &parameters, NOW).expect("a mail is sent");
    mailed_secret(fixture, &sent)
}

/// Returns the secret of the key that an activity mailed.
pub(crate) fn mailed_secret(fixture: &Fixture, activity: &Value) -> [u8; 32] {
    match with_bundle(&fixture.roots[0], &mailed_bundle(&fixture.memory, activity)).auth {
        AuthMethod::Mailed(secret) => secret,
        other => panic!("{other:?}"),
    }
}

/// Returns the type of a user's newest key, and its lifetime.
fn newest_key(fixture: &Fixture, user: &Person) -> (String, String) {
    let body = json!({"organizationId": user.home, "userId": user.user}).to_string().into_bytes();
    let keys = fixture.memory.query("get_api_keys", &user.stamps(&body), &body, NOW).expect("keys");
    let key = keys["apiKeys"].as_array().expect("a list").last().expect("a key").clone();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    (text(&key["credential"]["type"]), text(&key["expirationSeconds"]))
}

#[test]
fn a_code_opens_a_session_with_a_key_of_the_service() {
    let mut fixture = Fixture::new(1);
    let (id, user) = (fixture.id, fixture.roots[1].clone());
    for name in ["INIT_OTP_AUTH", "INIT_OTP_AUTH_V2", "INIT_OTP_AUTH_V3"] {
        let mut fixture = fixture.clone();
        let code = init(&mut fixture, name, EMAIL, &json!({}), NOW).expect("a code is sent");
        let mut auth =
            json!({"otpId": code.id, "otpCode": code.altered(), "targetPublicKey": target().public().hex()});
        refused(run(&mut fixture, "OTP_AUTH", &auth, NOW), "Invalid OTP code");
        refused(verify(&mut fixture, &code.id, &code.code, NOW), "Invalid OTP code");
        auth["otpCode"] = json!(code.code);
        let done = run(&mut fixture, "OTP_AUTH", &auth, NOW).expect("the code is right");
        let result = &done["result"]["otpAuthResult"];
        assert_eq!(result["userId"], json!(user.user));
        let session = with_bundle(&user, result["credentialBundle"].as_str().expect("a bundle"));
        assert_eq!(whoami(&fixture, &session, id, NOW), Ok(json!(user.user)));
        whoami(&fixture, &session, id, NOW + 900_000).expect_err("the session has ended");
        assert_eq!(
            newest_key(&fixture, &user),
            ("CREDENTIAL_TYPE_OTP_AUTH_KEY_P256".to_owned(), "900".to_owned())
        );
        assert!(fixture.memory.stored(id).user(user.user).expect("a user").email_verified);
        refused(run(&mut fixture, "OTP_AUTH", &auth, NOW), "Invalid OTP code");
    }
    // The code proves the contact that it was sent to.
    let code = init(&mut fixture, "INIT_OTP_AUTH", EMAIL, &json!({}), NOW).expect("a code is sent");
    let changed = json!({"userId": user.user, "userEmail": "new@house.example"});
    fixture.execute("ACTIVITY_TYPE_UPDATE_USER_EMAIL", &changed);
    let auth = json!({"otpId": code.id, "otpCode": code.code, "targetPublicKey": target().public().hex()});
    refused(run(&mut fixture, "OTP_AUTH", &auth, NOW), "Invalid OTP code");
}

#[test]
fn the_parent_opens_sessions_by_code_and_by_mail() {
    let mut fixture = Fixture::new(1);
    let (root, user, child) = (fixture.roots[0].clone(), fixture.user.clone(), fixture.child.clone());
    let code = json!({"otpType": "OTP_TYPE_EMAIL", "contact": EMAIL});
    submit(&mut fixture, &user, child.home, "INIT_OTP_AUTH", &code, NOW).expect_err("no policy allows it");
    let sent = submit(&mut fixture, &root, child.home, "INIT_OTP_AUTH", &code, NOW).expect("a code is sent");
    let code = super::SentCode::of(&fixture.memory, &sent);
    let auth = json!({"otpId": code.id, "otpCode": code.code, "targetPublicKey": target().public().hex()});
    refused(run(&mut fixture, "OTP_AUTH", &auth, NOW), "Invalid OTP code");
    let done = submit(&mut fixture, &root, child.home, "OTP_AUTH", &auth, NOW).expect("the code is right");
    let bundle = done["result"]["otpAuthResult"]["credentialBundle"].as_str().expect("a bundle");
    assert_eq!(whoami(&fixture, &with_bundle(&child, bundle), child.home, NOW), Ok(json!(child.user)));
    let sent = submit(&mut fixture, &root, child.home, "EMAIL_AUTH_V3", &mailed(&json!({})), NOW);
    let bundle = mailed_bundle(&fixture.memory, &sent.expect("a mail is sent"));
    assert_eq!(whoami(&fixture, &with_bundle(&child, &bundle), child.home, NOW), Ok(json!(child.user)));
}

#[test]
fn a_mailed_key_opens_a_session() {
    let mut fixture = Fixture::new(1);
    let (id, user) = (fixture.id, fixture.roots[1].clone());
    let mut sessions = Vec::new();
    for name in ["EMAIL_AUTH", "EMAIL_AUTH_V2", "EMAIL_AUTH_V3"] {
        let sent = run(&mut fixture, name, &mailed(&json!({})), NOW).expect("a mail is sent");
        let result = sent["result"]["emailAuthResult"].as_object().expect("a result");
        assert_eq!(result.keys().collect::<Vec<_>>(), ["apiKeyId", "userId"]);
        let queued = mail(&fixture.memory, &sent).expect("a mail is queued");
        assert_eq!((queued.to.as_str(), queued.subject.as_str()), (EMAIL, "Sign in to House"));
        let session = with_bundle(&user, &mailed_bundle(&fixture.memory, &sent));
        assert_eq!(whoami(&fixture, &session, id, NOW), Ok(json!(user.user)));
        assert_eq!(
            newest_key(&fixture, &user),
            ("CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256".to_owned(), "900".to_owned())
        );
        sessions.push(session);
    }
    let link = json!({"appName": "House", "magicLinkTemplate": "https://house.example/in?token=%s"});
    let more = json!({"emailCustomization": link, "invalidateExisting": true, "expirationSeconds": "60"});
    // Three mails were sent within three minutes.
    let later = NOW + 180_000;
    let sent = run(&mut fixture, "EMAIL_AUTH_V3", &mailed(&more), later).expect("a mail is sent");
    let link = mailed_bundle(&fixture.memory, &sent);
    let session = with_bundle(&user, link.strip_prefix("https://house.example/in?token=").expect("the link"));
    whoami(&fixture, &session, id, later + 59_999).expect("a session");
    whoami(&fixture, &session, id, later + 60_000).expect_err("the session has ended");
    for earlier in sessions {
        whoami(&fixture, &earlier, id, later).expect_err("the earlier sessions ended");
    }
    // The receipt of the mail proves nothing before the key stamps.
    assert!(!fixture.memory.stored(id).user(user.user).expect("a user").email_verified);
}

#[test]
fn mailed_keys_need_their_features() {
    let mut fixture = Fixture::new(1);
    let off = |name: &str| format!("{name} is not enabled in this organization");
    let (auth, recovery) = ("FEATURE_NAME_EMAIL_AUTH", "FEATURE_NAME_EMAIL_RECOVERY");
    for feature in [auth, recovery] {
        fixture.execute("ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE", &json!({"name": feature}));
    }
    let user = json!({"userId": fixture.user.user, "userEmail": "user@house.example"});
    fixture.execute("ACTIVITY_TYPE_UPDATE_USER_EMAIL", &user);
    let of_user = mailed(&json!({"email": "user@house.example"}));
    refused(run(&mut fixture, "EMAIL_AUTH", &mailed(&json!({})), NOW), &off(auth));
    for parameters in [mailed(&json!({})), of_user.clone(), mailed(&json!({"email": "nobody@house.example"}))]
    {
        refused(run(&mut fixture, "INIT_USER_EMAIL_RECOVERY", &parameters, NOW), &off(recovery));
    }
    // The older feature is for root users.
    let older = json!({"name": "FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY", "value": ""});
    fixture.execute("ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", &older);
    refused(run(&mut fixture, "INIT_USER_EMAIL_RECOVERY", &of_user, NOW), &off(recovery));
    run(&mut fixture, "INIT_USER_EMAIL_RECOVERY", &mailed(&json!({})), NOW).expect("a root user");
    fixture.memory.sends_mail = false;
    let error = run(&mut fixture, "INIT_USER_EMAIL_RECOVERY", &mailed(&json!({})), NOW).expect_err("no mail");
    assert_eq!(error.turnkey_error_code.as_deref(), Some("EMAIL_SENDING_DISABLED"), "{error:?}");
}

/// Mails a recovery key to a root user, and returns the person with that key.
fn recovering(fixture: &mut Fixture, name: &str) -> Person {
    let sent = run(fixture, name, &mailed(&json!({})), NOW).expect("a mail is sent");
    let result = sent["result"]["initUserEmailRecoveryResult"].as_object().expect("a result");
    assert_eq!(result.keys().collect::<Vec<_>>(), ["userId"]);
    with_bundle(&fixture.roots[1], &mailed_bundle(&fixture.memory, &sent))
}

#[test]
fn a_recovery_key_registers_one_authenticator() {
    let mut fixture = Fixture::new(1);
    let (id, user) = (fixture.id, fixture.roots[1].clone());
    let first = recovering(&mut fixture, "INIT_USER_EMAIL_RECOVERY");
    let second = recovering(&mut fixture, "INIT_USER_EMAIL_RECOVERY_V2");
    assert_eq!(
        newest_key(&fixture, &user),
        ("CREDENTIAL_TYPE_RECOVER_USER_KEY_P256".to_owned(), "900".to_owned())
    );
    let recover = json!({"userId": user.user, "authenticator": samples::authenticator("recovered")});
    let of_other = json!({"userId": fixture.user.user, "authenticator": samples::authenticator("recovered")});
    submit(&mut fixture, &first, id, "RECOVER_USER", &of_other, NOW).expect_err("another user");
    submit(&mut fixture.clone(), &first, id, "RECOVER_USER", &recover, NOW + 900_000).expect_err("expired");
    let done = submit(&mut fixture, &first, id, "RECOVER_USER", &recover, NOW).expect("an authenticator");
    assert_eq!(done["result"]["recoverUserResult"]["authenticatorId"].as_array().map(Vec::len), Some(1));
    let again = json!({"userId": user.user, "authenticator": samples::authenticator("again")});
    for used in [&first, &second] {
        whoami(&fixture, used, id, NOW).expect_err("the recovery keys are removed");
        submit(&mut fixture, used, id, "RECOVER_USER", &again, NOW)
            .expect_err("the recovery keys are removed");
    }
    let stored = fixture.memory.stored(id);
    let stored = stored.user(user.user).expect("a user");
    assert_eq!(stored.authenticators.len(), 1);
    assert_eq!(stored.api_keys.len(), user.keys.len(), "the other keys remain");
    let passkey = Person { auth: AuthMethod::Passkey("recovered"), ..user.clone() };
    assert_eq!(
        whoami(&fixture, &passkey, id, NOW),
        Ok(json!(user.user)),
        "{}",
        Passkey::of("recovered").id()
    );
}

#[test]
fn a_recovery_key_does_nothing_else() {
    let mut fixture = Fixture::new(2);
    let (id, user) = (fixture.id, fixture.roots[1].clone());
    let parameters = mailed(&json!({}));
    let first = run(&mut fixture, "INIT_USER_EMAIL_RECOVERY", &parameters, NOW).expect("it waits");
    let approve = json!({"fingerprint": first["fingerprint"]});
    let sent = submit(&mut fixture, &user, id, "APPROVE_ACTIVITY", &approve, NOW).expect("approved");
    let key = with_bundle(&user, &mailed_bundle(&fixture.memory, &sent));
    assert_eq!(whoami(&fixture, &key, id, NOW), Ok(json!(user.user)), "it may query");
    let denied = |answer: Result<Value, ApiError>, what: &str| {
        let error = answer.expect_err(what);
        let message = "a recovery key can only register an authenticator, with RECOVER_USER";
        assert_eq!((error.code, error.message.as_str()), (Code::PermissionDenied, message), "{what}");
    };
    let target = target().public().hex();
    for (name, parameters) in [
        ("CREATE_USER_TAG", json!({"userTagName": "t", "userIds": []})),
        ("STAMP_LOGIN", json!({"publicKey": public_key(30)})),
        ("CREATE_READ_ONLY_SESSION", json!({})),
        ("CREATE_READ_WRITE_SESSION_V2", json!({"targetPublicKey": target})),
        (
            "CREATE_AUTHENTICATORS_V2",
            json!({"userId": user.user, "authenticators": [samples::authenticator("new")]}),
        ),
        ("CREATE_API_KEYS_V2", json!({"userId": user.user, "apiKeys": [samples::key_v2(30)]})),
        ("EMAIL_AUTH", parameters.clone()),
        ("INIT_USER_EMAIL_RECOVERY", parameters.clone()),
        ("APPROVE_ACTIVITY", json!({"fingerprint": fixture.waiting})),
        ("REJECT_ACTIVITY", json!({"fingerprint": fixture.waiting})),
    ] {
        denied(submit(&mut fixture, &key, id, name, &parameters, NOW), name);
    }
    // Sending the bytes of a waiting activity is a vote for it.
    let tag = json!({"userTagName": "fresh", "userIds": []});
    let body = fixture.body(id, "ACTIVITY_TYPE_CREATE_USER_TAG", &tag, NOW);
    let root = fixture.roots[0].clone();
    fixture.send(&root, "create_user_tag", &body, NOW).expect("it waits");
    denied(fixture.send(&key, "create_user_tag", &body, NOW), "the bytes of a waiting activity");
}

#[test]
fn other_credentials_do_not_recover() {
    let mut fixture = Fixture::new(1);
    let (id, spare) = (fixture.id, fixture.spare.clone());
    let recover = json!({"userId": spare.user, "authenticator": samples::authenticator("recovered")});
    let key = json!({"publicKey": public_key(30)});
    submit(&mut fixture, &spare, id, "STAMP_LOGIN", &key, NOW).expect("a session");
    let passkey = Person { auth: AuthMethod::Passkey("spare"), ..spare.clone() };
    for person in [spare.clone(), with_key(&spare, 30), passkey] {
        let answer = submit(&mut fixture, &person, id, "RECOVER_USER", &recover, NOW);
        let message = "only a recovery key can stamp RECOVER_USER; CREATE_AUTHENTICATORS registers authenticators with other credentials";
        refused(answer, message);
    }
    assert_eq!(fixture.memory.stored(id).user(spare.user).expect("a user").authenticators.len(), 1);
}

#[test]
fn a_recovery_key_does_not_vote_on_recoveries() {
    let mut fixture = Fixture::new(2);
    let (id, user, other) = (fixture.id, fixture.roots[1].clone(), fixture.roots[0].clone());
    let email = "root0@house.example";
    fixture.execute("ACTIVITY_TYPE_UPDATE_USER_EMAIL", &json!({"userId": other.user, "userEmail": email}));
    let sent = fixture.execute("ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY", &mailed(&json!({"email": email})));
    let recovering = Person { auth: AuthMethod::Mailed(mailed_secret(&fixture, &sent)), ..other.clone() };
    let first = run(&mut fixture, "INIT_USER_EMAIL_RECOVERY", &mailed(&json!({})), NOW).expect("it waits");
    let approve = json!({"fingerprint": first["fingerprint"]});
    let sent = submit(&mut fixture, &user, id, "APPROVE_ACTIVITY", &approve, NOW).expect("approved");
    let key = with_bundle(&user, &mailed_bundle(&fixture.memory, &sent));
    // A policy that denies recoveries makes the root quorum decide on them.
    let deny = json!({"policyName": "no recovery", "effect": "EFFECT_DENY", "condition": "activity.kind == 'RECOVER_USER'",
        "consensus": "true", "notes": ""});
    let policy = run(&mut fixture, "CREATE_POLICY_V3", &deny, NOW).expect("it waits");
    let approve = json!({"fingerprint": policy["fingerprint"]});
    submit(&mut fixture, &user, id, "APPROVE_ACTIVITY", &approve, NOW).expect("approved");
    let recover = json!({"userId": other.user, "authenticator": samples::authenticator("recovered")});
    let body = fixture.body(id, "ACTIVITY_TYPE_RECOVER_USER", &recover, NOW);
    let waits = fixture.send(&recovering, "recover_user", &body, NOW).expect("it waits")["activity"].clone();
    assert_eq!(waits["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    let target = json!({"fingerprint": waits["fingerprint"]});
    for name in ["APPROVE_ACTIVITY", "REJECT_ACTIVITY"] {
        let error = submit(&mut fixture, &key, id, name, &target, NOW).expect_err(name);
        assert_eq!(error.code, Code::PermissionDenied, "{name}");
    }
    let error = fixture.send(&key, "recover_user", &body, NOW).expect_err("the same bytes");
    assert_eq!(error.code, Code::PermissionDenied);
    let query = json!({"organizationId": id, "activityId": waits["id"]}).to_string().into_bytes();
    let seen = fixture.memory.query("get_activity", &key.stamps(&query), &query, NOW).expect("it may query");
    assert_eq!(
        (&seen["activity"]["canApprove"], &seen["activity"]["canReject"]),
        (&json!(false), &json!(false))
    );
    submit(&mut fixture, &user, id, "APPROVE_ACTIVITY", &target, NOW).expect("the registered key votes");
}

#[test]
fn a_recovery_key_ends_with_its_address_and_its_feature_and_within_a_day() {
    for change in ["UPDATE_USER_EMAIL", "UPDATE_USER", "REMOVE_ORGANIZATION_FEATURE", "UPDATE_USER_NAME"] {
        let mut fixture = Fixture::new(1);
        let (id, user) = (fixture.id, fixture.roots[1].clone());
        let long = mailed(&json!({"expirationSeconds": "86401"}));
        let error = run(&mut fixture, "INIT_USER_EMAIL_RECOVERY", &long, NOW).expect_err("more than a day");
        assert_eq!(error.code, Code::InvalidArgument);
        let parameters = mailed(&json!({"expirationSeconds": "86400"}));
        let sent = run(&mut fixture, "INIT_USER_EMAIL_RECOVERY", &parameters, NOW).expect("sent");
        let key = with_bundle(&user, &mailed_bundle(&fixture.memory, &sent));
        let parameters = match change {
            "REMOVE_ORGANIZATION_FEATURE" => json!({"name": "FEATURE_NAME_EMAIL_RECOVERY"}),
            "UPDATE_USER_NAME" => json!({"userId": user.user, "userName": "renamed"}),
            _ => json!({"userId": user.user, "userEmail": "new@house.example", "userTagIds": []}),
        };
        run(&mut fixture, change, &parameters, NOW).expect("changed");
        let recover = json!({"userId": user.user, "authenticator": samples::authenticator("recovered")});
        let recovered = submit(&mut fixture, &key, id, "RECOVER_USER", &recover, NOW);
        assert_eq!(recovered.is_ok(), change == "UPDATE_USER_NAME", "{change}: {recovered:?}");
    }
}

#[test]
fn a_recovery_key_ends_for_good_with_its_feature() {
    let change = |fixture: &mut Fixture, verb: &str, name: &str, now: u64| {
        let feature = json!({"name": format!("FEATURE_NAME_{name}")});
        run(fixture, &format!("{verb}_ORGANIZATION_FEATURE"), &feature, now).expect("changed");
    };
    let (ended, recovery) =
        ("expired recovery key: recovery by mail was disabled since it was sent", "EMAIL_RECOVERY");
    let mut fixture = Fixture::new(1);
    let (id, root, user) = (fixture.id, fixture.roots[0].clone(), fixture.roots[1].clone());
    let sent = run(&mut fixture, "INIT_USER_EMAIL_RECOVERY", &mailed(&json!({})), NOW).expect("sent");
    let key = with_bundle(&user, &mailed_bundle(&fixture.memory, &sent));
    let is_useless = |fixture: &Fixture| {
        let mail = mail(&fixture.memory, &sent).expect("a mail");
        message_end::is_useless(&mail, &fixture.memory, NOW).expect("the store is readable")
    };
    // A feature that is set again while it is on was on all the time.
    change(&mut fixture, "SET", recovery, NOW + 1);
    whoami(&fixture, &key, id, NOW + 1).expect("the feature is on");
    assert!(!is_useless(&fixture));
    change(&mut fixture, "REMOVE", recovery, NOW + 2);
    let recover = json!({"userId": user.user, "authenticator": samples::authenticator("recovered")});
    let refused_everywhere = |fixture: &mut Fixture, now: u64| {
        let error = whoami(fixture, &key, id, now).expect_err("it queries nothing");
        assert_eq!((error.code, error.message.as_str()), (Code::Unauthenticated, ended));
        assert_eq!(error.turnkey_error_code.as_deref(), Some("API_KEY_EXPIRED"));
        let before = fixture.memory.all_rows();
        refused(submit(fixture, &key, id, "RECOVER_USER", &recover, now), ended);
        assert!(fixture.memory.all_rows() == before, "nothing is recorded");
        assert!(is_useless(fixture), "its mail is not sent");
    };
    refused_everywhere(&mut fixture, NOW + 2);
    change(&mut fixture, "SET", recovery, NOW + 3);
    refused_everywhere(&mut fixture, NOW + 3);
    // A new key works, and so does one of a root user while the older feature is on.
    let secret = recovery_key(&mut fixture, &root, EMAIL);
    let stale = Person { auth: AuthMethod::Mailed(secret), ..user.clone() };
    whoami(&fixture, &stale, id, NOW + 3).expect_err("it was made before the feature");
    change(&mut fixture, "SET", "ROOT_USER_EMAIL_RECOVERY", NOW + 4);
    let sent = run(&mut fixture, "INIT_USER_EMAIL_RECOVERY", &mailed(&json!({})), NOW + 5).expect("sent");
    let fresh = with_bundle(&user, &mailed_bundle(&fixture.memory, &sent));
    change(&mut fixture, "REMOVE", recovery, NOW + 6);
    submit(&mut fixture, &fresh, id, "RECOVER_USER", &recover, NOW + 6).expect("the older feature is on");
}

#[test]
fn a_mailed_key_ends_with_its_address() {
    for (name, email) in [
        ("UPDATE_USER_EMAIL", "new@house.example"),
        ("UPDATE_USER", "new@house.example"),
        ("UPDATE_USER_EMAIL", ""),
    ] {
        let mut fixture = Fixture::new(1);
        let (id, user) = (fixture.id, fixture.roots[1].clone());
        let sent = run(&mut fixture, "EMAIL_AUTH", &mailed(&json!({})), NOW).expect("a mail is sent");
        let key = with_bundle(&user, &mailed_bundle(&fixture.memory, &sent));
        whoami(&fixture, &key, id, NOW).expect("a session");
        let queued = mail(&fixture.memory, &sent).expect("a mail");
        let is_useless = |fixture: &Fixture| {
            message_end::is_useless(&queued, &fixture.memory, NOW).expect("the store is readable")
        };
        let mut changed = json!({"userId": user.user, "userName": "renamed", "userTagIds": []});
        run(&mut fixture, "UPDATE_USER", &changed, NOW).expect("renamed");
        assert!(!is_useless(&fixture));
        whoami(&fixture, &key, id, NOW).expect("the address is the same");
        changed["userEmail"] = json!(email);
        run(&mut fixture, name, &changed, NOW).expect("another address");
        assert!(is_useless(&fixture), "{name}");
        whoami(&fixture, &key, id, NOW).expect_err("it proved the receipt at the former address");
        whoami(&fixture, &user, id, NOW).expect("other credentials stay");
    }
}

#[test]
fn a_mailed_key_is_not_sent_to_an_address_that_the_user_has_no_more() {
    let mut fixture = Fixture::new(1);
    let (id, user) = (fixture.id, fixture.roots[1].clone());
    let sent = run(&mut fixture, "EMAIL_AUTH", &mailed(&json!({})), NOW).expect("a mail is sent");
    let queued = mail(&fixture.memory, &sent).expect("a mail");
    // Earlier versions kept the key with another address.
    let mut stored = fixture.memory.stored(id).user(user.user).expect("a user").clone();
    stored.email = Email::parse("new@house.example".to_owned()).ok();
    let key = layout::entity(id, layout::Class::USER, user.user.as_bytes());
    fixture.memory.set_row(&key, Some(stored.encode().expect("it encodes")));
    assert!(message_end::is_useless(&queued, &fixture.memory, NOW).expect("the store is readable"));
}

#[test]
fn a_recovery_that_waits_ends_with_its_address_and_its_feature() {
    let changes = [
        "UPDATE_USER_EMAIL",
        "UPDATE_USER",
        "REMOVE_ORGANIZATION_FEATURE",
        "DELETE_API_KEYS",
        "UPDATE_USER_NAME",
    ];
    for change in changes {
        let mut fixture = Fixture::new(1);
        let (id, root, user) = (fixture.id, fixture.roots[0].clone(), fixture.roots[1].clone());
        let step = json!([{"any": [{"type": "AUTHENTICATION_TYPE_API_KEY"}]}]);
        let policy = json!({"userId": user.user, "mfaPolicyName": "key", "condition": "activity.kind == 'RECOVER_USER'",
            "requiredAuthenticationMethods": step, "order": 0});
        fixture.execute("ACTIVITY_TYPE_CREATE_MFA_POLICY", &policy);
        let key =
            Person { auth: AuthMethod::Mailed(recovery_key(&mut fixture, &root, EMAIL)), ..user.clone() };
        let recover = json!({"userId": user.user, "authenticator": samples::authenticator("recovered")});
        let waits = submit(&mut fixture, &key, id, "RECOVER_USER", &recover, NOW).expect("it waits");
        assert_eq!(waits["status"], "ACTIVITY_STATUS_AUTHENTICATORS_NEEDED");
        let stored = fixture.memory.stored(id);
        let newest = stored.user(user.user).and_then(|user| user.api_keys.last()).map(|key| key.id);
        let parameters = match change {
            "REMOVE_ORGANIZATION_FEATURE" => json!({"name": "FEATURE_NAME_EMAIL_RECOVERY"}),
            "UPDATE_USER_NAME" => json!({"userId": user.user, "userName": "renamed"}),
            "DELETE_API_KEYS" => json!({"userId": user.user, "apiKeyIds": [newest]}),
            _ => json!({"userId": user.user, "userEmail": "new@house.example", "userTagIds": []}),
        };
        submit(&mut fixture, &root, id, change, &parameters, NOW).expect("changed");
        let approve = json!({"fingerprint": waits["fingerprint"]});
        let ended = submit(&mut fixture, &user, id, "APPROVE_ACTIVITY", &approve, NOW).expect("the target");
        let (status, message) = match change {
            "UPDATE_USER_NAME" => ("ACTIVITY_STATUS_COMPLETED", json!(null)),
            "REMOVE_ORGANIZATION_FEATURE" => (
                "ACTIVITY_STATUS_FAILED",
                json!("FEATURE_NAME_EMAIL_RECOVERY is not enabled in this organization"),
            ),
            _ => ("ACTIVITY_STATUS_FAILED", json!("the key that proposed the recovery was removed")),
        };
        assert_eq!((&ended["status"], &ended["failure"]["message"]), (&json!(status), &message), "{change}");
        let stored = fixture.memory.stored(id);
        let has_new = stored.user(user.user).is_some_and(|user| !user.authenticators.is_empty());
        assert_eq!(has_new, change == "UPDATE_USER_NAME", "{change}");
    }
}

#[test]
fn a_limited_session_opens_no_other() {
    let mut fixture = Fixture::new(1);
    let (id, root) = (fixture.id, fixture.roots[1].clone());
    let profile = json!({"sessionProfileName": "all", "scope": "true"});
    let created = fixture.execute("ACTIVITY_TYPE_CREATE_SESSION_PROFILE", &profile);
    let profile = &created["result"]["createSessionProfileResult"]["sessionProfileId"];
    let login = json!({"verificationToken": fixture.sign_in.tokens[0], "publicKey": public_key(30),
        "sessionProfileId": profile});
    let session = run(&mut fixture, "OTP_LOGIN", &login, NOW).expect("a session");
    let session = claims_of(session["result"]["otpLoginResult"]["session"].as_str().expect("a token"));
    assert_eq!((&session["session_profile_id"], &session["session_type"]), (profile, &json!("all")));
    let limited = with_key(&root, 30);
    let tag = json!({"userTagName": "t", "userIds": []});
    submit(&mut fixture, &limited, id, "CREATE_USER_TAG", &tag, NOW).expect("inside of the scope");
    let [_, bound] = fixture.sign_in.tokens.clone();
    for name in
        ["OTP_LOGIN_V2", "OTP_AUTH", "EMAIL_AUTH_V3", "INIT_USER_EMAIL_RECOVERY_V2", "INIT_OTP_AUTH_V3"]
    {
        let activity_type = format!("ACTIVITY_TYPE_{name}");
        let mut parameters = samples::parameters(&activity_type, &fixture, &root);
        if name == "OTP_LOGIN_V2" {
            parameters["publicKey"] = json!(public_key(31));
            parameters["clientSignature"] = client_signature(&bound, TOKEN_KEY, &public_key(31));
        }
        let answer = submit(&mut fixture, &limited, id, name, &parameters, NOW);
        refused(answer, "the session profile does not permit this activity");
    }
}

#[test]
fn the_fourth_mail_with_a_key_within_three_minutes_is_refused() {
    let mut fixture = Fixture::new(1);
    let spellings = ["root1@house.example", "ROOT1@house.example", "Root1@House.example"];
    for (email, name) in
        spellings.into_iter().zip(["EMAIL_AUTH", "INIT_USER_EMAIL_RECOVERY", "EMAIL_AUTH_V3"])
    {
        run(&mut fixture, name, &mailed(&json!({"email": email})), NOW).expect(name);
    }
    for name in ["EMAIL_AUTH", "INIT_USER_EMAIL_RECOVERY"] {
        let error = run(&mut fixture, name, &mailed(&json!({})), NOW + 179_999).expect_err("too many");
        let limit = "please wait and try again: an address gets 3 mails with a key within 3 minutes";
        assert_eq!(error.message, format!("Max number of OTPs have been initiated {limit}"));
    }
    run(&mut fixture, "EMAIL_AUTH", &mailed(&json!({})), NOW + 180_001)
        .expect("the limit is one of three minutes");
}
