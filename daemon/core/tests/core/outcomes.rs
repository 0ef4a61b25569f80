//! One successful request of each kind, checked against everything that the wire documents for a completed
//! activity.

use std::any::type_name_of_val;

use quorate_common::activity::Activity;
use quorate_common::api_error::Code;
use quorate_common::catalog::{Action, Gate, Resource};
use quorate_common::fingerprint::Fingerprint;
use quorate_core::error::Corrupt;
use quorate_core::kinds;
use quorate_core::model::write::Write;
use quorate_core::pipeline::Commit;
use serde_json::{Value, json};

use crate::fixture::{Fixture, NOW, Person};
use crate::golden;
use crate::samples;

/// Members of results that only the first answer shows.
const SHOWN_ONCE: [&str; 3] = [
    "/createReadOnlySessionResult/session",
    "/oauth2AuthenticateResult/oidcToken",
    "/verifyOtpResult/verificationToken",
];

/// Returns a value without the members that mean the same as absent ones: those that equal the default of their
/// schema, and those that the schema does not define.
fn without_defaults(schema: &Value, value: &Value) -> Value {
    let optional = schema["anyOf"].as_array();
    let schema = optional.and_then(|all| all.iter().find(|one| one["type"] != "null")).unwrap_or(schema);
    match value {
        Value::Object(members) => {
            let is_stated = |(name, inner): &(&String, &Value)| {
                let known = schema["properties"].get(name.as_str());
                known.is_some_and(|known| known.get("default") != Some(*inner))
            };
            let stated = members.iter().filter(is_stated);
            stated
                .map(|(name, inner)| (name.clone(), without_defaults(&schema["properties"][name], inner)))
                .collect()
        }
        Value::Array(items) => items.iter().map(|item| without_defaults(&schema["items"], item)).collect(),
        other => other.clone(),
    }
}

/// Example parameters of each type. The console's forms are tested with them.
#[test]
fn examples_are_up_to_date() {
    let fixture = Fixture::new(1);
    let mut examples = json!({});
    for entry in kinds::all() {
        let parameters = samples::parameters(entry.activity_type, &fixture, &fixture.spare);
        examples[entry.activity_type] = without_defaults(&entry.describe().parameters, &parameters);
    }
    for entry in kinds::all() {
        let mut fixture = fixture.clone();
        let (caller, organization) = samples::stage(entry.activity_type, &fixture);
        let body = fixture.body(organization, entry.activity_type, &examples[entry.activity_type], NOW);
        let answer = fixture.send(&caller, &entry.operation(), &body, NOW);
        assert!(answer.is_ok(), "{}: {answer:?}", entry.activity_type);
    }
    golden::check("examples.json", &format!("{examples:#}\n"));
}

#[test]
fn every_kind_succeeds_once() {
    let fixture = Fixture::new(1);
    for entry in kinds::all() {
        let mut fixture = fixture.clone();
        let (caller, organization) = samples::stage(entry.activity_type, &fixture);
        let parameters = samples::parameters(entry.activity_type, &fixture, &fixture.spare);
        let body = fixture.body(organization, entry.activity_type, &parameters, NOW);
        let answer = fixture.send(&caller, &entry.operation(), &body, NOW);
        let answer = answer.unwrap_or_else(|error| panic!("{}: {error:?}", entry.activity_type));
        let row = entry.describe();
        // The answer to an approval is the approved activity.
        if entry.activity_type == "ACTIVITY_TYPE_APPROVE_ACTIVITY" {
            assert_eq!(answer["activity"]["fingerprint"], fixture.waiting, "{answer}");
            assert_eq!(answer["activity"]["status"], "ACTIVITY_STATUS_COMPLETED");
            continue;
        }
        check_completed(&answer, &row.intent, row.result.as_deref(), &body, &caller);
        let secrets = samples::secrets(entry.activity_type, &fixture);
        assert!(!entry.masks || !secrets.is_empty(), "{} masks nothing", entry.activity_type);
        if secrets.is_empty() {
            let message = &answer["activity"]["votes"][0]["message"];
            assert_eq!(message.as_str().map(str::as_bytes), Some(body.as_slice()), "{}", entry.activity_type);
        } else {
            let message = answer["activity"]["votes"][0]["message"].to_string();
            assert!(!secrets.iter().any(|secret| message.contains(secret.as_str())), "{message}");
        }
        // Sending the same bytes again returns the same activity and runs nothing.
        let before = fixture.memory.all_rows();
        match fixture.send(&caller, &entry.operation(), &body, NOW + 1000) {
            Ok(again) => {
                assert_eq!(again["activity"]["id"], answer["activity"]["id"], "{}", entry.activity_type);
                let mut result = answer["activity"]["result"].clone();
                for pointer in SHOWN_ONCE {
                    result.pointer_mut(pointer).into_iter().for_each(|member| *member = Value::from(""));
                }
                assert_eq!(again["activity"]["result"], result);
            }
            // The key is removed.
            Err(error) if entry.activity_type == "ACTIVITY_TYPE_RECOVER_USER" => {
                assert_eq!(error.code, quorate_common::api_error::Code::Unauthenticated);
            }
            // Nobody is left who could see the activity.
            Err(error) => {
                assert!(
                    row.acts == Some((Action::Delete, Resource::Organization)),
                    "{}",
                    entry.activity_type
                );
                assert_eq!(error.message, "no organization found with the given ID");
            }
        }
        assert!(fixture.memory.all_rows() == before, "{} ran twice", entry.activity_type);
    }
}

