//! Verification tokens that prove the contact of a user: of one that is changed, and of the root user of a new
//! sub-organization.

use quorate_common::api_error::Code;
use quorate_core::operator;
use serde_json::json;

use super::tokens::{FORM, OTHER_TOKEN, SCHEME, SIGNER, TOKEN, UNSIGNED, UNVERIFIED, is_unsigned, token};
use super::*;
use crate::changes::query_as_root;
use crate::fixture::operation;
use crate::samples;

const OTHER: &str = "verification token proves another contact";
const USED: &str = "verification token has already been used";
const PHONE: &str = "+12025550123";
const USER: &str = "`signupV2.{}` of `message` differs from the root user of the request";
const UNKNOWN: &str = "`signupV2` of `message` has an unknown member";
const STATEMENT: &str =
    "`message` must have the members `signupV2`, `tokenId` and `type` (USAGE_TYPE_SIGNUP), and no other";
const V8: &str = "CREATE_SUB_ORGANIZATION_V8";

/// Returns the user whose contact a sign-up proves, as the client states it.
fn stated() -> Value {
    json!({"apiKeys": [samples::key_v2(50)], "authenticators": [samples::authenticator("new")], "oauthProviders": [],
        "email": EMAIL})
}

fn signed(token: &str, user: &Value) -> Value {
    sign_up_signature(token, TOKEN_KEY, user)
}

/// Returns parameters for a sub-organization whose second root user has [`EMAIL`].
fn sign_up(token: &str, signature: &Value) -> Value {
    let first =
        json!({"userName": "first", "userEmail": "first@house.example", "apiKeys": [samples::key_v2(51)]});
    let second = json!({"userName": "second", "userEmail": EMAIL, "apiKeys": [samples::key_v2(50)],
        "authenticators": [samples::authenticator("new")], "oauthProviders": []});
    let mut parameters = json!({"subOrganizationName": "new", "rootUsers": [first, second], "rootQuorumThreshold": 1, "verificationToken": token});
    if !signature.is_null() {
        parameters["clientSignature"] = signature.clone();
    }
    parameters
}

/// Returns the id of the sub-organization that an activity created.
fn created(activity: &Value) -> OrganizationId {
    let result = activity["result"].as_object().expect("an object").values().next().expect("a result");
    result["subOrganizationId"].as_str().expect("an id").parse().expect("an id")
}

/// Returns the sub-organizations whose users proved a contact. Operators find the same ones.
fn verified(fixture: &Fixture, filter: &str, value: &str) -> Value {
    let query = json!({"filterType": filter, "filterValue": value});
    let listed = query_as_root(fixture, "list_verified_suborgs", &query)["organizationIds"].clone();
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let page = operator::with_contact(&fixture.memory, fixture.id, value, after, 1);
        let page = page.expect("the store is readable");
        found.extend(page.organizations.iter().map(|one| json!(one.organization_id)));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(json!(found), listed, "{value}");
    listed
}

#[test]
fn a_sign_up_proves_the_contact_of_one_root_user() {
    let mut fixture = Fixture::new(1);
    let code = init(&mut fixture, "INIT_OTP_V3", EMAIL, &json!({}), NOW).expect("a code is sent");
    let token = verify_encrypted(&mut fixture, &code, NOW).expect("the code is right");
    let parameters = sign_up(&token, &signed(&token, &stated()));
    let child = created(&run(&mut fixture, V8, &parameters, NOW).expect("the contact is proved"));
    let stored = fixture.memory.stored(child);
    let flags: Vec<_> = stored
        .users()
        .map(|user| (user.name.to_string(), user.email_verified, user.phone_verified))
        .collect();
    assert!(flags.contains(&("second".to_owned(), true, false)), "{flags:?}");
    assert!(flags.contains(&("first".to_owned(), false, false)), "{flags:?}");
    assert_eq!(verified(&fixture, "EMAIL", "Root1@House.example"), json!([child]));
    assert_eq!(verified(&fixture, "EMAIL", "first@house.example"), json!([]));
    // The token also opens one session, and changes one contact.
    log_in(&mut fixture, child, &token, 30, NOW).expect("a session");
    let other = json!({"userId": fixture.spare.user, "userEmail": EMAIL, "verificationToken": token});
    run(&mut fixture, "UPDATE_USER_EMAIL", &other, NOW).expect("the contact is proved");
    for (name, parameters) in [(V8, &parameters), ("UPDATE_USER_EMAIL", &other)] {
        let error = run(&mut fixture, name, parameters, NOW).expect_err("it was used");
        assert_eq!((error.code, error.message.as_str()), (Code::AlreadyExists, USED), "{name}");
    }
    refused(log_in(&mut fixture, child, &token, 31, NOW), USED);
}

