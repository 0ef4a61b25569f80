//! MFA policies of proposers and approvers, together with votes.

use quorate_common::fingerprint::Fingerprint;
use serde_json::json;

use super::{APPROVE, COMPLETED, NEEDED, Scene, WAITS, status};
use crate::changes::query_as_root;
use crate::fixture::{AuthMethod, NOW, Person};
use crate::samples;

const DAY: u64 = 24 * 60 * 60 * 1000;

/// Returns a scene in which both root users must approve, and the second root user by their passkey.
fn both() -> (Scene, Person) {
    let mut scene = Scene::new(2);
    let passkey = json!({"userId": scene.admin.user, "authenticators": [samples::authenticator("admin")]});
    scene.fixture.execute("ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2", &passkey);
    let touch = Person { auth: AuthMethod::Passkey("admin"), ..scene.admin.clone() };
    (scene, touch)
}

#[test]
fn the_proposer_comes_first_and_then_each_approver() {
    let (mut scene, touch) = both();
    let (owner, passkey, admin) = (scene.owner.clone(), scene.passkey.clone(), scene.admin.clone());
    scene.require(&owner, 0, "activity.resource == 'WALLET'", &["API_KEY", "PASSKEY"]);
    scene.require(&admin, 0, "activity.resource == 'WALLET'", &["API_KEY", "PASSKEY"]);
    let proposed = scene.propose(&owner, "both");
    assert_eq!(proposed.status, NEEDED);
    assert_eq!(scene.approve(&passkey, &proposed, NOW), WAITS);
    // The approver's first stamp is recorded, but the vote does not count yet.
    assert_eq!(scene.progress(&proposed, &admin), [(0, 2)]);
    assert_eq!(scene.approve(&admin, &proposed, NOW), WAITS);
    assert_eq!((scene.votes(&proposed), scene.progress(&proposed, &admin)), (3, vec![(1, 2)]));
    assert_eq!(scene.approve(&admin, &proposed, NOW), WAITS, "the same key proves no further step");
    assert_eq!(scene.votes(&proposed), 3);
    assert!(!scene.has_wallet("both"));
    assert_eq!(scene.approve(&touch, &proposed, NOW), COMPLETED);
    assert!(scene.has_wallet("both"));
}

#[test]
fn an_approval_before_the_proposer_is_done_is_kept() {
    let (mut scene, _) = both();
    let (owner, passkey, admin) = (scene.owner.clone(), scene.passkey.clone(), scene.admin.clone());
    scene.require(&owner, 0, "activity.resource == 'WALLET'", &["PASSKEY"]);
    let proposed = scene.propose(&owner, "early");
    assert_eq!(scene.approve(&admin, &proposed, NOW), NEEDED);
    assert!(!scene.has_wallet("early"));
    assert_eq!(scene.approve(&passkey, &proposed, NOW), COMPLETED);
}

#[test]
fn the_same_body_of_an_approver_is_only_a_first_step() {
    let (mut scene, touch) = both();
    let (owner, admin) = (scene.owner.clone(), scene.admin.clone());
    scene.require(&admin, 0, "activity.resource == 'WALLET'", &["API_KEY", "PASSKEY"]);
    let proposed = scene.propose(&owner, "same");
    for _ in 0..2 {
        let sent = scene.fixture.send(&admin, "create_wallet", &proposed.body, NOW).expect("the activity");
        assert_eq!(sent["activity"]["status"], status(WAITS));
        assert_eq!((scene.votes(&proposed), scene.progress(&proposed, &admin)), (2, vec![(1, 2)]));
    }
    assert_eq!(scene.approve(&touch, &proposed, NOW), COMPLETED);
}

#[test]
fn an_activity_waits_for_its_proposer_again_once_the_proofs_expired() {
    let (mut scene, _) = both();
    let (owner, passkey, admin) = (scene.owner.clone(), scene.passkey.clone(), scene.admin.clone());
    scene.require(&owner, 0, "activity.resource == 'WALLET'", &["PASSKEY"]);
    let proposed = scene.propose(&passkey, "slow");
    assert_eq!(proposed.status, WAITS);
    assert_eq!(scene.approve(&admin, &proposed, NOW + DAY), NEEDED);
    assert!(!scene.has_wallet("slow"));
    assert_eq!(scene.approve(&owner, &proposed, NOW + DAY), NEEDED);
    assert_eq!(scene.approve(&passkey, &proposed, NOW + DAY), COMPLETED);
}