fn check_completed(answer: &Value, intent: &str, result: Option<&str>, body: &[u8], caller: &Person) {
    let activity: Activity = serde_json::from_value(answer["activity"].clone()).expect("an activity");
    let members =
        |value: &Value| -> Vec<String> { value.as_object().expect("an object").keys().cloned().collect() };
    assert_eq!(answer["activity"]["status"], "ACTIVITY_STATUS_COMPLETED", "{intent}");
    assert_eq!(members(&activity.intent), [intent]);
    assert_eq!(members(&activity.result), result.map(str::to_owned).into_iter().collect::<Vec<_>>());
    assert_eq!(activity.fingerprint, Fingerprint::of(body));
    assert_eq!(activity.failure, None);
    let [vote] = activity.votes.as_slice() else { panic!("{intent}: one vote, the proposer's") };
    assert_eq!(vote.user_id, caller.user, "{intent}");
    assert!(!activity.can_approve && !activity.can_reject, "{intent}: nothing is left to vote on");
}

/// Returns the name of the test that every type passes.
pub(crate) fn proof() -> &'static str {
    type_name_of_val(&every_kind_succeeds_once)
}

#[test]
fn names_are_unique() {
    for (activity_type, parameters, code, message) in [
        (
            "ACTIVITY_TYPE_CREATE_POLICY_V3",
            json!({"policyName": "p", "effect": "EFFECT_ALLOW", "notes": ""}),
            Code::InvalidArgument,
            "policy label must be unique",
        ),
        (
            "ACTIVITY_TYPE_CREATE_WALLET",
            json!({"walletName": "w", "accounts": []}),
            Code::AlreadyExists,
            "wallet name must be unique",
        ),
    ] {
        let mut fixture = Fixture::new(1);
        let caller = fixture.roots[0].clone();
        fixture.submit(&caller, fixture.id, activity_type, &parameters, NOW).expect("the name is free");
        let error = fixture
            .submit(&caller, fixture.id, activity_type, &parameters, NOW)
            .expect_err("the name is already in use");
        assert_eq!((error.code, error.message.as_str()), (code, message));
    }
}

#[test]
fn failed_activities_are_recorded_and_not_retried() {
    let mut fixture = Fixture::new(1);
    let caller = fixture.roots[0].clone();
    let parameters = json!({"signWith": "nothing", "payload": "ab".repeat(32), "encoding": "PAYLOAD_ENCODING_HEXADECIMAL",
        "hashFunction": "HASH_FUNCTION_NO_OP"});
    let body = fixture.body(fixture.id, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", &parameters, NOW);
    let first = fixture.send(&caller, "sign_raw_payload", &body, NOW).expect_err("there is no such signer");
    let before = fixture.memory.all_rows();
    let again =
        fixture.send(&caller, "sign_raw_payload", &body, NOW).expect_err("the activity is not retried");
    assert_eq!(first, again);
    assert!(fixture.memory.all_rows() == before);
    let list = json!({"organizationId": fixture.id, "filterByStatus": ["ACTIVITY_STATUS_FAILED"]})
        .to_string()
        .into_bytes();
    let listed = fixture
        .memory
        .query("list_activities", &caller.stamps(&list), &list, NOW)
        .expect("the activity is listed");
    assert_eq!(listed["activities"][0]["failure"]["code"], first.code.number());
    assert_eq!(listed["activities"][0]["failure"]["message"], first.message);
}

#[test]
fn internal_errors_do_not_fail_activities() {
    let mut fixture = Fixture::new(2);
    let [first, second] = fixture.roots.clone();
    let sign = "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2";
    let parameters = samples::parameters(sign, &fixture, &fixture.spare);
    let proposed = fixture.submit(&first, fixture.id, sign, &parameters, NOW).expect("the activity waits");
    let approval = json!({"fingerprint": proposed["activity"]["fingerprint"]});
    let body = fixture.body(fixture.id, "ACTIVITY_TYPE_APPROVE_ACTIVITY", &approval, NOW);
    let stamps = second.stamps(&body);
    let intact = fixture.memory.clone();
    let writes = intact.rows(b'n').map(|(key, _)| Write::mark(key.to_vec(), b"damaged")).collect();
    fixture.memory.commit(Commit { writes, ..Commit::default() });
    let attempt = fixture.memory.attempt("approve_activity", &stamps, &body, NOW);
    assert_eq!(attempt.corrupt, Some(Corrupt::Record("wallet account")));
    assert_eq!(attempt.answer.expect_err("the account is damaged").code, Code::Internal);
    assert!(attempt.commit.is_none(), "nothing is recorded");
    fixture.memory = intact;
    let done = fixture.send(&second, "approve_activity", &body, NOW).expect("the vote can be sent again");
    assert_eq!(done["activity"]["status"], "ACTIVITY_STATUS_COMPLETED");
}

#[test]
fn policies_cannot_permit_what_only_the_root_quorum_decides() {
    let mut fixture = Fixture::new(2);
    let consensus = format!("approvers.any(user, user.id == '{}')", fixture.user.user);
    fixture.execute(
        "ACTIVITY_TYPE_CREATE_POLICY_V3",
        &json!({"policyName": "all", "effect": "EFFECT_ALLOW", "consensus": consensus, "notes": ""}),
    );
    let caller = fixture.user.clone();
    for entry in kinds::all().iter().filter(|entry| entry.gate == Gate::RootQuorum) {
        let parameters = samples::parameters(entry.activity_type, &fixture, &fixture.spare);
        let error = fixture
            .submit(&caller, fixture.id, entry.activity_type, &parameters, NOW)
            .expect_err("the request is denied");
        assert_eq!(error.code, Code::PermissionDenied, "{}", entry.activity_type);
        assert!(error.message.starts_with("You don't have sufficient permissions to take this action."));
    }
}