#[test]
fn versions_accept_their_tokens() {
    let mut fixture = Fixture::new(1);
    let [plain, bound] = fixture.sign_in.tokens.clone();
    run(&mut fixture.clone(), "CREATE_SUB_ORGANIZATION_V7", &sign_up(&plain, &Value::Null), NOW)
        .expect("a token without a key");
    run(
        &mut fixture.clone(),
        "CREATE_SUB_ORGANIZATION_V7",
        &sign_up(&bound, &signed(&bound, &stated())),
        NOW,
    )
    .expect("a token with a key");
    refused(run(&mut fixture, V8, &sign_up(&plain, &Value::Null), NOW), TOKEN);
    refused(run(&mut fixture, V8, &sign_up(&plain, &signed(&bound, &stated())), NOW), TOKEN);
    for name in ["CREATE_SUB_ORGANIZATION_V7", V8] {
        refused(run(&mut fixture, name, &sign_up(&bound, &Value::Null), NOW), UNSIGNED);
        let mut without = sign_up(&bound, &signed(&bound, &stated()));
        without.as_object_mut().expect("an object").remove("verificationToken");
        refused(run(&mut fixture, name, &without, NOW), TOKEN);
    }
}

#[test]
fn statements_are_compared_by_value() {
    let fixture = Fixture::new(1);
    let bound = fixture.sign_in.tokens[1].clone();
    let id = claims_of(&bound)["id"].as_str().expect("an id").to_owned();
    let user = stated();
    let mut lean = stated();
    lean.as_object_mut().expect("an object").remove("oauthProviders");
    let mut nulls = stated();
    nulls["phoneNumber"] = Value::Null;
    let accepted = [
        json!({"signup": user, "tokenId": id, "type": "USAGE_TYPE_SIGNUP"}).to_string(),
        json!({"signupV2": lean, "tokenId": id, "type": "USAGE_TYPE_SIGNUP"}).to_string(),
        json!({"signupV2": nulls, "tokenId": id, "type": "USAGE_TYPE_SIGNUP"}).to_string(),
        format!("{{ \"type\": \"USAGE_TYPE_SIGNUP\", \"tokenId\": \"{id}\",\n \"signupV2\": {user} }}"),
    ];
    for message in accepted {
        let parameters = sign_up(&bound, &sign_text(&message, TOKEN_KEY));
        run(&mut fixture.clone(), V8, &parameters, NOW)
            .unwrap_or_else(|error| panic!("{message}: {error:?}"));
    }
}

