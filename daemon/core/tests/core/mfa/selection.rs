//! Which MFA policies apply to an activity.

use serde_json::json;

use super::{COMPLETED, NEEDED, Scene, short};
use crate::changes::{each, query_as_root};
use crate::fixture::NOW;

/// A condition that cannot be evaluated for the creation of a wallet.
const ERROR: &str = "eth.tx.value > 1";

#[test]
fn the_first_policy_whose_condition_is_true_applies() {
    let scene = Scene::new(1);
    // Policies by order and condition, and the orders of those that apply.
    for (policies, expected) in [
        (vec![], vec![]),
        (vec![(0, "false")], vec![]),
        (vec![(0, "true")], vec![0]),
        (vec![(0, "true"), (1, "true")], vec![0]),
        (vec![(1, "true"), (0, "true")], vec![0]),
        (vec![(0, "false"), (5, "true"), (9, "true")], vec![5]),
        (vec![(4_294_967_295, "true"), (3, "activity.kind == 'CREATE_WALLET'")], vec![3]),
        (vec![(0, "activity.action == 'SIGN'"), (1, "activity.resource == 'WALLET'")], vec![1]),
        // What cannot be evaluated applies, and does not hide what comes after it.
        (vec![(0, ERROR)], vec![0]),
        (vec![(0, ERROR), (1, "true"), (2, "true")], vec![0, 1]),
        (vec![(0, ERROR), (1, "false"), (2, "true")], vec![0, 2]),
        (vec![(0, "true"), (1, ERROR)], vec![0]),
        (vec![(0, "false"), (1, ERROR)], vec![1]),
    ] {
        let mut scene = Scene { fixture: scene.fixture.clone(), ..scene_of(&scene) };
        let owner = scene.owner.clone();
        let mut ids: Vec<(u32, String)> = Vec::new();
        for (order, condition) in &policies {
            ids.push((*order, scene.require(&owner, *order, condition, &["PASSKEY"])));
        }
        ids.sort();
        let proposed = scene.propose(&owner, "new");
        let is_free = expected.is_empty();
        assert_eq!(proposed.status, if is_free { COMPLETED } else { NEEDED }, "{policies:?}");
        assert_eq!(scene.has_wallet("new"), is_free, "{policies:?}");
        let query = json!({"activityId": proposed.id});
        let statuses = query_as_root(&scene.fixture, "get_mfa_status", &query)["mfaStatuses"].clone();
        let known = ids.iter().filter(|(order, _)| expected.contains(order));
        let known: Vec<_> = known.map(|(_, id)| json!(id)).collect();
        assert_eq!(each(&statuses, "mfaPolicyId"), known, "{policies:?}");
        // The policies of the user are listed in their order, whatever the order of their creation was.
        let listed = query_as_root(&scene.fixture, "get_mfa_policies", &json!({"userId": owner.user}));
        let all: Vec<_> = ids.iter().map(|(_, id)| json!(id)).collect();
        assert_eq!(each(&listed["mfaPolicies"], "mfaPolicyId"), all, "{policies:?}");
    }
}

fn scene_of(scene: &Scene) -> Scene {
    Scene {
        fixture: scene.fixture.clone(),
        owner: scene.owner.clone(),
        second_key: scene.second_key.clone(),
        passkey: scene.passkey.clone(),
        admin: scene.admin.clone(),
    }
}

#[test]
fn policies_apply_to_their_user_only() {
    let mut scene = Scene::new(1);
    let (owner, admin) = (scene.owner.clone(), scene.admin.clone());
    scene.require(&owner, 0, "true", &["PASSKEY"]);
    assert_eq!(scene.propose(&admin, "of another").status, COMPLETED);
    assert_eq!(scene.propose(&owner, "own").status, NEEDED);
    let user = query_as_root(&scene.fixture, "get_user", &json!({"userId": owner.user}))["user"].clone();
    assert_eq!(each(&user["mfaPolicies"], "condition"), [json!("true")]);
    let next = scene.propose(&owner, "next");
    let voter = scene.activity(&next)["votes"][0]["user"].clone();
    assert_eq!(voter["mfaPolicies"], json!([]), "votes do not repeat the policies");
}

