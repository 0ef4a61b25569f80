//! Who can change MFA policies, and what a change means for activities that wait.

use quorate_common::api_error::Code;
use serde_json::json;

use super::{COMPLETED, CREATE, NEEDED, Scene, short, status};
use crate::changes::{each, query_as_root};
use crate::fixture::NOW;

const UPDATE: &str = "ACTIVITY_TYPE_UPDATE_MFA_POLICY";
const DELETE: &str = "ACTIVITY_TYPE_DELETE_MFA_POLICY";

#[test]
fn users_cannot_weaken_their_own_policies_without_meeting_them() {
    let mut scene = Scene::new(1);
    let (owner, passkey) = (scene.owner.clone(), scene.passkey.clone());
    // The conditions of these policies do not match changes of MFA policies.
    let sign = scene.require(&owner, 5, "activity.action == 'SIGN'", &["PASSKEY"]);
    let export = scene.require(&owner, 9, "activity.action == 'EXPORT'", &["PASSKEY"]);
    let of = |id: &str| json!({"userId": owner.user, "mfaPolicyId": id});
    let with = |id: &str, member: &str, value| {
        let mut parameters = of(id);
        parameters[member] = value;
        parameters
    };
    let weak = scene.policy(&owner, 0, "true", &["API_KEY"]);
    let middle = scene.policy(&owner, 7, "true", &["API_KEY"]);
    let last = scene.policy(&owner, 10, "true", &["API_KEY"]);
    // The number of policies that the user must meet.
    for (activity_type, parameters, guards) in [
        (DELETE, of(&sign), 1),
        (UPDATE, with(&sign, "mfaPolicyName", json!("fresh")), 1),
        (UPDATE, with(&sign, "requiredAuthenticationMethods", json!([scene.step("API_KEY")])), 1),
        // With another condition or order it can take precedence over the later one.
        (UPDATE, with(&sign, "condition", json!("true")), 2),
        (UPDATE, with(&sign, "order", json!(11)), 2),
        (UPDATE, with(&export, "order", json!(1)), 2),
        (UPDATE, with(&export, "condition", json!("true")), 1),
        (CREATE, weak, 2),
        (CREATE, middle, 1),
        (CREATE, last, 0),
    ] {
        let mut scene = Scene { fixture: scene.fixture.clone(), ..Scene::new(1) };
        let proposed = scene.propose_any(&owner, activity_type, &parameters);
        if guards == 0 {
            assert_eq!(proposed.status, COMPLETED, "{activity_type} {parameters}");
            continue;
        }
        assert_eq!(proposed.status, NEEDED, "{activity_type} {parameters}");
        assert_eq!(scene.progress(&proposed, &owner), vec![(0, 1); guards], "{activity_type} {parameters}");
        assert_eq!(scene.approve(&passkey, &proposed, NOW), COMPLETED, "{activity_type} {parameters}");
    }
    // Somebody else who is authorized can change them, for example after the loss of a passkey.
    let admin = scene.admin.clone();
    let deleted = scene.submit(&admin, DELETE, &of(&sign), NOW).expect("another root user decides");
    assert_eq!(short(&deleted), COMPLETED);
}

#[test]
fn users_without_authority_cannot_change_policies() {
    let mut scene = Scene::new(1);
    let user = scene.fixture.user.clone();
    let spare = scene.fixture.spare.clone();
    let create = scene.policy(&user, 0, "true", &["API_KEY"]);
    let policy = json!({"userId": spare.user, "mfaPolicyId": scene.fixture.mfa_policy});
    for (activity_type, parameters) in [(CREATE, create.clone()), (DELETE, policy.clone()), (UPDATE, policy)]
    {
        let error = scene.submit(&user, activity_type, &parameters, NOW).expect_err("no policy allows it");
        assert_eq!(error.code, Code::PermissionDenied);
    }
    let allow = json!({"policyName": "own", "effect": "EFFECT_ALLOW", "notes": "",
        "condition": "activity.resource == 'MFA_POLICY' && activity.action == 'CREATE'",
        "consensus": format!("approvers.any(user, user.id == '{}')", user.user)});
    scene.fixture.execute("ACTIVITY_TYPE_CREATE_POLICY_V3", &allow);
    let created = scene.submit(&user, CREATE, &create, NOW).expect("a policy allows it");
    assert_eq!(short(&created), COMPLETED);
}

