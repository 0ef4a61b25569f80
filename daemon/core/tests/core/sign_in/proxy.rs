//! The user of the authentication proxy, in whose name anonymous clients act.

use std::sync::Arc;

use quorate_common::api_error::{ApiError, Code};
use quorate_common::ids::{OrganizationId, UserId};
use quorate_common::stamp::Stamp;
use quorate_core::auth_proxy;
use quorate_core::authn::{Credentials, Header};
use quorate_core::budget::{Budget, Cancellation};
use quorate_core::limits::Limits;
use serde_json::{Value, json};

use super::attested::{BY_TOKEN, log_in, verification_token, verified};
use super::{EMAIL, init, submit};
use crate::changes::query_as_root;
use crate::fixture::{Fixture, NOW, public_key};

/// Enables the proxy, and returns its user.
pub(super) fn enabled(fixture: &mut Fixture) -> UserId {
    let enabled = fixture.execute("ACTIVITY_TYPE_ENABLE_AUTH_PROXY", &json!({}));
    enabled["result"]["enableAuthProxyResult"]["userId"].as_str().expect("an id").parse().expect("an id")
}

/// Stamps a body with the key that the daemon holds for the proxy.
fn stamped(fixture: &Fixture, body: &[u8]) -> Credentials {
    let stamper = auth_proxy::stamper(&fixture.memory, &fixture.memory.stored(fixture.id));
    let stamper = stamper.expect("the store is sound").expect("the proxy is enabled");
    let stamp: Stamp = stamper.stamp(body).expect("a stamp");
    Credentials { stamp: Header::Once(stamp.header()), ..Credentials::default() }
}

/// Submits an activity as the proxy does.
pub(super) fn submit_by_proxy(
    fixture: &mut Fixture,
    name: &str,
    parameters: &Value,
) -> Result<Value, ApiError> {
    let activity_type = format!("ACTIVITY_TYPE_{name}");
    let body = fixture.body(fixture.id, &activity_type, parameters, NOW);
    let credentials = stamped(fixture, &body);
    fixture.memory.submit(&name.to_lowercase(), &credentials, &body, NOW)
}

/// Finds the oldest sub-organization with a verified contact, as the proxy does.
fn account(fixture: &Fixture, filter: &str, contact: &str) -> Option<OrganizationId> {
    let body = json!({"organizationId": fixture.id, "filterType": filter, "filterValue": contact,
        "paginationOptions": {"limit": "100"}});
    let body = body.to_string().into_bytes();
    let answer = fixture.memory.query("list_verified_suborgs", &stamped(fixture, &body), &body, NOW);
    let ids = answer.expect("the proxy may look up")["organizationIds"].clone();
    let ids: Vec<OrganizationId> = serde_json::from_value(ids).expect("ids");
    auth_proxy::oldest(&fixture.memory, &ids).expect("the store is readable")
}

/// Returns the number of rows that a request reads, and that it adds.
fn work(fixture: &mut Fixture, run: impl FnOnce(&mut Fixture)) -> (usize, usize) {
    let budget = Arc::new(Budget::of_query(&Limits::default(), Cancellation::default()));
    fixture.memory.budget = Arc::clone(&budget);
    let before = fixture.memory.all_rows().len();
    run(fixture);
    fixture.memory.budget = Arc::new(Budget::unmetered());
    (budget.rows_taken(), fixture.memory.all_rows().len() - before)
}

