//! Sessions: what opens them, what they permit, and when they end.

use base64ct::{Base64, Base64UrlUnpadded, Encoding};
use quorate_common::api_error::{ApiError, Code};
use quorate_common::bundle::{Sealed, TargetKey};
use quorate_common::catalog::{Gate, KindEntry, Resource};
use quorate_common::ids::OrganizationId;
use quorate_common::stamp::{ApiKeyCurve, Stamper};
use quorate_core::authn::{Credentials, Header};
use quorate_core::catalog::catalog;
use quorate_core::kinds::access::ACCESS;
use serde_json::{Value, json};

use crate::fixture::{AuthMethod, Fixture, NOW, Person, public_key};

const LOGIN: &str = "ACTIVITY_TYPE_STAMP_LOGIN";
const READ_ONLY: &str = "ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION";
const READ_WRITE: &str = "ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2";
const SIGN: &str = "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2";

/// Logs in with the key of this number, and returns the person with that key, and the token.
fn log_in(
    fixture: &mut Fixture,
    person: &Person,
    number: u32,
    more: &Value,
) -> Result<(Person, String), ApiError> {
    let mut parameters = json!({"publicKey": public_key(number)});
    for (name, value) in more.as_object().expect("an object") {
        parameters[name] = value.clone();
    }
    let answer = fixture.submit(person, person.home, LOGIN, &parameters, NOW)?;
    let activity = &answer["activity"];
    assert_eq!(activity["status"], "ACTIVITY_STATUS_COMPLETED");
    let token = activity["result"]["stampLoginResult"]["session"].as_str().expect("a token").to_owned();
    Ok((Person { number, auth: AuthMethod::Stamp, ..person.clone() }, token))
}

/// Decodes the claims of a token as browsers do.
fn claims(token: &str) -> Value {
    let payload = token.split('.').nth(1).expect("three parts");
    assert!(!payload.contains(['-', '_']));
    let padded = format!("{payload}{}", "=".repeat(payload.len().next_multiple_of(4) - payload.len()));
    serde_json::from_slice(&Base64::decode_vec(&padded).expect("base64")).expect("JSON")
}

fn whoami(
    fixture: &Fixture,
    person: &Person,
    organization: OrganizationId,
    now: u64,
) -> Result<Value, ApiError> {
    let body = json!({"organizationId": organization}).to_string().into_bytes();
    fixture.memory.query("whoami", &person.stamps(&body), &body, now)
}

fn sign(fixture: &mut Fixture, person: &Person) -> Result<Value, ApiError> {
    let parameters = json!({"signWith": fixture.wallet.1, "payload": "ab".repeat(32),
        "encoding": "PAYLOAD_ENCODING_HEXADECIMAL", "hashFunction": "HASH_FUNCTION_NO_OP"});
    fixture.submit(person, fixture.id, SIGN, &parameters, NOW)
}

