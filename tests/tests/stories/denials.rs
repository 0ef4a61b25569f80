//! A policy that denies beats all that allow, and the root quorum beats it.

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::operator::Operator;
use quorate_tests::proof;
use serde_json::json;

use crate::rulings::{approve, denied, evaluated, listed, play, said, text, waiting};

const COMPLETED: &str = "ACTIVITY_STATUS_COMPLETED";

#[tokio::test]
async fn deny_beats_allow() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let bob = Operator::root(&daemon, 1);
    let mut story = play(&daemon, "denial");
    let seen = story.hears();
    let (allow, deny) = (&seen["policies"]["allow"], &seen["policies"]["deny"]);
    assert_eq!(seen["petty"]["status"], COMPLETED, "{seen:#}");
    evaluated(&seen["petty"], &[&[(allow, "OUTCOME_ALLOW"), (deny, "OUTCOME_DENY_IMPLICIT")]]);
    // Where there is no wallet the denial cannot be read, and is skipped.
    assert_eq!(seen["noWallet"]["status"], COMPLETED, "{seen:#}");
    evaluated(&seen["noWallet"], &[&[(allow, "OUTCOME_ALLOW"), (deny, "OUTCOME_ERROR")]]);
    let message = format!("The following policies denied this action: {}", text(deny));
    let outcomes: &[_] = &[(allow, "OUTCOME_ALLOW"), (deny, "OUTCOME_DENY_EXPLICIT")];
    denied(&seen["denied"], &message, outcomes);
    assert_eq!(seen["byRoot"]["status"], COMPLETED, "a root quorum of one asks no policy: {seen:#}");

    let pending = &seen["pending"];
    assert_eq!(pending["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED", "{seen:#}");
    let why = waiting(&bob, &pending["id"]).await;
    let found = (&why["rule"], &why["reason"]);
    assert_eq!(found, (&json!("ROOT_QUORUM"), &json!("POLICY_DENIES")), "{why:#}");
    assert_eq!(said(&why["policyEvaluations"])[text(deny)], "OUTCOME_DENY_EXPLICIT", "{why:#}");
    assert_eq!(why["needed"], 2);
    let open_to = why["openTo"].as_array().expect("users");
    assert!(open_to.contains(&json!(daemon.root_id(1))), "{why:#}");
    let rejected = bob.run(&["activity", "ls", "--status", "REJECTED"]).await.with(0).lines();
    assert_eq!(rejected.len(), 1, "what was denied is seen: {rejected:#?}");
    assert_eq!(rejected[0]["activity"]["type"], "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2");
    assert_eq!(approve(&bob, &pending["id"]).await.with(0).json()["status"], COMPLETED);
    assert_eq!(listed(&bob, &pending["id"]).await["activity"]["status"], COMPLETED);

    let last = story.goes_on();
    let signature = &last["completed"]["signature"];
    assert!(proof::signed(text(&seen["treasury"]), b"by the root quorum", signature), "{last:#}");
    assert_eq!(last["completed"]["voters"], json!([daemon.root_id(0), daemon.root_id(1)]));
    denied(&last["denied"], &message, outcomes);
    story.ends().await;
}
