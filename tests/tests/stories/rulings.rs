//! What stories of policies have in common: a client that plays them step by step, how it tells refusals, and
//! what the command line says of the same things.

use std::collections::BTreeMap;

use quorate_tests::daemon::Daemon;
use quorate_tests::dialogue::Dialogue;
use quorate_tests::operator::{Ended, Operator};
use serde_json::{Value, json};

/// What a denial says when no policy denies.
pub(crate) const NOTHING_ALLOWS: &str = "No policies evaluated to outcome: Allow";

/// Starts a story in the client.
pub(crate) fn play(daemon: &Daemon, name: &str) -> Dialogue {
    Dialogue::npm(daemon, "policy_stories.mjs", name)
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

/// Asserts that policies refused a request, in these words and with these outcomes.
pub(crate) fn denied(seen: &Value, message: &str, outcomes: &[(&Value, &str)]) {
    let denial = denial(seen);
    assert_eq!(denial["message"], message, "{seen:#}");
    assert_eq!(said(&denial["policyEvaluations"]), expected(outcomes), "{seen:#}");
}

/// Asserts that policies refused a request, and returns what they say.
pub(crate) fn denial(seen: &Value) -> &Value {
    refused(seen, "You don't have sufficient permissions to take this action.");
    let told = &seen["details"][0];
    assert_eq!(told["@type"], "type.googleapis.com/errors.v1.PolicyEnginePermissionError", "{seen:#}");
    told
}

/// Asserts that a vote was refused to somebody who has none.
pub(crate) fn no_voter(seen: &Value) {
    refused(seen, "request not authorized");
    let told = &seen["details"][0];
    assert_eq!(told["@type"], "type.googleapis.com/errors.v1.TurnkeyErrorDetail", "{seen:#}");
    assert_eq!(told["turnkeyErrorCode"], "REQUEST_NOT_AUTHORIZED", "{seen:#}");
}

fn refused(seen: &Value, message: &str) {
    assert_eq!((&seen["status"], &seen["code"]), (&json!(403), &json!(7)), "{seen:#}");
    assert_eq!(seen["name"], "TurnkeyRequestError", "{seen:#}");
    let message = format!("Turnkey error 7: {message}");
    assert!(text(&seen["message"]).starts_with(&message), "{seen:#}");
}

/// Asserts what policies said at each vote on an activity, and that there is nothing else.
pub(crate) fn evaluated(recalled: &Value, votes: &[&[(&Value, &str)]]) {
    let evaluations = recalled["evaluations"].as_array().expect("evaluations");
    let of = |member: &str| -> Vec<&Value> { evaluations.iter().map(|each| &each[member]).collect() };
    assert_eq!(json!(of("voteId")), recalled["voteIds"], "one for each vote: {recalled:#}");
    assert!(of("activityId").iter().all(|id| **id == recalled["id"]), "{recalled:#}");
    let all: Vec<_> = of("policyEvaluations").into_iter().map(said).collect();
    let wanted: Vec<_> = votes.iter().map(|outcomes| expected(outcomes)).collect();
    assert_eq!(all, wanted, "{recalled:#}");
}

/// Outcomes by policy.
pub(crate) fn said(evaluations: &Value) -> BTreeMap<&str, &str> {
    let list = evaluations.as_array().unwrap_or_else(|| panic!("{evaluations} is no list"));
    let said: BTreeMap<_, _> =
        list.iter().map(|each| (text(&each["policyId"]), text(&each["outcome"]))).collect();
    assert_eq!(said.len(), list.len(), "each policy is named once: {evaluations:#}");
    said
}

/// The same as a story expects them.
pub(crate) fn expected<'a>(outcomes: &[(&'a Value, &'a str)]) -> BTreeMap<&'a str, &'a str> {
    outcomes.iter().map(|(policy, outcome)| (text(policy), *outcome)).collect()
}

/// An activity in the list of the command line.
pub(crate) async fn listed(operator: &Operator, id: &Value) -> Value {
    let rows = operator.run(&["activity", "ls"]).await.with(0).lines();
    let found = rows.into_iter().find(|row| row["activity"]["id"] == *id);
    found.unwrap_or_else(|| panic!("activity {id} is not listed"))
}

/// Why an activity waits, by the daemon's word; a review reckons the same by itself.
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

/// Whether a list of users, in any order, is that of these people.
pub(crate) fn are(users: &Value, people: &[&Value]) -> bool {
    let mut users: Vec<&str> = users.as_array().expect("users").iter().map(text).collect();
    let mut people: Vec<&str> = people.iter().map(|id| text(id)).collect();
    users.sort_unstable();
    people.sort_unstable();
    users == people
}

/// Approves what an activity is seen to be, and accepts each high flag of the review by its name.
pub(crate) async fn approve(operator: &Operator, id: &Value) -> Ended {
    let review = operator.run(&["review", text(id)]).await.with(0).json();
    let high = review["flags"].as_array().expect("flags").iter().filter(|flag| flag["level"] == "HIGH");
    let mut command = vec!["approve", text(id), "--expect-sha256", text(&review["fingerprint"])];
    command.extend(high.flat_map(|flag| ["--allow-flag", text(&flag["name"])]));
    operator.run(&command).await
}