#[test]
fn other_statements_are_refused_with_the_member_that_differs() {
    let mut fixture = Fixture::new(1);
    let bound = fixture.sign_in.tokens[1].clone();
    let id = claims_of(&bound)["id"].as_str().expect("an id").to_owned();
    let changed = |member: &str, value: Value| {
        let mut changed = stated();
        changed[member] = value;
        json!({"signupV2": changed, "tokenId": id, "type": "USAGE_TYPE_SIGNUP"}).to_string()
    };
    let mut key = samples::key_v2(50);
    key["more"] = json!(1);
    let mut lasting = samples::key_v2(50);
    lasting["expirationSeconds"] = json!("60");
    let mut passkey = samples::authenticator("new");
    passkey["attestation"]["transports"] = json!([]);
    let whole = changed("email", json!(EMAIL));
    let wrong = [
        ("another key", changed("apiKeys", json!([samples::key_v2(52)])), USER.replace("{}", "apiKeys")),
        (
            "one more key",
            changed("apiKeys", json!([samples::key_v2(50), samples::key_v2(52)])),
            USER.replace("{}", "apiKeys"),
        ),
        ("no key", changed("apiKeys", json!([])), USER.replace("{}", "apiKeys")),
        ("another lifetime", changed("apiKeys", json!([lasting])), USER.replace("{}", "apiKeys")),
        ("a key with an unknown member", changed("apiKeys", json!([key])), UNKNOWN.to_owned()),
        (
            "other transports",
            changed("authenticators", json!([passkey])),
            USER.replace("{}", "authenticators"),
        ),
        (
            "an identity",
            changed("oauthProviders", json!([samples::provider("subject")])),
            USER.replace("{}", "oauthProviders"),
        ),
        ("another address", changed("email", json!("first@house.example")), USER.replace("{}", "email")),
        ("a number", changed("phoneNumber", json!(PHONE)), USER.replace("{}", "phoneNumber")),
        ("an unknown member", changed("more", json!(1)), UNKNOWN.to_owned()),
        ("another token", whole.replace(&id, "09090909-0909-0909-0909-090909090909"), OTHER_TOKEN.to_owned()),
        ("another use", whole.replace("USAGE_TYPE_SIGNUP", "USAGE_TYPE_LOGIN"), STATEMENT.to_owned()),
        (
            "a member twice",
            whole.replace("\"email\":", "\"email\":\"a@house.example\",\"email\":"),
            STATEMENT.to_owned(),
        ),
        ("two users", whole.replace("{\"signupV2\":", "{\"signup\":{},\"signupV2\":"), STATEMENT.to_owned()),
        (
            "a login",
            json!({"login": {"publicKey": public_key(50)}, "tokenId": id, "type": "USAGE_TYPE_LOGIN"})
                .to_string(),
            STATEMENT.to_owned(),
        ),
        ("no JSON", "sign up".to_owned(), STATEMENT.to_owned()),
    ];
    for (what, message, reason) in &wrong {
        let parameters = sign_up(&bound, &sign_text(message, TOKEN_KEY));
        is_unsigned(what, run(&mut fixture, V8, &parameters, NOW), reason);
    }
}

#[test]
fn forged_statements_are_refused_and_leave_the_token_unused() {
    let mut fixture = Fixture::new(1);
    let bound = fixture.sign_in.tokens[1].clone();
    let right = signed(&bound, &stated());
    let whole = right["message"].as_str().expect("a text").to_owned();
    let with = |member: &str, value: Value| {
        let mut changed = right.clone();
        changed[member] = value;
        changed
    };
    let forged = [
        ("another signer", sign_text(&whole, 33), SIGNER),
        ("the key of another signer", with("publicKey", json!(public_key(33))), SIGNER),
        ("another scheme", with("scheme", json!("CLIENT_SIGNATURE_SCHEME_API_ED25519")), SCHEME),
        ("a signature of zeros", with("signature", json!("00".repeat(64))), UNVERIFIED),
        ("no signature", with("signature", json!("")), FORM),
    ];
    for (what, signature, reason) in forged {
        is_unsigned(what, run(&mut fixture, V8, &sign_up(&bound, &signature), NOW), reason);
        assert!(fixture.memory.rows(b'k').all(|(key, _)| key[1] != b'u'), "{what}: the token is unused");
    }
    run(&mut fixture, V8, &sign_up(&bound, &right), NOW).expect("the token was not used up");
}

#[test]
fn the_token_must_prove_the_contact_of_exactly_one_root_user() {
    let mut fixture = Fixture::new(1);
    let [plain, _] = fixture.sign_in.tokens.clone();
    let name = "CREATE_SUB_ORGANIZATION_V7";
    let mut nobody = sign_up(&plain, &Value::Null);
    nobody["rootUsers"][1]["userEmail"] = json!("other@house.example");
    let mut both = sign_up(&plain, &Value::Null);
    both["rootUsers"][0]["userEmail"] = json!(EMAIL);
    let mut none = sign_up(&plain, &Value::Null);
    none["rootUsers"][1].as_object_mut().expect("an object").remove("userEmail");
    for parameters in [nobody, both, none] {
        refused(run(&mut fixture, name, &parameters, NOW), OTHER);
    }
    let phone = token(&fixture, |claims| (claims.contact, claims.key) = (PHONE, None));
    refused(run(&mut fixture, name, &sign_up(&phone, &Value::Null), NOW), OTHER);
    let mut parameters = sign_up(&phone, &Value::Null);
    parameters["rootUsers"][0]["userPhoneNumber"] = json!(PHONE);
    let child = created(&run(&mut fixture, name, &parameters, NOW).expect("the number is proved"));
    assert_eq!(verified(&fixture, "PHONE_NUMBER", PHONE), json!([child]));
    assert_eq!(verified(&fixture, "EMAIL", EMAIL), json!([]));
}