#[test]
fn errors_name_the_contact_that_is_not_verified() {
    let mut scene = Scene::new(1);
    let (owner, admin) = (scene.owner.clone(), scene.admin.clone());
    let none = "the user has no credential for `requiredAuthenticationMethods[0]`";
    let mut refused = |step: &str, expected: &str, email: &str, phone: &str| {
        let mut set = |kind: &str, parameters| {
            scene.fixture.execute(&format!("ACTIVITY_TYPE_UPDATE_USER_{kind}"), &parameters)
        };
        set("EMAIL", json!({"userId": owner.user, "userEmail": email}));
        set("PHONE_NUMBER", json!({"userId": owner.user, "userPhoneNumber": phone}));
        let parameters = scene.policy(&owner, 5, "true", &[step]);
        let error = scene.submit(&admin, CREATE, &parameters, NOW).expect_err("the step cannot be proven");
        assert_eq!(error.message, format!("{none}{expected}"));
    };
    refused("EMAIL_OTP", ": the user has no email address", "", "");
    refused("SMS_OTP", ": the user has no phone number", "", "");
    refused("OAUTH", "", "ann@example.org", "+12025550123");
    refused(
        "EMAIL_OTP",
        ": the email address ann@example.org is not verified; log in once with a code that was sent to it, or submit \
         UPDATE_USER_EMAIL with it and a verification token",
        "ann@example.org",
        "",
    );
    refused(
        "OAUTH|SMS_OTP",
        ": the phone number +12025550123 is not verified; log in once with a code that was sent to it, or submit \
         UPDATE_USER_PHONE_NUMBER with it and a verification token",
        "",
        "+12025550123",
    );
}

#[test]
fn updates_keep_what_they_do_not_name() {
    let mut scene = Scene::new(1);
    let (owner, admin) = (scene.owner.clone(), scene.admin.clone());
    let id = scene.require(&owner, 5, "false", &["PASSKEY"]);
    let get = |scene: &Scene| {
        let query = json!({"userId": owner.user, "mfaPolicyId": id});
        query_as_root(&scene.fixture, "get_mfa_policy", &query)["mfaPolicy"].clone()
    };
    let before = get(&scene);
    assert_eq!(
        before["requiredAuthenticationMethods"],
        json!([{"any": [{"type": "AUTHENTICATION_TYPE_PASSKEY"}]}])
    );
    assert_eq!((&before["order"], &before["condition"]), (&json!(5), &json!("false")));
    assert!(before.get("notes").is_none());
    for (member, value) in [
        ("mfaPolicyName", json!("renamed")),
        ("condition", json!("activity.action == 'SIGN'")),
        ("order", json!(2)),
        ("notes", json!("why")),
        ("requiredAuthenticationMethods", json!([scene.step("PASSKEY|API_KEY 1")])),
    ] {
        let mut expected = get(&scene);
        let mut parameters = json!({"userId": owner.user, "mfaPolicyId": id});
        parameters[member] = value.clone();
        let updated = scene.submit(&admin, UPDATE, &parameters, NOW + 5000).expect("it is updated");
        assert_eq!(updated["result"]["updateMfaPolicyResult"]["mfaPolicyId"], json!(id));
        expected[member] = value;
        expected["updatedAt"] = json!({"seconds": ((NOW + 5000) / 1000).to_string(), "nanos": "0"});
        assert_eq!(get(&scene), expected);
    }
    let deletion = json!({"userId": owner.user, "mfaPolicyId": id});
    let deleted = scene.submit(&admin, DELETE, &deletion, NOW).expect("it is deleted");
    assert_eq!(deleted["result"]["deleteMfaPolicyResult"]["mfaPolicyId"], json!(id));
    let left = query_as_root(&scene.fixture, "get_mfa_policies", &json!({"userId": owner.user}));
    assert_eq!(left["mfaPolicies"], json!([]));
}

#[test]
fn waiting_activities_follow_the_current_policies() {
    let mut scene = Scene::new(1);
    let (owner, passkey, admin) = (scene.owner.clone(), scene.passkey.clone(), scene.admin.clone());
    let id = scene.require(&owner, 5, "activity.resource == 'WALLET'", &["PASSKEY"]);
    let of = json!({"userId": owner.user, "mfaPolicyId": id});
    let names = ["stricter", "deleted", "added"];
    let [stricter, deleted, _] = names.map(|name| scene.propose(&owner, name));
    // A stricter policy applies to what waits already.
    let mut update = of.clone();
    update["requiredAuthenticationMethods"] = json!([scene.step("PASSKEY"), scene.step("API_KEY 2")]);
    scene.submit(&admin, UPDATE, &update, NOW).expect("it is updated");
    assert_eq!(scene.approve(&passkey, &stricter, NOW), NEEDED);
    assert_eq!(scene.progress(&stricter, &owner), [(1, 2)]);
    // Without the policy nothing is missing, and the next vote runs the activity.
    scene.submit(&admin, DELETE, &of, NOW).expect("it is deleted");
    assert_eq!(scene.activity(&deleted)["status"], status(NEEDED));
    assert_eq!(scene.progress(&deleted, &owner), []);
    assert_eq!(scene.approve(&owner, &deleted, NOW), COMPLETED);
    assert!(scene.has_wallet("deleted"));
    // A policy that is created while an activity waits for votes applies to its proposer and its voters.
    let mut scene = Scene::new(2);
    let waiting = scene.propose(&owner, "added");
    scene.require(&owner, 0, "activity.resource == 'WALLET'", &["PASSKEY"]);
    let admin = scene.admin.clone();
    assert_eq!(scene.approve(&admin, &waiting, NOW), NEEDED);
    assert_eq!(scene.approve(&passkey, &waiting, NOW), COMPLETED);
}