#[test]
fn conditions_that_exceed_the_step_budget_apply() {
    let mut scene = Scene::new(1);
    let owner = scene.owner.clone();
    // Each level multiplies the work, over a list of twelve elements.
    let list = "['a','b','c','d','e','f','g','h','i','j','k','l']";
    let mut condition = "false".to_owned();
    for variable in ["v", "w", "x", "y", "z"] {
        condition = format!("{list}.any({variable}, {condition})");
    }
    scene.require(&owner, 0, &condition, &["PASSKEY"]);
    let proposed = scene.propose(&owner, "costly");
    assert_eq!(proposed.status, NEEDED);
    let passkey = scene.passkey.clone();
    assert_eq!(scene.approve(&passkey, &proposed, NOW), COMPLETED);
}

#[test]
fn a_batch_needs_what_each_of_its_subjects_needs() {
    let mut scene = Scene::new(1);
    let owner = scene.owner.clone();
    let account = |name: &str| json!({"walletName": name, "accounts": []});
    let mut wallets = Vec::new();
    for name in ["first", "second"] {
        let admin = scene.admin.clone();
        let created =
            scene.submit(&admin, "ACTIVITY_TYPE_CREATE_WALLET", &account(name), NOW).expect("a wallet");
        wallets.push(created["result"]["createWalletResult"]["walletId"].clone());
    }
    scene.require(&owner, 0, "wallet.label == 'first'", &["PASSKEY"]);
    scene.require(&owner, 1, "wallet.label == 'second'", &["API_KEY 2"]);
    let deletion = json!({"walletIds": wallets, "deleteWithoutExport": true});
    let proposed = scene.propose_any(&owner, "ACTIVITY_TYPE_DELETE_WALLETS", &deletion);
    assert_eq!((proposed.status.as_str(), scene.progress(&proposed, &owner)), (NEEDED, vec![(0, 1), (0, 1)]));
    let (passkey, second) = (scene.passkey.clone(), scene.second_key.clone());
    assert_eq!(scene.approve(&passkey, &proposed, NOW), NEEDED);
    assert_eq!(scene.approve(&second, &proposed, NOW), COMPLETED);
}

#[test]
fn a_request_that_is_denied_anyway_does_not_wait() {
    let mut scene = Scene::new(2);
    let user = scene.fixture.user.clone();
    scene.require(&user, 0, "true", &["PASSKEY"]);
    let wallet = json!({"walletName": "denied", "accounts": []});
    let error =
        scene.submit(&user, "ACTIVITY_TYPE_CREATE_WALLET", &wallet, NOW).expect_err("no policy allows it");
    assert!(error.message.starts_with("You don't have sufficient permissions"));
    let list = json!({"filterByStatus": ["ACTIVITY_STATUS_AUTHENTICATORS_NEEDED"]});
    let waiting = query_as_root(&scene.fixture, "list_activities", &list);
    assert_eq!(waiting["activities"], json!([]));
    // Once a policy allows it, it waits for the proof.
    let allow = json!({"policyName": "all", "effect": "EFFECT_ALLOW", "notes": "",
        "consensus": format!("approvers.any(user, user.id == '{}')", user.user)});
    scene.fixture.execute("ACTIVITY_TYPE_CREATE_POLICY_V3", &allow);
    let waits = scene.submit(&user, "ACTIVITY_TYPE_CREATE_WALLET", &wallet, NOW).expect("it waits");
    assert_eq!(short(&waits), NEEDED);
    let waiting = query_as_root(&scene.fixture, "list_activities", &list);
    assert_eq!(each(&waiting["activities"], "id"), [waits["id"].clone()]);
}
