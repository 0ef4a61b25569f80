//! The root quorum can always be met: at least `threshold` of its members have a credential that does not
//! expire.

use quorate_common::api_error::{ApiError, Code};
use quorate_common::bounded::Label;
use quorate_core::creation;
use quorate_core::limits::Limits;
use quorate_core::model::layout::IndexKey;
use serde_json::{Value, json};

use crate::fixture::{Fixture, NOW, Person, new_user, public_key};
use crate::samples;

const MESSAGE: &str = "quorum threshold cannot always be met";

fn assert_quorum_error(answer: Result<Value, ApiError>) {
    let error = answer.expect_err("the quorum could become unreachable");
    assert_eq!(error.code, Code::InvalidArgument);
    assert!(error.message.starts_with(MESSAGE), "{}", error.message);
}

fn submit_as_root(fixture: &mut Fixture, activity_type: &str, parameters: &Value) -> Result<Value, ApiError> {
    let root = fixture.roots[0].clone();
    fixture.submit(&root, fixture.id, activity_type, parameters, NOW)
}

#[test]
fn quorums_need_enough_members_with_lasting_keys() {
    let mut fixture = Fixture::new(1);
    let (root, expiring) = (fixture.roots[0].user, fixture.expiring.user);
    let quorum = |threshold: u32| json!({"threshold": threshold, "userIds": [root, expiring]});
    assert_quorum_error(submit_as_root(&mut fixture, "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", &quorum(2)));
    let alone = json!({"threshold": 1, "userIds": [expiring]});
    assert_quorum_error(submit_as_root(&mut fixture, "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", &alone));
    submit_as_root(&mut fixture, "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", &quorum(1))
        .expect("one key does not expire");
}

#[test]
fn last_lasting_credential_of_a_needed_member_cannot_be_deleted() {
    let mut fixture = Fixture::new(2);
    let root = fixture.roots[0].clone();
    let key = json!({"apiKeyName": "short", "publicKey": public_key(30), "expirationSeconds": "60"});
    let keys = json!({"userId": root.user, "apiKeys": [key]});
    fixture
        .submit(&root, fixture.id, "ACTIVITY_TYPE_CREATE_API_KEYS", &keys, NOW)
        .expect("users may change their own credentials");
    let deletion = json!({"userId": root.user, "apiKeyIds": root.keys});
    assert_quorum_error(fixture.submit(&root, fixture.id, "ACTIVITY_TYPE_DELETE_API_KEYS", &deletion, NOW));
    // A passkey does not expire either.
    let passkey = json!({"userId": root.user, "authenticators": [samples::authenticator("root")]});
    let created = fixture.submit(&root, fixture.id, "ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2", &passkey, NOW);
    let created = created.expect("users may change their own credentials")["activity"]["result"]["createAuthenticatorsResult"].clone();
    fixture
        .submit(&root, fixture.id, "ACTIVITY_TYPE_DELETE_API_KEYS", &deletion, NOW)
        .expect("the passkey remains");
    let short = Person { number: 30, ..root.clone() };
    let deletion = json!({"userId": root.user, "authenticatorIds": created["authenticatorIds"]});
    assert_quorum_error(fixture.submit(
        &short,
        fixture.id,
        "ACTIVITY_TYPE_DELETE_AUTHENTICATORS",
        &deletion,
        NOW,
    ));
    // With a lower threshold, the other members may have only keys that expire.
    let members = fixture.roots.each_ref().map(|root| root.user);
    fixture.roots[0] = short.clone();
    fixture.execute("ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", &json!({"threshold": 1, "userIds": members}));
    fixture
        .submit(&short, fixture.id, "ACTIVITY_TYPE_DELETE_AUTHENTICATORS", &deletion, NOW)
        .expect("one lasting credential remains");
}