#[test]
fn the_operator_removes_the_policies_of_one_user() {
    let mut scene = Scene::new(1);
    let (owner, admin) = (scene.owner.clone(), scene.admin.clone());
    let condition = "activity.resource == 'WALLET'";
    scene.require(&owner, 0, condition, &["PASSKEY"]);
    scene.require(&owner, 1, "false", &["PASSKEY"]);
    scene.require(&admin, 0, "false", &["API_KEY"]);
    let waiting = scene.propose(&owner, "waiting");
    assert_eq!(waiting.status, NEEDED);
    let before = scene.fixture.memory.stored(scene.fixture.id);
    let user = before.user(owner.user).expect("the user exists");
    let index = quorate_core::world::World::index(&scene.fixture.memory);
    let commit = quorate_core::creation::remove_mfa_policies(&before, user, index, NOW + 1);
    let commit = commit.expect("the records encode");
    assert!(scene.fixture.memory.try_commit(commit));
    let after = scene.fixture.memory.stored(scene.fixture.id);
    assert_eq!(after.head.version, before.head.version + 1);
    let policies = |id| after.user(id).expect("the user exists").mfa_policies.len();
    assert_eq!((policies(owner.user), policies(admin.user)), (0, 1));
    assert_eq!(scene.propose(&owner, "free").status, COMPLETED);
    // What waits needs one more approval of its proposer.
    assert!(!scene.has_wallet("waiting"));
    assert_eq!(scene.approve(&owner, &waiting, NOW + 1), COMPLETED);
}

#[test]
fn limits_are_enforced() {
    let mut scene = Scene::new(1);
    let (owner, admin) = (scene.owner.clone(), scene.admin.clone());
    for order in 0..10 {
        scene.require(&owner, order, "false", &["PASSKEY"]);
    }
    let eleventh = scene.policy(&owner, 10, "false", &["PASSKEY"]);
    let error = scene.submit(&admin, CREATE, &eleventh, NOW).expect_err("ten are allowed");
    assert_eq!(error.code, Code::ResourceExhausted);
    assert_eq!(error.message, "organization has reached its limit of 10 MFA policies per user");
    // The length of a condition is limited as that of a policy, and their total is as well.
    let user = scene.fixture.user.clone();
    let long = |bytes: usize| format!("true{}", " ".repeat(bytes - 4));
    let parameters = scene.policy(&user, 0, &long(64 * 1024 + 1), &["PASSKEY"]);
    let error = scene.submit(&admin, CREATE, &parameters, NOW).expect_err("it is too long");
    assert_eq!(error.code, Code::InvalidArgument);
    for order in 0..10 {
        let parameters = scene.policy(&user, order, &long(64 * 1024), &["PASSKEY"]);
        scene.submit(&admin, CREATE, &parameters, NOW).expect("within the limit");
    }
    let spare = scene.fixture.spare.clone();
    let mut answers = (10..19).map(|order| {
        let parameters = scene.policy(&spare, order, &long(64 * 1024), &["PASSKEY"]);
        scene.submit(&admin, CREATE, &parameters, NOW)
    });
    let error = answers.find_map(Result::err).expect("the total is limited");
    assert!(error.message.ends_with("bytes of policy expressions (`policy_bytes`)"), "{}", error.message);
}

#[test]
fn activities_that_cannot_wait_are_denied() {
    let mut scene = Scene::new(1);
    let (owner, passkey) = (scene.owner.clone(), scene.passkey.clone());
    scene.require(&owner, 0, "true", &["PASSKEY"]);
    // A user of the parent acts in a sub-organization, whose users vote on its activities.
    let child = scene.fixture.child.clone();
    let session = json!({"targetPublicKey": crate::fixture::target_public_key(31), "userId": child.user});
    let read_write = "ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2";
    let answer = scene.fixture.submit(&owner, child.home, read_write, &session, NOW);
    let error = answer.expect_err("the proof is missing");
    assert_eq!(error.code, Code::PermissionDenied);
    assert!(error.message.starts_with("this activity cannot wait for further authentication methods"));
    let answer = scene.fixture.submit(&passkey, child.home, read_write, &session, NOW);
    assert_eq!(answer.expect("the request itself proves it")["activity"]["status"], status(COMPLETED));
}

#[test]
fn a_deleted_user_leaves_no_policies() {
    let mut scene = Scene::new(1);
    let user = scene.fixture.user.clone();
    scene.require(&user, 0, "true", &["PASSKEY"]);
    scene.fixture.execute("ACTIVITY_TYPE_DELETE_USERS", &json!({"userIds": [user.user]}));
    let users = query_as_root(&scene.fixture, "list_users", &json!({}));
    let policies: usize =
        each(&users["users"], "mfaPolicies").iter().map(|list| list.as_array().expect("a list").len()).sum();
    assert_eq!(policies, 1, "that of the spare user");
}
