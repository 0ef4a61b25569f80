//! Delegated access: a backend that sets up a sub-organization keeps one narrow right there, which it cannot widen,
//! and the end user sees and ends it.

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::operator::Operator;
use quorate_tests::proof;
use serde_json::{Value, json};

use crate::rulings::{NOTHING_ALLOWS, denial, denied, evaluated, listed, play, said, text};

const COMPLETED: &str = "ACTIVITY_STATUS_COMPLETED";

#[tokio::test]
async fn a_backend_keeps_one_right() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let mut story = play(&daemon, "delegation");
    let house = story.hears();
    let (people, policy) = (&house["people"], &house["policy"]);
    assert_eq!(house["asRoot"]["status"], COMPLETED, "a root user of a quorum of one may do all: {house:#}");
    assert_eq!(house["left"]["status"], COMPLETED, "{house:#}");
    let owner = Operator::of(&daemon, text(&house["organizationId"]), &people["owner"]);
    inspected(&owner, &house).await;

    let done = story.goes_on();
    let (signed, id) = (&done["signed"], &policy["policyId"]);
    assert_eq!(signed["status"], COMPLETED, "{signed:#}");
    assert_eq!(signed["voters"], json!([people["backend"]["userId"]]));
    evaluated(signed, &[&[(id, "OUTCOME_ALLOW")]]);
    assert!(proof::signed(text(&house["granted"]), b"by the backend", &signed["signature"]), "{signed:#}");
    judge_attempts(&done["attempts"], id);
    for member in ["policyId", "condition", "consensus"] {
        assert_eq!(done["policy"][member], policy[member], "it is as it was made");
    }
    seen_by_owner(&owner, &house, signed).await;

    let last = story.goes_on();
    assert_eq!(last["byOwner"]["status"], COMPLETED, "the end user needs no policy: {last:#}");
    denied(&last["after"], NOTHING_ALLOWS, &[]);
    let organization = owner.run(&["org", "get"]).await.with(0).json();
    assert_eq!(organization["policies"], json!([]));
    story.ends().await;
}

/// The command line shows who decides, and the one policy.
async fn inspected(owner: &Operator, house: &Value) {
    let organization = owner.run(&["org", "get"]).await.with(0).json();
    assert_eq!(organization["organizationId"], house["organizationId"]);
    let quorum = json!({ "threshold": 1, "userIds": [house["people"]["owner"]["userId"]] });
    assert_eq!(organization["rootQuorum"], quorum, "{organization:#}");
    let policies = organization["policies"].as_array().expect("policies");
    assert_eq!(policies.len(), 1, "{organization:#}");
    for member in ["policyId", "condition", "consensus"] {
        assert_eq!(policies[0][member], house["policy"][member], "{organization:#}");
    }
}

fn judge_attempts(attempts: &Value, policy: &Value) {
    // Of these the policy knows all that it asks about, and its condition does not hold.
    for name in ["otherAccount", "otherHash", "manyPayloads"] {
        denied(&attempts[name], NOTHING_ALLOWS, &[(policy, "OUTCOME_DENY_IMPLICIT")]);
    }
    // These have no account that signs, which the condition asks about.
    for name in ["wallet", "widen", "remove", "more", "friend", "rename"] {
        denied(&attempts[name], NOTHING_ALLOWS, &[(policy, "OUTCOME_ERROR")]);
    }
    // No policy is asked about the quorum.
    assert_eq!(said(&denial(&attempts["quorum"])["policyEvaluations"]), [].into(), "{attempts:#}");
}

/// The command line shows what the backend did, and what it was denied.
async fn seen_by_owner(owner: &Operator, house: &Value, signed: &Value) {
    let row = listed(owner, &signed["id"]).await;
    assert_eq!((&row["activity"]["status"], &row["waiting"]), (&json!(COMPLETED), &Value::Null));
    let review = owner.run(&["review", text(&signed["id"])]).await.with(0).json();
    assert_eq!(review["asker"]["userId"], house["people"]["backend"]["userId"]);
    assert!(text(&review["sentence"]).contains("by the backend"), "{review:#}");
    assert_eq!(review["blocked"], false, "{review:#}");
    assert!(owner.run(&["approvals", "ls"]).await.with(0).lines().is_empty(), "nothing waits");

    let rows = owner.run(&["activity", "ls", "--status", "REJECTED"]).await.with(0).lines();
    let mut kinds: Vec<&str> = rows.iter().map(|row| text(&row["activity"]["type"])).collect();
    kinds.sort_unstable();
    let wanted = [
        "ACTIVITY_TYPE_CREATE_POLICY_V3",
        "ACTIVITY_TYPE_CREATE_USERS_V4",
        "ACTIVITY_TYPE_CREATE_WALLET",
        "ACTIVITY_TYPE_DELETE_POLICY",
        "ACTIVITY_TYPE_SIGN_RAW_PAYLOADS",
        "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2",
        "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2",
        "ACTIVITY_TYPE_UPDATE_POLICY_V2",
        "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM",
        "ACTIVITY_TYPE_UPDATE_USER",
    ];
    assert_eq!(kinds, wanted);
}