#[test]
fn waiting_quorum_changes_are_checked_again_on_execution() {
    let mut fixture = Fixture::new(2);
    let roots = fixture.roots.clone();
    let members = json!({"threshold": 1, "userIds": [fixture.spare.user]});
    let body = fixture.body(fixture.id, "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", &members, NOW);
    fixture.send(&roots[0], "update_root_quorum", &body, NOW).expect("the activity waits");
    let spare = fixture.spare.clone();
    let key = json!({"apiKeyName": "short", "publicKey": public_key(30), "expirationSeconds": "60"});
    let keys = json!({"userId": spare.user, "apiKeys": [key]});
    fixture
        .submit(&spare, fixture.id, "ACTIVITY_TYPE_CREATE_API_KEYS", &keys, NOW)
        .expect("users may change their own credentials");
    for (activity_type, deletion) in [
        ("ACTIVITY_TYPE_DELETE_AUTHENTICATORS", json!({"authenticatorIds": [spare.authenticator]})),
        ("ACTIVITY_TYPE_DELETE_API_KEYS", json!({"apiKeyIds": spare.keys})),
    ] {
        let mut deletion = deletion;
        deletion["userId"] = json!(spare.user);
        fixture
            .submit(&spare, fixture.id, activity_type, &deletion, NOW)
            .expect("the user is not a root user");
    }
    let answer = fixture.send(&roots[1], "update_root_quorum", &body, NOW).expect("the vote counts");
    assert_eq!(answer["activity"]["status"], "ACTIVITY_STATUS_FAILED");
    let failure = answer["activity"]["failure"]["message"].as_str().expect("the message states the reason");
    assert!(failure.starts_with(MESSAGE), "{failure}");
}

#[test]
fn new_organizations_need_root_users_with_lasting_credentials() {
    let mut fixture = Fixture::new(1);
    let activity_type = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7";
    let root = |name: &str, number: u32, members: Value| {
        let mut key =
            json!({"apiKeyName": "key", "publicKey": public_key(number), "expirationSeconds": "60"});
        key["curveType"] = json!("API_KEY_CURVE_P256");
        let mut user =
            json!({"userName": name, "apiKeys": [key], "authenticators": [], "oauthProviders": []});
        for (member, value) in members.as_object().expect("an object") {
            user[member] = value.clone();
        }
        user
    };
    let child = |users: Value, threshold: u32| json!({"subOrganizationName": "short", "rootUsers": users, "rootQuorumThreshold": threshold});
    let short = || root("short", 50, json!({}));
    let passkey = || root("passkey", 51, json!({"authenticators": [samples::authenticator("child")]}));
    let mail = |number| root("mail", number, json!({"userEmail": "root@child.example"}));
    assert_quorum_error(submit_as_root(&mut fixture, activity_type, &child(json!([short()]), 1)));
    assert_quorum_error(submit_as_root(&mut fixture, activity_type, &child(json!([short(), passkey()]), 2)));
    submit_as_root(&mut fixture, activity_type, &child(json!([short(), passkey()]), 1))
        .expect("the passkey does not expire");
    // Users who can sign in by email need no key.
    submit_as_root(&mut fixture, activity_type, &child(json!([mail(52)]), 1))
        .expect("sign-in by email is enabled");
    let mut without = child(json!([mail(53)]), 1);
    without["disableEmailAuth"] = json!(true);
    without["disableOtpEmailAuth"] = json!(true);
    assert_quorum_error(submit_as_root(&mut fixture, activity_type, &without));

    let mut user = new_user("short", 60);
    user.api_keys.iter_mut().for_each(|key| key.expiration_seconds = Some(60));
    let new_organization = fixture.memory.with_runtime(NOW, |_, runtime| {
        let name = Label::parse("short".to_owned()).expect("a label");
        creation::organization(name, vec![user], 1, &Limits::default(), &IndexKey::new([7; 32]), runtime)
    });
    let error = new_organization.err().expect("the quorum could become unreachable").api_error();
    assert!(error.message.starts_with(MESSAGE), "{}", error.message);
}