#[test]
fn changed_contacts_are_proved_by_their_token() {
    let mut fixture = Fixture::new(1);
    let (child, id) = (fixture.child.clone(), fixture.id);
    let of = |fixture: &Fixture, number: u8, contact: &'static str| {
        token(fixture, |claims| (claims.id, claims.contact) = (number, contact))
    };
    let mail = of(&fixture, 20, "new@house.example");
    let phone = of(&fixture, 21, PHONE);
    let email = |address: &str, token: &str| json!({"userId": child.user, "userEmail": address, "verificationToken": token});
    let number = |number: &str, token: &str| json!({"userId": child.user, "userPhoneNumber": number, "verificationToken": token});
    let mut update = |name: &str, parameters: &Value, now: u64| {
        submit(&mut fixture, &child, child.home, name, parameters, now)
    };
    let (change, call) = ("UPDATE_USER_EMAIL", "UPDATE_USER_PHONE_NUMBER");
    for (name, parameters) in [
        (change, email("other@house.example", &mail)),
        (change, email("New@house.example", &mail)),
        (change, email("", &mail)),
        (change, email("new@house.example", &phone)),
        (call, number("+12025550124", &phone)),
        (call, number("", &phone)),
        (call, number(PHONE, &mail)),
    ] {
        let error = update(name, &parameters, NOW).expect_err("another contact");
        assert_eq!((error.code, error.message.as_str()), (Code::InvalidArgument, OTHER), "{parameters}");
    }
    let altered = mail.replace('.', "..");
    for (token, now) in [("", NOW), ("a.b.c", NOW), (altered.as_str(), NOW), (mail.as_str(), NOW + 3_600_000)]
    {
        refused(update(change, &email("new@house.example", token), now), TOKEN);
    }
    update(change, &email("new@house.example", &mail), NOW).expect("the address is proved");
    update(call, &number(PHONE, &phone), NOW).expect("the number is proved");
    refused(update(change, &email("new@house.example", &mail), NOW), USED);
    assert_eq!(verified(&fixture, "EMAIL", "new@house.example"), json!([child.home]));
    assert_eq!(verified(&fixture, "PHONE_NUMBER", PHONE), json!([child.home]));
    // Without a token, a contact is not verified, even if it is the same.
    for (name, member, value) in
        [(change, "userEmail", "new@house.example"), (call, "userPhoneNumber", PHONE)]
    {
        let parameters = json!({"userId": child.user, member: value});
        submit(&mut fixture, &child, child.home, name, &parameters, NOW).expect("permitted");
    }
    assert_eq!(verified(&fixture, "EMAIL", "new@house.example"), json!([]));
    assert_eq!(verified(&fixture, "PHONE_NUMBER", PHONE), json!([]));
    // A token of a sub-organization is valid there only.
    let own = token(&fixture, |claims| (claims.id, claims.organization) = (22, child.home));
    let parameters = json!({"userId": fixture.spare.user, "userEmail": EMAIL, "verificationToken": own});
    let root = fixture.roots[0].clone();
    refused(submit(&mut fixture, &root, id, change, &parameters, NOW), TOKEN);
    refused(
        run(&mut fixture, "CREATE_SUB_ORGANIZATION_V7", &sign_up(&own, &signed(&own, &stated())), NOW),
        TOKEN,
    );
}

