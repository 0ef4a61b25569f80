//! The root quorum: K of N root users, each with one vote, under the rules at the time of the last vote.

use quorate_common::stamp::{ApiKeyCurve, Scheme, StampKey};
use quorate_tests::caller::{Caller, submit_path};
use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::keys::Key;
use quorate_tests::requests::{self, CREATE_API_KEYS, CREATE_USERS, CREATE_WALLET, UPDATE_ROOT_QUORUM};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const WAITING: &str = "CONSENSUS_NEEDED";

async fn propose(caller: &Caller, name: &str) -> Value {
    caller.waiting(CREATE_WALLET, &requests::wallet(name)).await
}

fn votes(activity: &Value) -> Vec<&str> {
    let votes = activity["votes"].as_array().expect("votes");
    votes.iter().map(|vote| vote["userId"].as_str().expect("a user id")).collect()
}

async fn wallet_names(caller: &Caller) -> Vec<String> {
    let wallets = caller.fetch("list_wallets", json!({})).await;
    let wallets = wallets["wallets"].as_array().expect("wallets").clone();
    wallets.iter().map(|wallet| wallet["walletName"].as_str().expect("a name").to_owned()).collect()
}

/// Changes the root quorum with the approvals of these users.
async fn set_quorum(daemon: &Daemon, voters: &[usize], threshold: u32, members: &[usize]) {
    let user_ids: Vec<&str> = members.iter().map(|&member| daemon.root_id(member)).collect();
    let parameters = json!({ "threshold": threshold, "userIds": user_ids });
    let mut activity = daemon.root(voters[0]).submit(UPDATE_ROOT_QUORUM, &parameters).await.activity();
    for &voter in &voters[1..] {
        activity = daemon.root(voter).approve(&activity["fingerprint"]).await.activity();
    }
    assert_eq!(activity["status"], "ACTIVITY_STATUS_COMPLETED", "{activity:#}");
    assert_eq!(activity["result"], json!({ "updateRootQuorumResult": {} }));
}

#[tokio::test]
async fn two_of_three_root_users_complete_an_activity() {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let (alice, bob, carol) = (daemon.root(0), daemon.root(1), daemon.root(2));
    let pending = propose(&alice, "two of three").await;
    assert_eq!(pending["result"], json!({}));
    assert_eq!(votes(&pending), [daemon.root_id(0)], "the proposer has approved by proposing");
    assert_eq!((&pending["canApprove"], &pending["canReject"]), (&json!(false), &json!(true)));
    let seen_by_carol = carol.activity(&pending["id"]).await;
    assert_eq!((&seen_by_carol["canApprove"], &seen_by_carol["canReject"]), (&json!(true), &json!(true)));
    assert!(wallet_names(&alice).await.is_empty(), "nothing runs before the threshold");

    let approved = bob.approved(&pending["fingerprint"]).await;
    assert_eq!(approved["id"], pending["id"], "an approval is answered with its target");
    assert!(approved["result"]["createWalletResult"]["walletId"].is_string(), "{approved:#}");
    assert_eq!(votes(&approved), [daemon.root_id(0), daemon.root_id(1)]);
    assert_eq!((&approved["canApprove"], &approved["canReject"]), (&json!(false), &json!(false)));
    assert_eq!(wallet_names(&alice).await, ["two of three"]);

    let own = bob.activities().await;
    let own = own
        .iter()
        .find(|activity| activity["type"] == "ACTIVITY_TYPE_APPROVE_ACTIVITY")
        .expect("the approval is recorded");
    assert_eq!(own["status"], "ACTIVITY_STATUS_COMPLETED");
    assert_eq!(own["intent"], json!({ "approveActivityIntent": { "fingerprint": pending["fingerprint"] } }));
}