#[test]
fn a_login_yields_a_token_and_a_key_that_expires() {
    let mut fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    let (session, token) = log_in(&mut fixture, &root, 30, &json!({})).expect("the login is accepted");
    let header = token.split('.').next().expect("three parts");
    assert_eq!(Base64UrlUnpadded::decode_vec(header).expect("base64"), br#"{"alg":"ES256","typ":"JWT"}"#);
    let expected = json!({"exp": NOW / 1000 + 900, "public_key": public_key(30), "session_type": "SESSION_TYPE_READ_WRITE",
        "user_id": root.user, "organization_id": fixture.id});
    assert_eq!(claims(&token), expected);
    assert_eq!(whoami(&fixture, &session, fixture.id, NOW).expect("a user")["userId"], json!(root.user));
    sign(&mut fixture, &session).expect("the session may do what its user may do");
    let user = json!({"organizationId": fixture.id, "userId": root.user}).to_string().into_bytes();
    let keys = fixture.memory.query("get_api_keys", &root.stamps(&user), &user, NOW).expect("keys");
    let key = keys["apiKeys"].as_array().expect("a list").last().expect("the session").clone();
    assert_eq!(key["credential"], json!({"publicKey": public_key(30), "type": "CREDENTIAL_TYPE_LOGIN"}));
    assert_eq!(key["expirationSeconds"], "900");
    let error = whoami(&fixture, &session, fixture.id, NOW + 900_000).expect_err("the session has ended");
    assert_eq!(error.turnkey_error_code.as_deref(), Some("API_KEY_EXPIRED"));
}

#[test]
fn a_login_at_the_parent_opens_a_session_in_the_sub_organization() {
    let mut fixture = Fixture::new(1);
    let child = fixture.child.clone();
    let body = fixture.body(fixture.id, LOGIN, &json!({"publicKey": public_key(30)}), NOW);
    let answer = fixture.send(&child, "stamp_login", &body, NOW).expect("the key is found");
    assert_eq!(answer["activity"]["organizationId"], json!(child.home));
    let token = answer["activity"]["result"]["stampLoginResult"]["session"].as_str().expect("a token");
    assert_eq!(claims(token)["organization_id"], json!(child.home));
    let session = Person { number: 30, ..child.clone() };
    assert_eq!(whoami(&fixture, &session, child.home, NOW).expect("a user")["userId"], json!(child.user));
    // Other operations do not search sub-organizations.
    let keys = json!({"userId": child.user, "apiKeys": []});
    let error = fixture.submit(&child, fixture.id, "ACTIVITY_TYPE_CREATE_API_KEYS_V2", &keys, NOW);
    assert_eq!(error.expect_err("not found").turnkey_error_code.as_deref(), Some("PUBLIC_KEY_NOT_FOUND"));
}

#[test]
fn invalidating_ends_the_other_logins_of_the_user_only() {
    let mut fixture = Fixture::new(1);
    let (root, user) = (fixture.roots[0].clone(), fixture.user.clone());
    let (first, _) = log_in(&mut fixture, &root, 30, &json!({})).expect("a session");
    let (other, _) = log_in(&mut fixture, &user, 31, &json!({})).expect("a session");
    log_in(&mut fixture, &root, 32, &json!({"invalidateExisting": true})).expect("a session");
    whoami(&fixture, &first, fixture.id, NOW).expect_err("the earlier session ended");
    whoami(&fixture, &other, fixture.id, NOW).expect("the session of another user continues");
    whoami(&fixture, &root, fixture.id, NOW).expect("the registered key continues");
}

#[test]
fn the_eleventh_session_replaces_the_oldest() {
    let mut fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    let sessions: Vec<Person> = (30..41)
        .map(|number| log_in(&mut fixture, &root, number, &json!({})).expect("a session").0)
        .collect();
    let alive = |person: &&Person| whoami(&fixture, person, fixture.id, NOW).is_ok();
    assert_eq!(sessions.iter().filter(alive).count(), 10);
    assert!(!alive(&sessions.first().expect("eleven sessions")));
}

#[test]
fn a_profile_limits_what_a_session_does_and_votes_for() {
    let mut fixture = Fixture::new(2);
    let [first, second] = fixture.roots.clone();
    let profile = json!({"sessionProfileId": fixture.session_profile, "expirationSeconds": "60"});
    let (limited, token) = log_in(&mut fixture, &first, 30, &profile).expect("a session");
    let claims = claims(&token);
    assert_eq!(claims["session_type"], "signer");
    assert_eq!(claims["session_profile_id"], json!(fixture.session_profile));
    assert_eq!(
        (&claims["scope"], &claims["exp"]),
        (&json!("activity.action == 'SIGN'"), &json!(NOW / 1000 + 60))
    );
    let refused = |answer: Result<Value, ApiError>| {
        let error = answer.expect_err("outside of the scope");
        assert_eq!(
            (error.code, error.message.as_str()),
            (Code::PermissionDenied, "the session profile does not permit this activity")
        );
    };
    // Inside.
    let waiting = sign(&mut fixture, &limited).expect("inside of the scope")["activity"].clone();
    assert_eq!(waiting["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    let approve = json!({"fingerprint": waiting["fingerprint"]});
    let approval = fixture.submit(&second, fixture.id, "ACTIVITY_TYPE_APPROVE_ACTIVITY", &approve, NOW);
    assert_eq!(approval.expect("an approval")["activity"]["status"], "ACTIVITY_STATUS_COMPLETED");
    let proposed = sign(&mut fixture, &second).expect("a proposal")["activity"]["fingerprint"].clone();
    let approve = json!({"fingerprint": proposed});
    let approval = fixture.submit(&limited, fixture.id, "ACTIVITY_TYPE_APPROVE_ACTIVITY", &approve, NOW);
    assert_eq!(approval.expect("an approval")["activity"]["status"], "ACTIVITY_STATUS_COMPLETED");
    // Outside: a proposal, a vote, a repeated body, and new credentials without limits.
    let tag = json!({"userTagName": "fresh", "userIds": []});
    refused(fixture.submit(&limited, fixture.id, "ACTIVITY_TYPE_CREATE_USER_TAG", &tag, NOW));
    let waiting = json!({"fingerprint": fixture.waiting});
    for vote in ["ACTIVITY_TYPE_APPROVE_ACTIVITY", "ACTIVITY_TYPE_REJECT_ACTIVITY"] {
        refused(fixture.submit(&limited, fixture.id, vote, &waiting, NOW));
    }
    let body = fixture.body(fixture.id, "ACTIVITY_TYPE_CREATE_USER_TAG", &tag, NOW);
    fixture.send(&second, "create_user_tag", &body, NOW).expect("a proposal");
    refused(fixture.send(&limited, "create_user_tag", &body, NOW));
    let key = json!({"publicKey": public_key(31)});
    refused(fixture.submit(&limited, fixture.id, LOGIN, &key, NOW));
}

#[test]
fn a_session_whose_scope_permits_everything_creates_no_credentials() {
    let mut fixture = Fixture::new(1);
    let profile = json!({"sessionProfileName": "all", "scope": "true"});
    let created = fixture.execute("ACTIVITY_TYPE_CREATE_SESSION_PROFILE", &profile);
    let profile = created["result"]["createSessionProfileResult"]["sessionProfileId"].clone();
    let root = fixture.roots[0].clone();
    let (limited, _) =
        log_in(&mut fixture, &root, 30, &json!({"sessionProfileId": profile})).expect("a session");
    let tag = json!({"userTagName": "fresh", "userIds": []});
    fixture.submit(&limited, fixture.id, "ACTIVITY_TYPE_CREATE_USER_TAG", &tag, NOW).expect("in the scope");
    log_in(&mut fixture, &limited, 31, &json!({})).expect_err("the new session would have no limit");
    let read_only = fixture.submit(&limited, fixture.id, READ_ONLY, &json!({}), NOW);
    read_only.expect_err("the new session would last longer");
    let keys = json!({"userId": root.user, "apiKeys": [{"apiKeyName": "k", "publicKey": public_key(31),
        "curveType": "API_KEY_CURVE_P256"}]});
    fixture
        .submit(&limited, fixture.id, "ACTIVITY_TYPE_CREATE_API_KEYS_V2", &keys, NOW)
        .expect_err("the new key would have no limit");
    // A code to a contact opens a session without limit.
    for (kind, contact) in [
        ("UPDATE_USER", json!({"userEmail": "thief@example.org"})),
        ("UPDATE_USER", json!({"userPhoneNumber": "+4915112345678"})),
        ("UPDATE_USER_EMAIL", json!({"userEmail": "thief@example.org"})),
        ("UPDATE_USER_PHONE_NUMBER", json!({"userPhoneNumber": "+4915112345678"})),
    ] {
        let mut parameters = contact;
        parameters["userId"] = json!(root.user);
        let changed =
            fixture.submit(&limited, fixture.id, &format!("ACTIVITY_TYPE_{kind}"), &parameters, NOW);
        let error = changed.expect_err("a code to the contact would have no limit");
        assert_eq!(error.message, "the session profile does not permit this activity", "{kind}");
    }
    let name = json!({"userId": root.user, "userName": "renamed"});
    fixture.submit(&limited, fixture.id, "ACTIVITY_TYPE_UPDATE_USER_NAME", &name, NOW).expect("in the scope");
}

/// Parameters with which a request gives, changes or deletes a way to sign in, or directs codes.
const ACCESS_PARAMETERS: [&str; 16] = [
    "apiKeyIds",
    "apiKeys",
    "authenticator",
    "authenticatorIds",
    "authenticators",
    "contact",
    "mfaPolicyId",
    "oauth2CredentialId",
    "oauthProviders",
    "oidcToken",
    "publicKey",
    "requiredAuthenticationMethods",
    "targetPublicKey",
    "userEmail",
    "userPhoneNumber",
    "verificationToken",
];

/// Settings of an organization that change how its users sign in.
const ACCESS_SETTINGS: [&str; 7] = [
    "DISABLE_AUTH_PROXY",
    "ENABLE_AUTH_PROXY",
    "REMOVE_IP_ALLOWLIST",
    "REMOVE_ORGANIZATION_FEATURE",
    "SET_IP_ALLOWLIST",
    "SET_ORGANIZATION_FEATURE",
    "UPDATE_ALLOWED_ORIGINS",
];

/// Kinds that have such parameters and change nothing about how an existing user signs in: they create users, have no
/// user as their caller, send or verify a code, or import or export secrets.
const OTHERS: [&str; 12] = [
    "ACCEPT_INVITATION",
    "CREATE_API_ONLY_USERS",
    "CREATE_ORGANIZATION",
    "CREATE_SUB_ORGANIZATION",
    "CREATE_USERS",
    "EXPORT_PRIVATE_KEY",
    "EXPORT_SECRETS",
    "EXPORT_WALLET",
    "EXPORT_WALLET_ACCOUNT",
    "IMPORT_SECRETS",
    "INIT_OTP",
    "VERIFY_OTP",
];

/// Returns whether a schema has one of these members at any depth.
fn has_member(schema: &Value, names: &[&str]) -> bool {
    let nested = |value: &Value| has_member(value, names);
    match schema {
        Value::Object(members) => {
            let own = members.get("properties").and_then(Value::as_object);
            own.is_some_and(|own| own.keys().any(|name| names.contains(&name.as_str())))
                || members.values().any(nested)
        }
        Value::Array(items) => items.iter().any(nested),
        _ => false,
    }
}

#[test]
fn profiles_exclude_every_kind_of_the_catalog_that_changes_access() {
    let name = |kind: &KindEntry| quorate_policy::request::kind_of(&kind.activity_type).to_owned();
    let excluded: Vec<&str> = ACCESS.iter().map(|(name, _)| *name).collect();
    assert!(excluded.is_sorted());
    let kinds = catalog().kinds;
    let mut expected: Vec<String> = kinds
        .iter()
        .filter(|kind| {
            let resource = kind.acts.map(|(_, resource)| resource);
            let is_of_access = matches!(
                resource,
                Some(Resource::Auth | Resource::Credential | Resource::Recovery | Resource::MfaPolicy)
            );
            let gate = matches!(kind.gate, Gate::Caller | Gate::OwnCredential);
            let is_setting = ACCESS_SETTINGS.contains(&name(kind).as_str());
            gate || is_of_access || is_setting || has_member(&kind.parameters, &ACCESS_PARAMETERS)
        })
        .map(name)
        .filter(|name| !OTHERS.contains(&name.as_str()))
        .collect();
    expected.dedup();
    assert_eq!(excluded, expected);
    assert!(OTHERS.iter().all(|other| kinds.iter().any(|kind| name(kind) == *other)));
    // A request that sets contacts beside other members is excluded because of them.
    let contacts =
        kinds.iter().filter(|kind| has_member(&kind.parameters, &["userEmail", "userPhoneNumber"]));
    for kind in contacts.map(name).filter(|name| !OTHERS.contains(&name.as_str())) {
        assert!(excluded.contains(&kind.as_str()), "{kind}");
    }
}

#[test]
fn a_session_with_a_profile_changes_no_contacts_and_credentials() {
    let mut fixture = Fixture::new(1);
    let profile = json!({"sessionProfileName": "all", "scope": "true"});
    let created = fixture.execute("ACTIVITY_TYPE_CREATE_SESSION_PROFILE", &profile);
    let profile = created["result"]["createSessionProfileResult"]["sessionProfileId"].clone();
    let (root, user, spare) = (fixture.roots[0].clone(), fixture.user.user, fixture.spare.user);
    let (limited, _) =
        log_in(&mut fixture, &root, 30, &json!({"sessionProfileId": profile})).expect("a session");
    let (other, _) = log_in(&mut fixture, &root, 31, &json!({})).expect("a session");
    let id = |fixture: &Fixture, person: &Person| {
        let body = json!({"organizationId": fixture.id, "userId": root.user}).to_string().into_bytes();
        let keys = fixture.memory.query("get_api_keys", &root.stamps(&body), &body, NOW).expect("keys");
        let keys = keys["apiKeys"].as_array().expect("a list").clone();
        let own =
            keys.iter().find(|key| key["credential"]["publicKey"] == public_key(person.number).as_str());
        own.expect("the key of the session")["apiKeyId"].clone()
    };
    let (own, another) = (id(&fixture, &limited), id(&fixture, &other));
    let mut submit = |kind: &str, parameters: Value| {
        let answer = fixture.submit(&limited, fixture.id, &format!("ACTIVITY_TYPE_{kind}"), &parameters, NOW);
        answer.map(|_| ()).map_err(|error| error.message)
    };
    let mfa = json!({"userId": spare, "mfaPolicyName": "none", "condition": "false", "order": 9,
        "requiredAuthenticationMethods": [{"any": [{"type": "AUTHENTICATION_TYPE_PASSKEY"}]}]});
    let allowlist = json!({"enabled": false, "onEvaluationError": "ALLOW", "rules": [{"cidr": "192.0.2.7"}]});
    for (kind, parameters) in [
        ("UPDATE_USER_EMAIL", json!({"userId": root.user, "userEmail": "eve@example.org"})),
        ("UPDATE_USER_EMAIL", json!({"userId": user, "userEmail": "eve@example.org"})),
        ("UPDATE_USER_EMAIL", json!({"userId": user, "userEmail": ""})),
        ("UPDATE_USER_PHONE_NUMBER", json!({"userId": root.user, "userPhoneNumber": "+491701234567"})),
        ("UPDATE_USER", json!({"userId": user, "userEmail": "eve@example.org"})),
        ("UPDATE_USER", json!({"userId": user, "userName": "u", "userPhoneNumber": "+491701234567"})),
        ("CREATE_MFA_POLICY", mfa),
        ("DELETE_API_KEYS", json!({"userId": root.user, "apiKeyIds": [another]})),
        ("DELETE_API_KEYS", json!({"userId": root.user, "apiKeyIds": [own, another]})),
        ("SET_ORGANIZATION_FEATURE", json!({"name": "FEATURE_NAME_EMAIL_AUTH"})),
        ("SET_ORGANIZATION_FEATURE", json!({"name": "FEATURE_NAME_EMAIL_RECOVERY"})),
        ("SET_ORGANIZATION_FEATURE", json!({"name": "FEATURE_NAME_OTP_EMAIL_AUTH"})),
        ("SET_ORGANIZATION_FEATURE", json!({"name": "FEATURE_NAME_SMS_AUTH"})),
        (
            "SET_ORGANIZATION_FEATURE",
            json!({"name": "FEATURE_NAME_WEBAUTHN_ORIGINS", "value": "https://eve.example"}),
        ),
        ("REMOVE_ORGANIZATION_FEATURE", json!({"name": "FEATURE_NAME_WEBAUTHN_ORIGINS"})),
        ("SET_IP_ALLOWLIST", allowlist),
    ] {
        assert_eq!(
            submit(kind, parameters),
            Err("the session profile does not permit this activity".to_owned()),
            "{kind}"
        );
    }
    let feature = json!({"name": "FEATURE_NAME_SWAP_CONFIG"});
    submit("SET_ORGANIZATION_FEATURE", feature).expect("it does not affect how users sign in");
    submit("UPDATE_USER", json!({"userId": user, "userName": "renamed"})).expect("names are in the scope");
    submit("UPDATE_USER_NAME", json!({"userId": user, "userName": "again"})).expect("names are in the scope");
    submit("DELETE_API_KEYS", json!({"userId": root.user, "apiKeyIds": [own]}))
        .expect("a session ends itself");
}

#[test]
fn sub_organizations_use_the_profiles_of_their_parent() {
    let mut fixture = Fixture::new(1);
    let (child, profile) = (fixture.child.clone(), json!({"sessionProfileId": fixture.session_profile}));
    let (limited, _) = log_in(&mut fixture, &child, 30, &profile).expect("a session");
    let tag = json!({"userTagName": "fresh", "userIds": []});
    let error = fixture.submit(&limited, child.home, "ACTIVITY_TYPE_CREATE_USER_TAG", &tag, NOW);
    assert_eq!(error.expect_err("outside of the scope").code, Code::PermissionDenied);
}

/// Opens a read-only session, and returns its token.
fn read_only(fixture: &mut Fixture, person: &Person) -> (Value, String) {
    let answer = fixture.submit(person, person.home, READ_ONLY, &json!({}), NOW).expect("a session");
    let result = answer["activity"]["result"]["createReadOnlySessionResult"].clone();
    let token = result["session"].as_str().expect("a token").to_owned();
    (answer["activity"].clone(), token)
}

/// Returns the headers of a request with this session.
fn with_session(token: &str) -> Credentials {
    Credentials { session: Header::Once(token.to_owned()), ..Credentials::default() }
}

#[test]
fn a_read_only_session_queries_and_does_nothing_else() {
    let mut fixture = Fixture::new(1);
    let user = fixture.user.clone();
    let (activity, token) = read_only(&mut fixture, &user);
    let result = &activity["result"]["createReadOnlySessionResult"];
    assert_eq!((&result["userId"], &result["username"]), (&json!(user.user), &json!("user")));
    assert_eq!(result["sessionExpiry"], json!((NOW / 1000 + 3600).to_string()));
    let query = |fixture: &Fixture, organization: OrganizationId, token: &str, now: u64| {
        let body = json!({"organizationId": organization}).to_string().into_bytes();
        fixture.memory.query("whoami", &with_session(token), &body, now)
    };
    assert_eq!(query(&fixture, fixture.id, &token, NOW).expect("a user")["userId"], json!(user.user));
    let code = |answer: Result<Value, ApiError>| {
        let error = answer.expect_err("not this session");
        (error.code, error.turnkey_error_code.unwrap_or_default())
    };
    let missing = (Code::Unauthenticated, "SIGNATURE_MISSING".to_owned());
    assert_eq!(code(query(&fixture, fixture.child.home, &token, NOW)), missing);
    assert_eq!(code(query(&fixture, fixture.bare.home, &token, NOW)), missing);
    assert_eq!(code(query(&fixture, fixture.id, &"0".repeat(64), NOW)), missing);
    assert_eq!(code(query(&fixture, fixture.id, "", NOW)), missing);
    let ended = (Code::Unauthenticated, "SESSION_EXPIRED".to_owned());
    assert_eq!(code(query(&fixture, fixture.id, &token, NOW + 3_600_000)), ended);
    let tag = fixture.body(
        fixture.id,
        "ACTIVITY_TYPE_CREATE_USER_TAG",
        &json!({"userTagName": "t", "userIds": []}),
        NOW,
    );
    assert_eq!(code(fixture.memory.submit("create_user_tag", &with_session(&token), &tag, NOW)), missing);
    fixture.execute("ACTIVITY_TYPE_DELETE_USERS", &json!({"userIds": [user.user]}));
    assert_eq!(code(query(&fixture, fixture.id, &token, NOW)), missing, "it ends with its user");
}

#[test]
fn the_token_of_a_read_only_session_is_shown_once_and_stored_nowhere() {
    let mut fixture = Fixture::new(1);
    let user = fixture.user.clone();
    let body = fixture.body(fixture.id, READ_ONLY, &json!({}), NOW);
    let session = |answer: Result<Value, ApiError>| {
        let result =
            answer.expect("an activity")["activity"]["result"]["createReadOnlySessionResult"].clone();
        result["session"].as_str().expect("a text").to_owned()
    };
    let token = session(fixture.send(&user, "create_read_only_session", &body, NOW));
    assert_eq!(token.len(), 64);
    assert_eq!(session(fixture.send(&user, "create_read_only_session", &body, NOW)), "", "a repeated body");
    let bytes: [u8; 32] = const_hex::decode_to_array(&token).expect("hex");
    for (key, row) in fixture.memory.all_rows() {
        let contains = |needle: &[u8]| row.windows(needle.len()).any(|window| window == needle);
        assert!(!contains(token.as_bytes()) && !contains(&bytes), "{key:?}");
    }
}

#[test]
fn equal_bytes_of_different_callers_are_different_requests() {
    let mut fixture = Fixture::new(1);
    let (root, user) = (fixture.roots[0].clone(), fixture.user.clone());
    let (child, sibling) = (fixture.child.clone(), fixture.sibling.clone());
    let opened = |answer: Result<Value, ApiError>, person: &Person| {
        let activity = answer.expect("a session")["activity"].clone();
        let result = &activity["result"]["createReadOnlySessionResult"];
        assert_eq!(
            (&result["userId"], &activity["organizationId"]),
            (&json!(person.user), &json!(person.home))
        );
        result["session"].as_str().expect("a text").to_owned()
    };
    let body = fixture.body(fixture.id, READ_ONLY, &json!({}), NOW);
    let mut tokens = Vec::new();
    // Users of one organization, and of two sub-organizations, which are found through their parent.
    for person in [&user, &root, &child, &sibling] {
        let token = opened(fixture.send(person, "create_read_only_session", &body, NOW), person);
        assert_eq!(token.len(), 64);
        tokens.push(token);
    }
    tokens.sort();
    tokens.dedup();
    assert_eq!(tokens.len(), 4);
    for person in [&user, &root, &child, &sibling] {
        assert_eq!(
            opened(fixture.send(person, "create_read_only_session", &body, NOW), person),
            "",
            "repeated"
        );
    }
}

#[test]
fn equal_bytes_do_not_wait_twice() {
    let mut fixture = Fixture::new(2);
    let policy = json!({"policyName": "no logins", "effect": "EFFECT_DENY", "notes": "",
        "condition": "activity.resource == 'AUTH'"});
    fixture.execute("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy);
    let [first, second] = fixture.roots.clone();
    let target = json!({"targetPublicKey": crate::fixture::target_public_key(31)});
    let body = fixture.body(fixture.id, READ_WRITE, &target, NOW);
    let waiting = fixture.send(&first, "create_read_write_session", &body, NOW).expect("it waits");
    assert_eq!(waiting["activity"]["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    // A vote names an activity by its fingerprint, so it must mean one activity only.
    let error = fixture.send(&second, "create_read_write_session", &body, NOW).expect_err("the same bytes");
    assert_eq!(error.code, Code::AlreadyExists);
    assert_eq!(
        error.message,
        "another user sent the same bytes; send the request with another `timestampMs`"
    );
    let approve = json!({"fingerprint": waiting["activity"]["fingerprint"]});
    let approved = fixture.submit(&second, fixture.id, "ACTIVITY_TYPE_APPROVE_ACTIVITY", &approve, NOW);
    let result = approved.expect("approved")["activity"]["result"]["createReadWriteSessionResultV2"].clone();
    assert_eq!(result["userId"], json!(first.user));
}

#[test]
fn sessions_are_evicted_before_registered_keys() {
    let mut fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    let keys = json!({"userId": root.user, "apiKeys": [{"apiKeyName": "service", "publicKey": public_key(50),
        "curveType": "API_KEY_CURVE_P256", "expirationSeconds": "31536000"}]});
    fixture.submit(&root, fixture.id, "ACTIVITY_TYPE_CREATE_API_KEYS_V2", &keys, NOW).expect("registered");
    for number in 30..45 {
        log_in(&mut fixture, &root, number, &json!({})).expect("a session");
    }
    let service = Person { number: 50, ..root.clone() };
    whoami(&fixture, &service, fixture.id, NOW).expect("the registered key is still valid");
    let first = Person { number: 30, ..root };
    whoami(&fixture, &first, fixture.id, NOW).expect_err("the oldest session was replaced");
}

#[test]
fn denied_attempts_of_all_sessions_of_a_user_count_together() {
    let mut fixture = Fixture::new(1);
    let user = fixture.user.clone();
    let tag = json!({"userTagName": "fresh", "userIds": []});
    let denied = |fixture: &Fixture| fixture.memory.rows(b'a').count();
    let before = denied(&fixture);
    let kept = quorate_core::limits::Limits::default().denied_activities;
    for session in 0..4 {
        let (session, _) = log_in(&mut fixture, &user, 30 + session, &json!({})).expect("a session");
        for _ in 0..kept / 2 {
            let error = fixture.submit(&session, fixture.id, "ACTIVITY_TYPE_CREATE_USER_TAG", &tag, NOW);
            assert_eq!(error.expect_err("denied").code, Code::PermissionDenied);
        }
    }
    let logins = 4;
    assert_eq!(denied(&fixture), before + logins + kept);
}

/// Opens a read-write session with a target key, and returns the person with the delivered key.
fn read_write(
    fixture: &mut Fixture,
    caller: &Person,
    organization: OrganizationId,
    more: &Value,
) -> Result<Person, ApiError> {
    let target = TargetKey::generate(&mut |buffer| buffer.fill(9));
    let mut parameters = json!({"targetPublicKey": target.public().hex()});
    for (name, value) in more.as_object().expect("an object") {
        parameters[name] = value.clone();
    }
    let answer = fixture.submit(caller, organization, READ_WRITE, &parameters, NOW)?;
    let result = &answer["activity"]["result"]["createReadWriteSessionResultV2"];
    let bundle = bs58::decode(result["credentialBundle"].as_str().expect("a bundle"));
    let bundle = bundle.with_check(None).into_vec().expect("Base58Check");
    assert_eq!(bundle.len(), 81);
    let (encapped, ciphertext) = bundle.split_at(33);
    let sealed =
        json!({"encappedPublic": const_hex::encode(encapped), "ciphertext": const_hex::encode(ciphertext)});
    let secret = target.open(&Sealed::parse(&sealed.to_string()).expect("a bundle")).expect("decrypts");
    let secret: [u8; 32] = secret.as_slice().try_into().expect("a secret key");
    let stamper = Stamper::new(ApiKeyCurve::P256, &secret).expect("a secret key");
    let user = result["userId"].as_str().expect("an id").parse().expect("an id");
    let home = result["organizationId"].as_str().expect("an id").parse().expect("an id");
    let person = Person { home, user, auth: AuthMethod::Mailed(secret), ..caller.clone() };
    let stored = fixture.memory.stored(home);
    let key = stored.user(user).expect("a user").api_keys.last().expect("a key");
    assert_eq!(key.public_key, stamper.public_key());
    Ok(person)
}

#[test]
fn a_read_write_session_is_delivered_to_the_target_key() {
    let mut fixture = Fixture::new(1);
    let (user, root, id) = (fixture.user.clone(), fixture.roots[0].clone(), fixture.id);
    let session = read_write(&mut fixture, &user, id, &json!({})).expect("a session of the caller");
    assert_eq!(whoami(&fixture, &session, id, NOW).expect("a user")["userId"], json!(user.user));
    whoami(&fixture, &session, id, NOW + 900_000).expect_err("the session has ended");
    // Sessions of other users need a policy or the root quorum.
    let of_user = json!({"userId": user.user});
    let spare = fixture.spare.clone();
    read_write(&mut fixture, &spare, id, &of_user).expect_err("not authorized");
    let session = read_write(&mut fixture, &root, id, &of_user).expect("the root quorum decides");
    assert_eq!(session.user, user.user);
}

#[test]
fn the_parent_opens_sessions_in_a_sub_organization_as_its_own_policies_allow() {
    let mut fixture = Fixture::new(1);
    let child = fixture.child.clone();
    let of_child = json!({"userId": child.user});
    let (root, user) = (fixture.roots[0].clone(), fixture.user.clone());
    let session =
        read_write(&mut fixture, &root, child.home, &of_child).expect("the parent's root quorum decides");
    assert_eq!(whoami(&fixture, &session, child.home, NOW).expect("a user")["userId"], json!(child.user));
    read_write(&mut fixture, &user, child.home, &of_child).expect_err("no policy of the parent allows it");
    let policy = json!({"policyName": "sessions", "effect": "EFFECT_ALLOW", "notes": "",
        "condition": "activity.resource == 'AUTH'", "consensus": format!("approvers.any(user, user.id == '{}')", user.user)});
    fixture.execute("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy);
    read_write(&mut fixture, &user, child.home, &of_child).expect("a policy of the parent allows it");
    // Sessions of the sub-organization do not act on the parent, and its other kinds stay closed to the parent.
    let tag = json!({"userTagName": "fresh", "userIds": []});
    let error = fixture.submit(&root, child.home, "ACTIVITY_TYPE_CREATE_USER_TAG", &tag, NOW);
    assert_eq!(error.expect_err("closed").turnkey_error_code.as_deref(), Some("ORGANIZATION_MISMATCH"));
}

#[test]
fn the_parent_cannot_wait_for_votes_in_a_sub_organization() {
    let mut fixture = Fixture::new(2);
    let (child, root) = (fixture.child.clone(), fixture.roots[0].clone());
    let error = read_write(&mut fixture, &root, child.home, &json!({"userId": child.user}));
    assert_eq!(error.expect_err("one of two approvals").code, Code::PermissionDenied);
}
