//! A policy that denies overrides all policies that allow, and the root quorum overrides both.

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::operator::Operator;
use quorate_tests::proof;
use serde_json::json;

use crate::policy_outcomes::{
    approve, denied, evaluated, listed, outcomes_by_policy, start_dialogue, text, waiting,
};

const COMPLETED: &str = "ACTIVITY_STATUS_COMPLETED";

#[tokio::test]
async fn deny_policies_override_allow_policies() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let bob = Operator::root(&daemon, 1);
    let mut dialogue = start_dialogue(&daemon, "denial");
    let seen = dialogue.observed();
    let (allow, deny) = (&seen["policies"]["allow"], &seen["policies"]["deny"]);
    assert_eq!(seen["petty"]["status"], COMPLETED, "{seen:#}");
    evaluated(&seen["petty"], &[&[(allow, "OUTCOME_ALLOW"), (deny, "OUTCOME_DENY_IMPLICIT")]]);
    // Without a wallet the deny policy cannot be evaluated and is skipped.
    assert_eq!(seen["noWallet"]["status"], COMPLETED, "{seen:#}");
    evaluated(&seen["noWallet"], &[&[(allow, "OUTCOME_ALLOW"), (deny, "OUTCOME_ERROR")]]);
    let message = format!("The following policies denied this action: {}", text(deny));
    let outcomes: &[_] = &[(allow, "OUTCOME_ALLOW"), (deny, "OUTCOME_DENY_EXPLICIT")];
    denied(&seen["denied"], &message, outcomes);
    assert_eq!(seen["byRoot"]["status"], COMPLETED, "a root quorum of one needs no policy: {seen:#}");

    let pending = &seen["pending"];
    assert_eq!(pending["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED", "{seen:#}");
    let why = waiting(&bob, &pending["id"]).await;
    let basis = (&why["rule"], &why["reason"]);
    assert_eq!(basis, (&json!("ROOT_QUORUM"), &json!("POLICY_DENIES")), "{why:#}");
    assert_eq!(outcomes_by_policy(&why["policyEvaluations"])[text(deny)], "OUTCOME_DENY_EXPLICIT", "{why:#}");
    assert_eq!(why["needed"], 2);
    let open_to = why["openTo"].as_array().expect("users");
    assert!(open_to.contains(&json!(daemon.root_id(1))), "{why:#}");
    let rejected = bob.run(&["activity", "ls", "--status", "REJECTED"]).await.with(0).lines();
    assert_eq!(rejected.len(), 1, "denied requests are listed: {rejected:#?}");
    assert_eq!(rejected[0]["activity"]["type"], "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2");
    assert_eq!(approve(&bob, &pending["id"]).await.with(0).json()["status"], COMPLETED);
    assert_eq!(listed(&bob, &pending["id"]).await["activity"]["status"], COMPLETED);

    let last = dialogue.proceed();
    let signature = &last["completed"]["signature"];
    assert!(proof::is_signed(text(&seen["treasury"]), b"by the root quorum", signature), "{last:#}");
    assert_eq!(last["completed"]["voters"], json!([daemon.root_id(0), daemon.root_id(1)]));
    denied(&last["denied"], &message, outcomes);
    dialogue.finish().await;
}