#[test]
fn requests_of_the_proxy_never_wait() {
    let mut fixture = Fixture::new(1);
    enabled(&mut fixture);
    let any_two = json!({"policyName": "any two", "effect": "EFFECT_ALLOW", "condition": "true",
        "consensus": "approvers.count() >= 2", "notes": ""});
    fixture.execute("ACTIVITY_TYPE_CREATE_POLICY_V3", &any_two);
    let tag = json!({"userTagName": "fresh", "userIds": []});
    let waiting = |fixture: &Fixture| {
        let status = json!({"filterByStatus": ["ACTIVITY_STATUS_CONSENSUS_NEEDED"]});
        query_as_root(fixture, "list_activities", &status)["activities"].as_array().expect("a list").len()
    };
    let before = waiting(&fixture);
    let error = submit_by_proxy(&mut fixture, "CREATE_USER_TAG", &tag).expect_err("it would have to wait");
    assert_eq!(error.code, Code::PermissionDenied);
    assert_eq!(waiting(&fixture), before);
    let user = fixture.user.clone();
    let id = fixture.id;
    let other = submit(&mut fixture, &user, id, "CREATE_USER_TAG", &tag, NOW).expect("it waits");
    assert_eq!(other["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED");
}

#[test]
fn codes_of_the_proxy_do_not_open_its_own_organization() {
    let mut fixture = Fixture::new(1);
    verified(&mut fixture);
    let (id, root) = (fixture.id, fixture.roots[0].user);
    let own = json!({"userId": root, "userEmail": "admin@house.example"});
    fixture.execute("ACTIVITY_TYPE_UPDATE_USER_EMAIL", &own);
    let login = |fixture: &mut Fixture, contact: &'static str, number: u8| {
        let mut claims = verification_token(fixture);
        (claims.contact, claims.id) = (contact, number);
        let token = claims.sign(&fixture.memory);
        log_in(fixture, id, BY_TOKEN, &token)
    };
    // The address is verified by a login that the application's user sends.
    let mut claims = verification_token(&fixture);
    (claims.contact, claims.id, claims.key) = ("admin@house.example", 70, None);
    let token = claims.sign(&fixture.memory);
    let by_application = json!({"verificationToken": token, "publicKey": public_key(71)});
    fixture.execute("ACTIVITY_TYPE_OTP_LOGIN", &by_application);
    login(&mut fixture, "admin@house.example", 72)
        .expect("without the proxy, the token opens the organization");
    enabled(&mut fixture);
    let error =
        login(&mut fixture, "admin@house.example", 73).expect_err("anonymous clients get such tokens");
    assert_eq!(error.code, Code::Unauthenticated);
    login(&mut fixture, EMAIL, 74).expect("it opens a sub-organization");
}

#[test]
fn the_user_of_the_proxy_stays_as_the_proxy_made_it() {
    let mut fixture = Fixture::new(1);
    let user = enabled(&mut fixture);
    let root = fixture.roots[0].clone();
    let id = fixture.id;
    let key = fixture.memory.stored(id).user(user).expect("a user").api_keys[0].id;
    let keys = json!({"userId": user, "apiKeys": [{"apiKeyName": "new", "publicKey": public_key(60), "curveType": "API_KEY_CURVE_P256"}]});
    for (name, parameters) in [
        ("CREATE_API_KEYS_V2", keys),
        ("DELETE_API_KEYS", json!({"userId": user, "apiKeyIds": [key]})),
        ("UPDATE_USER_EMAIL", json!({"userId": user, "userEmail": "proxy@house.example"})),
        ("UPDATE_ROOT_QUORUM", json!({"threshold": 1, "userIds": [root.user, user]})),
    ] {
        submit(&mut fixture, &root, id, name, &parameters, NOW).expect_err(name);
    }
    let stored = fixture.memory.stored(id);
    assert!(stored.user(user).expect("a user").api_keys.len() == 1 && !stored.is_root(user));
    // What gives no authority can change, and the user can be removed.
    fixture.execute("ACTIVITY_TYPE_UPDATE_USER_NAME", &json!({"userId": user, "userName": "door"}));
    fixture.execute("ACTIVITY_TYPE_DISABLE_AUTH_PROXY", &json!({}));
    assert!(fixture.memory.stored(id).user(user).is_none());
}

#[test]
fn only_the_newest_failures_of_the_proxy_are_kept() {
    let mut fixture = Fixture::new(1);
    let user = enabled(&mut fixture);
    let codes = json!({"policyName": "codes", "effect": "EFFECT_ALLOW", "condition": "activity.resource == 'OTP'",
        "consensus": format!("approvers.any(user, user.id == '{user}')"), "notes": ""});
    fixture.execute("ACTIVITY_TYPE_CREATE_POLICY_V3", &codes);
    let kept = |fixture: &Fixture| fixture.memory.rows(b'a').count();
    let before = kept(&fixture);
    for number in 0..120 {
        let code = json!({"otpId": format!("00000000-0000-4000-8000-{number:012}"), "otpCode": "123456789"});
        let error = submit_by_proxy(&mut fixture, "VERIFY_OTP", &code).expect_err("there is no such code");
        assert_eq!(error.message, "Invalid OTP code");
    }
    assert_eq!(kept(&fixture) - before, 100);
}

