//! Delegated access: a backend that sets up a sub-organization keeps one narrow permission there. It cannot
//! widen it, and the end user sees and revokes it.

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::operator::Operator;
use quorate_tests::proof;
use serde_json::{Value, json};

use crate::policy_outcomes::{
    NOTHING_ALLOWS, denial, denied, evaluated, listed, outcomes_by_policy, start_dialogue, text,
};

const COMPLETED: &str = "ACTIVITY_STATUS_COMPLETED";

#[tokio::test]
async fn a_backend_keeps_one_permission() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let mut dialogue = start_dialogue(&daemon, "delegation");
    let setup = dialogue.observed();
    let (people, policy) = (&setup["people"], &setup["policy"]);
    assert_eq!(setup["asRoot"]["status"], COMPLETED, "a root user of a quorum of one may do all: {setup:#}");
    assert_eq!(setup["left"]["status"], COMPLETED, "{setup:#}");
    let owner = Operator::of(&daemon, text(&setup["organizationId"]), &people["owner"]);
    check_organization(&owner, &setup).await;

    let done = dialogue.proceed();
    let (signed, id) = (&done["signed"], &policy["policyId"]);
    assert_eq!(signed["status"], COMPLETED, "{signed:#}");
    assert_eq!(signed["voters"], json!([people["backend"]["userId"]]));
    evaluated(signed, &[&[(id, "OUTCOME_ALLOW")]]);
    assert!(proof::is_signed(text(&setup["granted"]), b"by the backend", &signed["signature"]), "{signed:#}");
    check_attempts(&done["attempts"], id);
    for member in ["policyId", "condition", "consensus"] {
        assert_eq!(done["policy"][member], policy[member], "the policy is unchanged");
    }
    check_owner_view(&owner, &setup, signed).await;

    let last = dialogue.proceed();
    assert_eq!(last["byOwner"]["status"], COMPLETED, "the end user needs no policy: {last:#}");
    denied(&last["after"], NOTHING_ALLOWS, &[]);
    let organization = owner.run(&["org", "get"]).await.with(0).json();
    assert_eq!(organization["policies"], json!([]));
    dialogue.finish().await;
}

/// Checks that the command line shows the root quorum and the only policy.
async fn check_organization(owner: &Operator, setup: &Value) {
    let organization = owner.run(&["org", "get"]).await.with(0).json();
    assert_eq!(organization["organizationId"], setup["organizationId"]);
    let quorum = json!({ "threshold": 1, "userIds": [setup["people"]["owner"]["userId"]] });
    assert_eq!(organization["rootQuorum"], quorum, "{organization:#}");
    let policies = organization["policies"].as_array().expect("policies");
    assert_eq!(policies.len(), 1, "{organization:#}");
    for member in ["policyId", "condition", "consensus"] {
        assert_eq!(policies[0][member], setup["policy"][member], "{organization:#}");
    }
}

fn check_attempts(attempts: &Value, policy: &Value) {
    // The policy can be evaluated for these, and its condition does not hold.
    for name in ["otherAccount", "otherHash", "manyPayloads"] {
        denied(&attempts[name], NOTHING_ALLOWS, &[(policy, "OUTCOME_DENY_IMPLICIT")]);
    }
    // These have no signing account, which the condition reads.
    for name in ["wallet", "widen", "remove", "more", "friend", "rename"] {
        denied(&attempts[name], NOTHING_ALLOWS, &[(policy, "OUTCOME_ERROR")]);
    }
    // Policies are not evaluated for changes of the root quorum.
    assert_eq!(
        outcomes_by_policy(&denial(&attempts["quorum"])["policyEvaluations"]),
        [].into(),
        "{attempts:#}"
    );
}

/// Checks that the command line shows what the backend did and what it was denied.
async fn check_owner_view(owner: &Operator, setup: &Value, signed: &Value) {
    let row = listed(owner, &signed["id"]).await;
    assert_eq!((&row["activity"]["status"], &row["waiting"]), (&json!(COMPLETED), &Value::Null));
    let review = owner.run(&["review", text(&signed["id"])]).await.with(0).json();
    assert_eq!(review["proposer"]["userId"], setup["people"]["backend"]["userId"]);
    assert!(text(&review["sentence"]).contains("by the backend"), "{review:#}");
    assert_eq!(review["blocked"], false, "{review:#}");
    assert!(owner.run(&["approvals", "ls"]).await.with(0).lines().is_empty(), "nothing waits");

    let rows = owner.run(&["activity", "ls", "--status", "REJECTED"]).await.with(0).lines();
    let mut kinds: Vec<&str> = rows.iter().map(|row| text(&row["activity"]["type"])).collect();
    kinds.sort_unstable();
    let expected = [
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
    assert_eq!(kinds, expected);
}
