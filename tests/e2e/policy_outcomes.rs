//! Shared parts of the policy scenarios: a client that runs them step by step, assertions about its errors,
//! and queries on the command line about the same activities.

use std::collections::BTreeMap;

use quorate_tests::daemon::Daemon;
use quorate_tests::dialogue::Dialogue;
use quorate_tests::operator::{Ended, Operator};
use serde_json::{Value, json};

/// Message of a denial without a policy that denies.
pub(crate) const NOTHING_ALLOWS: &str = "No policies evaluated to outcome: Allow";

/// Starts a scenario in the client.
pub(crate) fn start_dialogue(daemon: &Daemon, name: &str) -> Dialogue {
    Dialogue::npm(daemon, "policy_scenarios.mjs", name)
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is not a text"))
}

/// Asserts that policies denied a request with this message and these outcomes.
pub(crate) fn denied(seen: &Value, message: &str, outcomes: &[(&Value, &str)]) {
    let denial = denial(seen);
    assert_eq!(denial["message"], message, "{seen:#}");
    assert_eq!(outcomes_by_policy(&denial["policyEvaluations"]), expected(outcomes), "{seen:#}");
}

/// Asserts that policies denied a request, and returns the detail of the error.
pub(crate) fn denial(seen: &Value) -> &Value {
    assert_error(seen, "You don't have sufficient permissions to take this action.");
    let detail = &seen["details"][0];
    assert_eq!(detail["@type"], "type.googleapis.com/errors.v1.PolicyEnginePermissionError", "{seen:#}");
    detail
}

/// Asserts that a vote was rejected because the user may not vote.
pub(crate) fn no_voter(seen: &Value) {
    assert_error(seen, "request not authorized");
    let detail = &seen["details"][0];
    assert_eq!(detail["@type"], "type.googleapis.com/errors.v1.TurnkeyErrorDetail", "{seen:#}");
    assert_eq!(detail["turnkeyErrorCode"], "REQUEST_NOT_AUTHORIZED", "{seen:#}");
}

fn assert_error(seen: &Value, message: &str) {
    assert_eq!((&seen["status"], &seen["code"]), (&json!(403), &json!(7)), "{seen:#}");
    assert_eq!(seen["name"], "TurnkeyRequestError", "{seen:#}");
    let message = format!("Turnkey error 7: {message}");
    assert!(text(&seen["message"]).starts_with(&message), "{seen:#}");
}

/// Asserts the policy outcomes at each vote on an activity, and that there are no others.
pub(crate) fn evaluated(recalled: &Value, votes: &[&[(&Value, &str)]]) {
    let evaluations = recalled["evaluations"].as_array().expect("evaluations");
    let of = |member: &str| -> Vec<&Value> { evaluations.iter().map(|each| &each[member]).collect() };
    assert_eq!(json!(of("voteId")), recalled["voteIds"], "one for each vote: {recalled:#}");
    assert!(of("activityId").iter().all(|id| **id == recalled["id"]), "{recalled:#}");
    let all: Vec<_> = of("policyEvaluations").into_iter().map(outcomes_by_policy).collect();
    let expected_outcomes: Vec<_> = votes.iter().map(|outcomes| expected(outcomes)).collect();
    assert_eq!(all, expected_outcomes, "{recalled:#}");
}

/// Returns the outcomes by policy.
pub(crate) fn outcomes_by_policy(evaluations: &Value) -> BTreeMap<&str, &str> {
    let list = evaluations.as_array().unwrap_or_else(|| panic!("{evaluations} is not a list"));
    let outcomes: BTreeMap<_, _> =
        list.iter().map(|each| (text(&each["policyId"]), text(&each["outcome"]))).collect();
    assert_eq!(outcomes.len(), list.len(), "each policy is named once: {evaluations:#}");
    outcomes
}

/// Returns the expected outcomes by policy.
pub(crate) fn expected<'a>(outcomes: &[(&'a Value, &'a str)]) -> BTreeMap<&'a str, &'a str> {
    outcomes.iter().map(|(policy, outcome)| (text(policy), *outcome)).collect()
}

/// Returns an activity from the list of the command line.
pub(crate) async fn listed(operator: &Operator, id: &Value) -> Value {
    let rows = operator.run(&["activity", "ls"]).await.with(0).lines();
    let row = rows.into_iter().find(|row| row["activity"]["id"] == *id);
    row.unwrap_or_else(|| panic!("activity {id} is not listed"))
}

/// Returns why an activity waits, as the daemon reports it. A review computes the same independently.
pub(crate) async fn waiting(operator: &Operator, id: &Value) -> Value {
    let row = listed(operator, id).await;
    assert_eq!(row["activity"]["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED", "{row:#}");
    let review = operator.run(&["review", text(id)]).await.with(0).json();
    let mut checks = review["checks"].as_array().expect("checks").iter();
    let rule = checks.find(|check| check["id"] == "K8").expect("the rule is checked");
    assert_eq!(rule["mark"], "[s]", "{rule}");
    assert!(text(&rule["text"]).starts_with("votes counted and rule evaluated here"), "{rule}");
    row["waiting"].clone()
}

/// Returns whether a list of users, in any order, consists of these users.
pub(crate) fn same_users(users: &Value, expected_users: &[&Value]) -> bool {
    let mut users: Vec<&str> = users.as_array().expect("users").iter().map(text).collect();
    let mut expected_users: Vec<&str> = expected_users.iter().map(|id| text(id)).collect();
    users.sort_unstable();
    expected_users.sort_unstable();
    users == expected_users
}

/// Approves an activity as reviewed, and accepts each high flag of the review by name.
pub(crate) async fn approve(operator: &Operator, id: &Value) -> Ended {
    let review = operator.run(&["review", text(id)]).await.with(0).json();
    let high = review["flags"].as_array().expect("flags").iter().filter(|flag| flag["level"] == "HIGH");
    let mut command = vec!["approve", text(id), "--expect-sha256", text(&review["fingerprint"])];
    command.extend(high.flat_map(|flag| ["--allow-flag", text(&flag["name"])]));
    operator.run(&command).await
}
