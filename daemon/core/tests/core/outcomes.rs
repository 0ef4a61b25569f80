//! What each kind answers once well, with all that the wire promises of a completed activity.

use std::any::type_name_of_val;

use quorate_common::activity::Activity;
use quorate_common::catalog::{Action, Gate, Resource};
use quorate_common::fault::Code;
use quorate_common::fingerprint::Fingerprint;
use quorate_core::kinds;
use quorate_core::model::write::Write;
use quorate_core::pipeline::Commit;
use quorate_core::refusal::Corrupt;
use serde_json::{Value, json};

use crate::house::{House, NOW, Person};
use crate::samples;

#[test]
fn every_kind_succeeds_once() {
    let house = House::found(1);
    for entry in kinds::all() {
        let mut house = house.clone();
        let (caller, organization) = samples::stage(entry.activity_type, &house);
        let parameters = samples::parameters(entry.activity_type, &house, &house.spare);
        let body = house.body(organization, entry.activity_type, &parameters, NOW);
        let answer = house.send(&caller, &entry.operation(), &body, NOW);
        let answer = answer.unwrap_or_else(|fault| panic!("{}: {fault:?}", entry.activity_type));
        let row = entry.describe();
        // An approval is answered with what it approved.
        if entry.activity_type == "ACTIVITY_TYPE_APPROVE_ACTIVITY" {
            assert_eq!(answer["activity"]["fingerprint"], house.waiting, "{answer}");
            assert_eq!(answer["activity"]["status"], "ACTIVITY_STATUS_COMPLETED");
            continue;
        }
        check_completed(&answer, &row.intent, row.result.as_deref(), &body, &caller);
        // The same bytes again show the same activity and run nothing.
        let before = house.memory.everything();
        match house.send(&caller, &entry.operation(), &body, NOW + 1000) {
            Ok(again) => {
                assert_eq!(again["activity"]["id"], answer["activity"]["id"], "{}", entry.activity_type);
                assert_eq!(again["activity"]["result"], answer["activity"]["result"]);
            }
            // Nobody is left to be shown anything.
            Err(fault) => {
                assert!(
                    row.acts == Some((Action::Delete, Resource::Organization)),
                    "{}",
                    entry.activity_type
                );
                assert_eq!(fault.message, "no organization found with the given ID");
            }
        }
        assert!(house.memory.everything() == before, "{} ran twice", entry.activity_type);
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
    if intent == "setPaymentMethodIntent" {
        assert!(!vote.message.contains(samples::CARD), "{}", vote.message);
    } else {
        assert_eq!(vote.message.as_bytes(), body, "{intent}");
    }
    assert!(!activity.can_approve && !activity.can_reject, "{intent}: nothing is left to vote on");
}

/// The test that every type passes.
pub(crate) fn proof() -> &'static str {
    type_name_of_val(&every_kind_succeeds_once)
}

#[test]
fn names_are_taken_once() {
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
        let mut house = House::found(1);
        let caller = house.roots[0].clone();
        house.submit(&caller, house.id, activity_type, &parameters, NOW).expect("the name is free");
        let fault =
            house.submit(&caller, house.id, activity_type, &parameters, NOW).expect_err("the name is taken");
        assert_eq!((fault.code, fault.message.as_str()), (code, message));
    }
}

#[test]
fn what_fails_is_kept_as_failed_and_stays_so() {
    let mut house = House::found(1);
    let caller = house.roots[0].clone();
    let parameters = json!({"signWith": "nothing", "payload": "ab".repeat(32), "encoding": "PAYLOAD_ENCODING_HEXADECIMAL",
        "hashFunction": "HASH_FUNCTION_NO_OP"});
    let body = house.body(house.id, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", &parameters, NOW);
    let first = house.send(&caller, "sign_raw_payload", &body, NOW).expect_err("nothing signs");
    let before = house.memory.everything();
    let again = house.send(&caller, "sign_raw_payload", &body, NOW).expect_err("it does not run again");
    assert_eq!(first, again);
    assert!(house.memory.everything() == before);
    let list = json!({"organizationId": house.id, "filterByStatus": ["ACTIVITY_STATUS_FAILED"]})
        .to_string()
        .into_bytes();
    let listed =
        house.memory.query("list_activities", &caller.stamps(&list), &list, NOW).expect("it is listed");
    assert_eq!(listed["activities"][0]["failure"]["code"], first.code.number());
    assert_eq!(listed["activities"][0]["failure"]["message"], first.message);
}

#[test]
fn a_fault_of_the_service_fails_no_activity() {
    let mut house = House::found(2);
    let [first, second] = house.roots.clone();
    let sign = "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2";
    let parameters = samples::parameters(sign, &house, &house.spare);
    let proposed = house.submit(&first, house.id, sign, &parameters, NOW).expect("it waits");
    let approval = json!({"fingerprint": proposed["activity"]["fingerprint"]});
    let body = house.body(house.id, "ACTIVITY_TYPE_APPROVE_ACTIVITY", &approval, NOW);
    let stamps = second.stamps(&body);
    let whole = house.memory.clone();
    let writes = whole.rows(b'n').map(|(key, _)| Write::mark(key.to_vec(), b"damaged")).collect();
    house.memory.commit(Commit { writes, ..Commit::default() });
    let turn = house.memory.turn("approve_activity", &stamps, &body, NOW);
    assert_eq!(turn.corrupt, Some(Corrupt::Record("wallet account")));
    assert_eq!(turn.answer.expect_err("the account is damaged").code, Code::Internal);
    assert!(turn.commit.is_none(), "nothing is recorded");
    house.memory = whole;
    let done = house.send(&second, "approve_activity", &body, NOW).expect("the vote may be sent again");
    assert_eq!(done["activity"]["status"], "ACTIVITY_STATUS_COMPLETED");
}

#[test]
fn no_policy_opens_what_the_root_quorum_alone_decides() {
    let mut house = House::found(2);
    let consensus = format!("approvers.any(user, user.id == '{}')", house.user.user);
    house.agreed(
        "ACTIVITY_TYPE_CREATE_POLICY_V3",
        &json!({"policyName": "all", "effect": "EFFECT_ALLOW", "consensus": consensus, "notes": ""}),
    );
    let caller = house.user.clone();
    for entry in kinds::all().iter().filter(|entry| entry.gate == Gate::RootQuorum) {
        let parameters = samples::parameters(entry.activity_type, &house, &house.spare);
        let fault =
            house.submit(&caller, house.id, entry.activity_type, &parameters, NOW).expect_err("it is denied");
        assert_eq!(fault.code, Code::PermissionDenied, "{}", entry.activity_type);
        assert!(fault.message.starts_with("You don't have sufficient permissions to take this action."));
    }
}
