//! Policies that apply at some times only: a closed gate allows nothing and denies nothing, and says that it is the
//! time; whoever takes it away opens it.

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::operator::Operator;
use quorate_tests::proof;
use serde_json::{Value, json};

use crate::rulings::{NOTHING_ALLOWS, approve, denied, evaluated, play, text};

const COMPLETED: &str = "ACTIVITY_STATUS_COMPLETED";
const CLOSED: &str = "OUTCOME_TIME_INACTIVE";
const ELSEWHERE: &str = "OUTCOME_DENY_IMPLICIT";

#[tokio::test]
async fn gates_open_and_closed() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let bob = Operator::root(&daemon, 1);
    let mut story = play(&daemon, "gates");
    let seen = story.hears();
    let of = |name: &str| &seen["policies"][name];
    let all = |outcomes: [&'static str; 4]| {
        ["later", "never", "open", "denied later"].map(of).into_iter().zip(outcomes).collect::<Vec<_>>()
    };
    let gates = seen["gates"].as_array().expect("gates");
    assert_eq!(gates[..1], gates[1..2], "a gate is kept as it was made");
    assert_eq!(gates[2..3], gates[3..], "a gate is kept as it was made");
    assert_eq!(seen["created"]["status"], COMPLETED, "{seen:#}");
    evaluated(&seen["created"], &[&all([ELSEWHERE, ELSEWHERE, "OUTCOME_ALLOW", CLOSED])]);
    denied(&seen["early"], NOTHING_ALLOWS, &all([CLOSED, CLOSED, ELSEWHERE, ELSEWHERE]));
    // The time is told only where nothing but the time is missing.
    denied(&seen["otherKind"], NOTHING_ALLOWS, &all([ELSEWHERE; 4]));

    let update = &seen["update"];
    assert_eq!(update["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED", "{update:#}");
    assert_eq!(gate(&bob, of("never")).await, gates[2]);
    let review = bob.run(&["review", text(&update["id"])]).await.with(0).json();
    assert_eq!(
        (&review["type"], &review["blocked"]),
        (&json!("ACTIVITY_TYPE_UPDATE_POLICY_V2"), &json!(false))
    );
    let fields = review["fields"].as_array().expect("fields");
    assert!(fields.iter().any(|field| field["name"] == "time"), "what changes is shown: {review:#}");
    assert_eq!(approve(&bob, &update["id"]).await.with(0).json()["status"], COMPLETED);
    assert_eq!(gate(&bob, of("never")).await, Value::Null, "the gate is gone");
    assert_eq!(gate(&bob, of("later")).await, gates[0], "and no other");

    let last = story.goes_on();
    assert_eq!(last["gate"], "", "{last:#}");
    assert_eq!(last["signed"]["status"], COMPLETED, "{last:#}");
    evaluated(&last["signed"], &[&all([CLOSED, "OUTCOME_ALLOW", ELSEWHERE, ELSEWHERE])]);
    assert!(proof::signed(text(&seen["address"]), b"in time", &last["signed"]["signature"]), "{last:#}");
    story.ends().await;
}

/// When a policy applies, by the command line.
async fn gate(operator: &Operator, policy: &Value) -> Value {
    let organization = operator.run(&["org", "get"]).await.with(0).json();
    let policies = organization["policies"].as_array().expect("policies");
    let found = policies.iter().find(|each| each["policyId"] == *policy).expect("it is listed");
    found["time"].clone()
}
