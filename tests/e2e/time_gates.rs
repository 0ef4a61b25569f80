//! Policies with a time condition: outside of its time a policy neither allows nor denies, and the outcome
//! names the time. Removing the condition makes the policy apply.

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::operator::Operator;
use quorate_tests::proof;
use serde_json::{Value, json};

use crate::policy_outcomes::{NOTHING_ALLOWS, approve, denied, evaluated, start_dialogue, text};

const COMPLETED: &str = "ACTIVITY_STATUS_COMPLETED";
const CLOSED: &str = "OUTCOME_TIME_INACTIVE";
const NO_MATCH: &str = "OUTCOME_DENY_IMPLICIT";

#[tokio::test]
async fn time_conditions_gate_policies() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let bob = Operator::root(&daemon, 1);
    let mut dialogue = start_dialogue(&daemon, "gates");
    let seen = dialogue.observed();
    let of = |name: &str| &seen["policies"][name];
    let all = |outcomes: [&'static str; 4]| {
        ["later", "never", "open", "denied later"].map(of).into_iter().zip(outcomes).collect::<Vec<_>>()
    };
    let gates = seen["gates"].as_array().expect("gates");
    assert_eq!(gates[..1], gates[1..2], "the time condition is stored unchanged");
    assert_eq!(gates[2..3], gates[3..], "the time condition is stored unchanged");
    assert_eq!(seen["created"]["status"], COMPLETED, "{seen:#}");
    evaluated(&seen["created"], &[&all([NO_MATCH, NO_MATCH, "OUTCOME_ALLOW", CLOSED])]);
    denied(&seen["early"], NOTHING_ALLOWS, &all([CLOSED, CLOSED, NO_MATCH, NO_MATCH]));
    // The outcome names the time only if nothing else is missing.
    denied(&seen["otherKind"], NOTHING_ALLOWS, &all([NO_MATCH; 4]));

    let update = &seen["update"];
    assert_eq!(update["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED", "{update:#}");
    assert_eq!(gate(&bob, of("never")).await, gates[2]);
    let review = bob.run(&["review", text(&update["id"])]).await.with(0).json();
    assert_eq!(
        (&review["type"], &review["blocked"]),
        (&json!("ACTIVITY_TYPE_UPDATE_POLICY_V2"), &json!(false))
    );
    let fields = review["fields"].as_array().expect("fields");
    assert!(fields.iter().any(|field| field["name"] == "time"), "the change is shown: {review:#}");
    assert_eq!(approve(&bob, &update["id"]).await.with(0).json()["status"], COMPLETED);
    assert_eq!(gate(&bob, of("never")).await, Value::Null, "the condition is removed");
    assert_eq!(gate(&bob, of("later")).await, gates[0], "other conditions are unchanged");

    let last = dialogue.proceed();
    assert_eq!(last["gate"], "", "{last:#}");
    assert_eq!(last["signed"]["status"], COMPLETED, "{last:#}");
    evaluated(&last["signed"], &[&all([CLOSED, "OUTCOME_ALLOW", NO_MATCH, NO_MATCH])]);
    assert!(proof::is_signed(text(&seen["address"]), b"in time", &last["signed"]["signature"]), "{last:#}");
    dialogue.finish().await;
}

/// Returns the time condition of a policy from the command line.
async fn gate(operator: &Operator, policy: &Value) -> Value {
    let organization = operator.run(&["org", "get"]).await.with(0).json();
    let policies = organization["policies"].as_array().expect("policies");
    let entry = policies.iter().find(|each| each["policyId"] == *policy).expect("it is listed");
    entry["time"].clone()
}