#[test]
fn requests_with_a_token_do_not_wait_and_store_no_token() {
    let mut fixture = Fixture::new(2);
    let [plain, bound] = fixture.sign_in.tokens.clone();
    let spare = fixture.spare.user;
    let change = json!({"userId": spare, "userEmail": EMAIL, "verificationToken": plain});
    let create = sign_up(&bound, &signed(&bound, &stated()));
    let message =
        "this activity contains a secret and cannot wait for approvals; a policy must allow it without them";
    for (name, parameters) in [("UPDATE_USER_EMAIL", &change), (V8, &create)] {
        let error = run(&mut fixture, name, parameters, NOW).expect_err("one of two approvals");
        assert_eq!((error.code, error.message.as_str()), (Code::PermissionDenied, message));
        // Without the token it waits, is stored as it was signed, and is approved.
        let mut without = parameters.clone();
        let members = without.as_object_mut().expect("an object");
        members.remove("verificationToken");
        members.remove("clientSignature");
        let activity_type = format!("ACTIVITY_TYPE_{name}");
        let body = fixture.body(fixture.id, &activity_type, &without, NOW + 1);
        let root = fixture.roots[0].clone();
        let waits = fixture.send(&root, &operation(&activity_type), &body, NOW + 1).expect("it is proposed");
        assert_eq!(waits["activity"]["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED");
        assert_eq!(
            waits["activity"]["votes"][0]["message"].as_str().map(str::as_bytes),
            Some(body.as_slice())
        );
        let approval = json!({"fingerprint": waits["activity"]["fingerprint"]});
        let second = fixture.roots[1].clone();
        let id = fixture.id;
        let done = submit(&mut fixture, &second, id, "APPROVE_ACTIVITY", &approval, NOW + 2).expect("a vote");
        assert_eq!(done["status"], "ACTIVITY_STATUS_COMPLETED");
    }
    assert_eq!(verified(&fixture, "EMAIL", EMAIL), json!([]));
    let policy = json!({"policyName": "sign-up", "effect": "EFFECT_ALLOW", "notes": "",
        "condition": "activity.resource == 'ORGANIZATION' || activity.resource == 'USER'",
        "consensus": format!("approvers.any(user, user.id == '{}')", fixture.roots[0].user)});
    fixture.execute("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy);
    for (name, parameters) in [("UPDATE_USER_EMAIL", &change), (V8, &create)] {
        let body = fixture.body(fixture.id, &format!("ACTIVITY_TYPE_{name}"), parameters, NOW + 3);
        let root = fixture.roots[0].clone();
        let path = operation(&format!("ACTIVITY_TYPE_{name}"));
        let done = fixture.send(&root, &path, &body, NOW + 3).expect("a policy allows it");
        let again = fixture.send(&root, &path, &body, NOW + 4).expect("the same activity");
        assert_eq!(done["activity"], again["activity"]);
        let intent = done["activity"]["intent"].as_object().expect("an object").values().next();
        assert_eq!(intent.expect("an intent")["verificationToken"], "");
    }
    for token in [plain, bound] {
        for (key, row) in fixture.memory.all_rows() {
            let is_stored = row.windows(token.len()).any(|window| window == token.as_bytes());
            assert!(!is_stored, "a token is stored under {}", key.escape_ascii());
        }
    }
}

#[test]
fn disabled_features_of_a_new_organization_close_each_flow() {
    let mut fixture = Fixture::new(1);
    let user = json!({"userName": "root", "userEmail": EMAIL, "userPhoneNumber": PHONE, "apiKeys": [samples::key_v2(50)]});
    let code = |kind: &str, contact: &str| json!({"otpType": kind, "contact": contact, "appName": "House"});
    let mailed = json!({"email": EMAIL, "targetPublicKey": target().public().hex(), "emailCustomization": {"appName": "House"}});
    let flows = [
        ("disableEmailRecovery", "EMAIL_RECOVERY", "INIT_USER_EMAIL_RECOVERY_V2", mailed.clone()),
        ("disableEmailAuth", "EMAIL_AUTH", "EMAIL_AUTH_V3", mailed),
        ("disableSmsAuth", "SMS_AUTH", "INIT_OTP_AUTH_V3", code("OTP_TYPE_SMS", PHONE)),
        ("disableOtpEmailAuth", "OTP_EMAIL_AUTH", "INIT_OTP_AUTH_V3", code("OTP_TYPE_EMAIL", EMAIL)),
    ];
    let root = fixture.roots[0].clone();
    for disabled in &flows {
        let child = json!({"subOrganizationName": "new", "rootUsers": [user], "rootQuorumThreshold": 1, disabled.0: true});
        let child = created(&run(&mut fixture, V8, &child, NOW).expect("a sub-organization"));
        for (member, feature, name, parameters) in &flows {
            let answer = submit(&mut fixture, &root, child, name, parameters, NOW);
            if *member == disabled.0 {
                refused(answer, &format!("FEATURE_NAME_{feature} is not enabled in this organization"));
            } else {
                answer.unwrap_or_else(|error| panic!("{member} with {}: {error:?}", disabled.0));
            }
        }
    }
}