#[tokio::test]
async fn votes_contain_a_verifiable_signature() {
    let daemon = Daemon::start(Options::quorum(2, 2)).await;
    let pending = propose(&daemon.root(0), "proof").await;
    let approved = daemon.root(1).approved(&pending["fingerprint"]).await;
    for (index, vote) in approved["votes"].as_array().expect("votes").iter().enumerate() {
        let text = |member: &str| vote[member].as_str().expect("a text").to_owned();
        let message = text("message");
        assert_eq!(text("publicKey"), daemon.root_key(index).public_key());
        let key = StampKey::parse(ApiKeyCurve::P256, &text("publicKey")).expect("a public key");
        let scheme = Scheme::from_name(&text("scheme")).expect("a scheme");
        assert!(
            key.verify(scheme, message.as_bytes(), &text("signature")),
            "the signature is over the message"
        );
        assert_eq!(vote["selection"], "VOTE_SELECTION_APPROVED");
        assert_eq!(vote["activityId"], pending["id"]);
        assert_eq!(vote["user"]["userId"], daemon.root_id(index));
        let body: Value = serde_json::from_str(&message).expect("a body");
        if index == 0 {
            let digest = const_hex::encode(Sha256::digest(&message));
            assert_eq!(approved["fingerprint"], format!("sha256:{digest}"), "the proposal is the first vote");
        } else {
            assert_eq!(body["parameters"]["fingerprint"], approved["fingerprint"]);
        }
    }
}

#[tokio::test]
async fn a_user_has_one_vote() {
    let daemon = Daemon::start(Options::quorum(1, 3)).await;
    let second_key = Key::named("bob's second key");
    let keys = requests::api_keys(daemon.root_id(1), &[requests::api_key("second", &second_key)]);
    daemon.root(1).completed(CREATE_API_KEYS, &keys).await;
    set_quorum(&daemon, &[0], 3, &[0, 1, 2]).await;

    let (alice, bob) = (daemon.root(0), daemon.root(1));
    let pending = propose(&alice, "one vote").await;
    let fingerprint = &pending["fingerprint"];
    assert_eq!(votes(&alice.approve(fingerprint).await.activity_in(WAITING)).len(), 1, "the proposer again");
    assert_eq!(votes(&bob.approve(fingerprint).await.activity_in(WAITING)).len(), 2);
    assert_eq!(votes(&bob.approve(fingerprint).await.activity_in(WAITING)).len(), 2, "the same user again");
    let other_key = bob.with_key(&second_key);
    assert_eq!(
        votes(&other_key.approve(fingerprint).await.activity_in(WAITING)).len(),
        2,
        "with another key"
    );
    let approved = daemon.root(2).approved(fingerprint).await;
    assert_eq!(votes(&approved).len(), 3);
}

#[tokio::test]
async fn a_rejection_is_final() {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let (alice, bob, carol) = (daemon.root(0), daemon.root(1), daemon.root(2));
    let pending = propose(&alice, "rejected").await;
    let rejection = bob.reject(&pending["fingerprint"]).await.activity_in("COMPLETED");
    assert_eq!(rejection["type"], "ACTIVITY_TYPE_REJECT_ACTIVITY", "a rejection is answered with itself");
    assert_eq!(
        rejection["intent"],
        json!({ "rejectActivityIntent": { "fingerprint": pending["fingerprint"] } })
    );
    assert_eq!(rejection["result"], json!({}));

    let target = alice.activity(&pending["id"]).await;
    assert_eq!(target["status"], "ACTIVITY_STATUS_REJECTED");
    assert_eq!(target["result"], json!({}));
    assert_eq!(target["votes"][1]["selection"], "VOTE_SELECTION_REJECTED");
    let late = carol.approve(&pending["fingerprint"]).await.activity_in("REJECTED");
    assert_eq!((&late["id"], votes(&late).len()), (&pending["id"], 2), "a terminal target stays as it is");
    assert!(wallet_names(&alice).await.is_empty());
}

#[tokio::test]
async fn votes_on_terminal_activities_return_the_target() {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let (alice, bob, carol) = (daemon.root(0), daemon.root(1), daemon.root(2));
    let pending = propose(&alice, "raced").await;
    let fingerprint = &pending["fingerprint"];
    let (first, second) = tokio::join!(bob.approve(fingerprint), carol.approve(fingerprint));
    let (first, second) = (first.activity_in("COMPLETED"), second.activity_in("COMPLETED"));
    assert_eq!(first["result"], second["result"], "two approvers race and both succeed");
    let late = alice.approved(fingerprint).await;
    assert_eq!((&late["id"], &late["result"]), (&first["id"], &first["result"]));
    bob.reject(fingerprint).await.activity();
    assert_eq!(alice.activity(&pending["id"]).await["status"], "ACTIVITY_STATUS_COMPLETED");
    assert_eq!(wallet_names(&alice).await, ["raced"]);
}