#[test]
fn a_refused_code_counts_however_many_requests_of_the_proxy_were_denied() {
    let mut fixture = Fixture::new(1);
    fixture.memory.limits.denials_per_hour = 3;
    fixture.memory.limits.denied_activities = 2;
    let user = enabled(&mut fixture);
    let codes = json!({"policyName": "codes", "effect": "EFFECT_ALLOW", "condition": "activity.resource == 'OTP'",
        "consensus": format!("approvers.any(user, user.id == '{user}')"), "notes": ""});
    fixture.execute("ACTIVITY_TYPE_CREATE_POLICY_V3", &codes);
    let code = init(&mut fixture, "INIT_OTP", EMAIL, &json!({}), NOW).expect("a code is sent");
    let kept = |fixture: &Fixture| [b'a', b'h', b'd'].map(|class| fixture.memory.rows(class).count());
    let before = kept(&fixture);
    // Anonymous clients cause more denials than an hour has room for.
    for number in 0..20 {
        let tag = json!({"userTagName": format!("tag {number}"), "userIds": []});
        let error = submit_by_proxy(&mut fixture, "CREATE_USER_TAG", &tag).expect_err("no policy allows it");
        assert_eq!(error.code, Code::PermissionDenied);
        let unknown =
            json!({"otpId": format!("00000000-0000-4000-8000-{number:012}"), "otpCode": "123456789"});
        submit_by_proxy(&mut fixture, "VERIFY_OTP", &unknown).expect_err("there is no such code");
    }
    // Activities, bodies and denials.
    assert_eq!(kept(&fixture), before.map(|rows| rows + 2), "nothing of older ones is kept");
    for _ in 0..3 {
        let wrong = json!({"otpId": code.id, "otpCode": code.altered()});
        let error = submit_by_proxy(&mut fixture, "VERIFY_OTP", &wrong).expect_err("the code is wrong");
        assert_eq!(error.message, "Invalid OTP code");
    }
    let right = json!({"otpId": code.id, "otpCode": code.code});
    submit_by_proxy(&mut fixture, "VERIFY_OTP", &right).expect_err("the code is locked");
}

#[test]
fn unknown_contacts_take_as_much_work_as_known_ones() {
    let mut fixture = Fixture::new(1);
    verified(&mut fixture);
    let user = enabled(&mut fixture);
    let codes = json!({"policyName": "codes", "effect": "EFFECT_ALLOW", "condition": "activity.kind == 'INIT_OTP'",
        "consensus": format!("approvers.any(user, user.id == '{user}')"), "notes": ""});
    fixture.execute("ACTIVITY_TYPE_CREATE_POLICY_V3", &codes);
    // As long as the known address.
    let unknown = "root9@house.example";
    assert_eq!(unknown.len(), EMAIL.len());
    let child = fixture.child.home;
    let lookup = |fixture: &mut Fixture, contact: &str, expected: Option<OrganizationId>| {
        work(fixture, |fixture| {
            assert_eq!(account(fixture, "EMAIL", contact), expected);
        })
    };
    let (of_known, of_unknown) =
        (lookup(&mut fixture, EMAIL, Some(child)), lookup(&mut fixture, unknown, None));
    assert_eq!(of_known, of_unknown, "a lookup");
    assert!(of_known.0 > 0, "reads are counted");
    // The first code to each address, and a further one.
    for number in 1..=2 {
        let code = |fixture: &mut Fixture, contact: &str| {
            let init = json!({"otpType": "OTP_TYPE_EMAIL", "contact": contact, "otpLength": 9, "alphanumeric": true});
            work(fixture, |fixture| {
                drop(submit_by_proxy(fixture, "INIT_OTP", &init).expect("a code is sent"));
            })
        };
        let (of_known, of_unknown) = (code(&mut fixture, EMAIL), code(&mut fixture, unknown));
        assert_eq!(of_known, of_unknown, "code {number}");
        assert!(of_known.0 > 0 && of_known.1 > 0, "{of_known:?}");
    }
}