#[test]
fn approvals_count_for_policies_only_with_the_proofs_of_their_users() {
    let mut scene = Scene::new(2);
    let (user, spare) = (scene.fixture.user.clone(), scene.fixture.spare.clone());
    let touch = Person { auth: AuthMethod::Passkey("spare"), ..spare.clone() };
    let pair = json!({"policyName": "pair", "effect": "EFFECT_ALLOW", "notes": "",
        "condition": "activity.kind == 'CREATE_WALLET'", "consensus": format!(
        "approvers.any(a, a.id == '{}') && approvers.any(a, a.id == '{}')", user.user, spare.user)});
    scene.fixture.execute("ACTIVITY_TYPE_CREATE_POLICY_V3", &pair);
    scene.require(&spare, 0, "true", &["API_KEY", "PASSKEY"]);
    let proposed = scene.propose(&user, "pair");
    assert_eq!(proposed.status, WAITS);
    assert_eq!(scene.approve(&spare, &proposed, NOW), WAITS);
    assert!(!scene.has_wallet("pair"));
    assert_eq!(scene.approve(&touch, &proposed, NOW), COMPLETED);
}

#[test]
fn flags_and_listings_show_what_waits_for_whom() {
    let (mut scene, _) = both();
    let (owner, passkey, admin) = (scene.owner.clone(), scene.passkey.clone(), scene.admin.clone());
    scene.require(&owner, 0, "activity.resource == 'WALLET'", &["API_KEY", "PASSKEY"]);
    let proposed = scene.propose(&owner, "flagged");
    let flags = |scene: &Scene, person: &Person| {
        let body =
            json!({"organizationId": scene.fixture.id, "activityId": proposed.id}).to_string().into_bytes();
        let found = scene.fixture.memory.query("get_activity", &person.stamps(&body), &body, NOW);
        let activity = found.expect("the activity")["activity"].clone();
        (activity["canApprove"].clone(), activity["canReject"].clone())
    };
    assert_eq!(flags(&scene, &owner), (json!(true), json!(true)), "the proposer can prove the next step");
    assert_eq!(flags(&scene, &admin), (json!(true), json!(true)));
    assert_eq!(scene.approve(&passkey, &proposed, NOW), WAITS);
    assert_eq!(flags(&scene, &owner), (json!(false), json!(true)));
    // Without a user, the query returns the proposer and everybody who approved.
    let query = json!({"activityId": proposed.id});
    let statuses = query_as_root(&scene.fixture, "get_mfa_status", &query);
    assert_eq!(statuses["mfaStatuses"].as_array().expect("a list").len(), 1);
}

#[test]
fn a_race_of_approvals_never_runs_twice_or_without_proof() {
    let (mut scene, touch) = both();
    let (owner, passkey, admin) = (scene.owner.clone(), scene.passkey.clone(), scene.admin.clone());
    scene.require(&owner, 0, "activity.resource == 'WALLET'", &["API_KEY", "PASSKEY"]);
    scene.require(&admin, 0, "activity.resource == 'WALLET'", &["PASSKEY"]);
    let proposed = scene.propose(&owner, "raced");
    let target = json!({"fingerprint": Fingerprint::of(&proposed.body)});
    let bodies = [(); 2].map(|()| scene.fixture.body(scene.fixture.id, APPROVE, &target, NOW));
    let memory = &mut scene.fixture.memory;
    let votes = [(&passkey, &bodies[0]), (&touch, &bodies[1])];
    let attempts =
        votes.map(|(person, body)| memory.attempt("approve_activity", &person.stamps(body), body, NOW));
    let done: Vec<bool> =
        attempts.into_iter().map(|attempt| memory.try_commit(attempt.commit.expect("a vote"))).collect();
    assert_eq!(done, [true, false], "both relied on the same state");
    assert!(!scene.has_wallet("raced"));
    let last = scene.fixture.send(&touch, "approve_activity", &bodies[1], NOW).expect("the vote counts");
    assert_eq!(last["activity"]["status"], status(COMPLETED));
}