#[tokio::test]
async fn the_same_body_from_another_user_is_a_vote() {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let (alice, bob) = (daemon.root(0), daemon.root(1));
    let body = alice.proposal(CREATE_WALLET, &requests::wallet("same body"));
    let path = submit_path(CREATE_WALLET);
    let pending = alice.send(&path, &body).await.activity_in(WAITING);
    let again = alice.send(&path, &body).await.activity_in(WAITING);
    assert_eq!(again, pending, "the same body from the same user changes nothing");
    let voted = bob.send(&path, &body).await.activity_in("COMPLETED");
    assert_eq!(voted["id"], pending["id"]);
    assert_eq!(votes(&voted), [daemon.root_id(0), daemon.root_id(1)]);
    assert_eq!(wallet_names(&alice).await, ["same body"]);
}

#[tokio::test]
async fn threshold_changes_apply_to_waiting_activities() {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let (alice, bob, carol) = (daemon.root(0), daemon.root(1), daemon.root(2));
    let raised = propose(&alice, "raised").await;
    set_quorum(&daemon, &[0, 1], 3, &[0, 1, 2]).await;
    let two = bob.approve(&raised["fingerprint"]).await.activity_in(WAITING);
    assert_eq!(votes(&two).len(), 2, "two of three do not suffice any more");
    carol.approved(&raised["fingerprint"]).await;

    let lowered = propose(&alice, "lowered").await;
    set_quorum(&daemon, &[0, 1, 2], 2, &[0, 1, 2]).await;
    let unchanged = alice.activity(&lowered["id"]).await;
    assert_eq!(
        unchanged["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED",
        "decided again at the next vote only"
    );
    bob.approved(&lowered["fingerprint"]).await;
}

#[tokio::test]
async fn votes_of_removed_users_do_not_count() {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let (alice, bob, carol) = (daemon.root(0), daemon.root(1), daemon.root(2));
    let pending = propose(&alice, "removed").await;
    set_quorum(&daemon, &[1, 2], 2, &[1, 2]).await;
    bob.approve(&pending["fingerprint"]).await.activity_in(WAITING);
    let again = alice.approve(&pending["fingerprint"]).await.activity_in(WAITING);
    assert_eq!(votes(&again).len(), 2, "the proposer has voted already: {again:#}");
    carol.approved(&pending["fingerprint"]).await;

    let pending = propose(&bob, "deleted").await;
    alice.approve(&pending["fingerprint"]).await.expect_error(403, 7, "REQUEST_NOT_AUTHORIZED");
    let parameters = json!({ "userIds": [daemon.root_id(0)] });
    let deletion = bob.waiting("ACTIVITY_TYPE_DELETE_USERS", &parameters).await;
    carol.approved(&deletion["fingerprint"]).await;
    alice.query("whoami", json!({})).await.expect_error(401, 16, "PUBLIC_KEY_NOT_FOUND");
    alice.approve(&pending["fingerprint"]).await.expect_error(401, 16, "PUBLIC_KEY_NOT_FOUND");
    carol.approved(&pending["fingerprint"]).await;
}

#[tokio::test]
async fn votes_of_deleted_keys_do_not_count() {
    let daemon = Daemon::start(Options::quorum(1, 3)).await;
    let spare = Key::named("bob's spare key");
    let keys = requests::api_keys(daemon.root_id(1), &[requests::api_key("spare", &spare)]);
    daemon.root(1).completed(CREATE_API_KEYS, &keys).await;
    set_quorum(&daemon, &[0], 3, &[0, 1, 2]).await;

    let pending = propose(&daemon.root(0), "key gone").await;
    daemon.root(1).approve(&pending["fingerprint"]).await.activity_in(WAITING);
    let deletion =
        json!({ "userId": daemon.root_id(1), "apiKeyIds": [daemon.credentials().root_users[1].api_key_id] });
    let bob = daemon.root(1).with_key(&spare);
    let deletion = bob.submit("ACTIVITY_TYPE_DELETE_API_KEYS", &deletion).await.activity();
    if deletion["status"] != "ACTIVITY_STATUS_COMPLETED" {
        daemon.root(0).approve(&deletion["fingerprint"]).await.activity();
        daemon.root(2).approved(&deletion["fingerprint"]).await;
    }
    daemon.root(2).approve(&pending["fingerprint"]).await.activity_in(WAITING);
    bob.approved(&pending["fingerprint"]).await;
}

#[tokio::test]
async fn denied_requests_are_recorded() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let alice = daemon.root(0);
    let key = Key::named("outsider");
    requests::create_user(&alice, "outsider", &key).await;
    let outsider = alice.with_key(&key);

    let body = outsider.proposal(CREATE_WALLET, &requests::wallet("denied"));
    let path = submit_path(CREATE_WALLET);
    let before = alice.activities().await.len();
    for _ in 0..2 {
        let reply = outsider.send(&path, &body).await;
        let message = reply.expect_error(403, 7, "*");
        assert!(message.starts_with("You don't have sufficient permissions to take this action."), "{reply}");
        let detail = &reply.json()["details"][0];
        assert_eq!(detail["@type"], "type.googleapis.com/errors.v1.PolicyEnginePermissionError", "{reply}");
        assert_eq!(detail["message"], "No policies evaluated to outcome: Allow", "{reply}");
    }
    let activities = alice.activities().await;
    assert_eq!(activities.len(), before + 1, "the attempt is stored once");
    assert_eq!(activities[0]["status"], "ACTIVITY_STATUS_REJECTED");
    assert_eq!(activities[0]["type"], CREATE_WALLET);
    assert!(wallet_names(&alice).await.is_empty());

    outsider
        .submit(CREATE_USERS, &requests::user("friend", &Key::named("friend")))
        .await
        .expect_error(403, 7, "*");
    set_quorum(&daemon, &[0], 2, &[0, 1]).await;
    let pending = propose(&alice, "not for outsiders").await;
    let message =
        outsider.approve(&pending["fingerprint"]).await.expect_error(403, 7, "REQUEST_NOT_AUTHORIZED");
    assert_eq!(message, "request not authorized");
    outsider.reject(&pending["fingerprint"]).await.expect_error(403, 7, "REQUEST_NOT_AUTHORIZED");
    assert_eq!(alice.activity(&pending["id"]).await["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED");
}

#[tokio::test]
async fn users_manage_their_own_keys() {
    let daemon = Daemon::start(Options::quorum(2, 2)).await;
    let alice = daemon.root(0);
    let key = Key::named("own keys");
    let pending = alice.waiting(CREATE_USERS, &requests::user("outsider", &key)).await;
    let created = daemon.root(1).approve(&pending["fingerprint"]).await.result();
    let id = created["userIds"][0].as_str().expect("a user id").to_owned();
    let outsider = alice.with_key(&key);
    let second = Key::named("own keys, second");
    let own = requests::api_keys(&id, &[requests::api_key("second", &second)]);
    outsider.completed(CREATE_API_KEYS, &own).await;
    outsider.with_key(&second).fetch("whoami", json!({})).await;
    let other_user =
        requests::api_keys(daemon.root_id(0), &[requests::api_key("mine", &Key::named("intruder"))]);
    outsider.submit(CREATE_API_KEYS, &other_user).await.expect_error(403, 7, "*");
}

#[tokio::test]
async fn unknown_fingerprints_are_not_found() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let alice = daemon.root(0);
    let child_key = Key::named("child");
    let child =
        requests::create_sub_organization(&alice, "child", &[requests::root_user("root", &child_key)], 1)
            .await;
    set_quorum(&daemon, &[0], 2, &[0, 1]).await;
    let pending = propose(&alice, "of the parent").await;
    let in_child = alice.on(&child).with_key(&child_key);
    let unknown = json!(format!("sha256:{}", "ab".repeat(32)));
    for reply in [
        alice.approve(&unknown).await,
        alice.reject(&unknown).await,
        in_child.approve(&pending["fingerprint"]).await,
        in_child.reject(&pending["fingerprint"]).await,
    ] {
        let message = reply.expect_error(404, 5, "");
        assert!(message.starts_with("No activity found with fingerprint."), "{reply}");
    }
    let malformed = alice.approve(&json!("sha256:beef")).await;
    assert!([400, 404].contains(&malformed.status), "{malformed}");
    alice.on(&child).approve(&pending["fingerprint"]).await.expect_error(400, 3, "ORGANIZATION_MISMATCH");
}
