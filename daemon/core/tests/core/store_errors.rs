//! An error of the store is never a decision: while records cannot be read, every request about an activity
//! fails with an internal error, and nothing is recorded.

use quorate_common::api_error::{ApiError, Code};
use quorate_common::fingerprint::Fingerprint;
use quorate_core::advice;
use quorate_core::error::{Corrupt, RequestError};
use quorate_core::operator;
use serde_json::{Value, json};

use crate::fixture::{Fixture, NOW, Person};

/// First letter of the keys by which a signer is looked up.
const SIGNERS: u8 = b'w';

/// Creates a fixture with a policy on the signing wallet: the user may propose signatures, and the spare user
/// approve them.
fn fixture_with_policy() -> Fixture {
    let mut fixture = Fixture::new(2);
    let policy = json!({"policyName": "signing", "effect": "EFFECT_ALLOW", "notes": "",
        "condition": format!("wallet.id == '{}'", fixture.wallet.0),
        "consensus": format!("approvers.any(u, u.id == '{}') && approvers.any(u, u.id == '{}')",
            fixture.user.user, fixture.spare.user)});
    fixture.execute("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy);
    fixture
}

fn signing(fixture: &mut Fixture) -> Vec<u8> {
    let parameters = json!({"signWith": fixture.wallet.1, "payload": "ab".repeat(32),
        "encoding": "PAYLOAD_ENCODING_HEXADECIMAL", "hashFunction": "HASH_FUNCTION_NO_OP"});
    fixture.body(fixture.id, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", &parameters, NOW)
}

fn assert_internal_error(answer: Result<Vec<u8>, ApiError>, what: &str) {
    let answer = answer.map(|body| serde_json::from_slice::<Value>(&body).expect("JSON"));
    let error = answer.expect_err(what);
    assert_eq!((error.code, error.message.as_str()), (Code::Internal, "internal server error"), "{what}");
}

#[test]
fn requests_fail_without_a_decision_while_records_are_unreadable() {
    let mut fixture = fixture_with_policy();
    let (user, spare, id) = (fixture.user.clone(), fixture.spare.clone(), fixture.id);
    let body = signing(&mut fixture);
    let waits =
        fixture.send(&user, "sign_raw_payload", &body, NOW).expect("the activity waits for the spare user");
    assert_eq!(waits["activity"]["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    let activity = waits["activity"]["id"].clone();
    let fresh = signing(&mut fixture);
    let target = json!({"fingerprint": Fingerprint::of(&body)});
    let approval = fixture.body(id, "ACTIVITY_TYPE_APPROVE_ACTIVITY", &target, NOW);
    let rejection = fixture.body(id, "ACTIVITY_TYPE_REJECT_ACTIVITY", &target, NOW);
    let get = json!({"organizationId": id, "activityId": activity}).to_string().into_bytes();
    let waiting = json!({"organizationId": id, "filterByStatus": ["ACTIVITY_STATUS_CONSENSUS_NEEDED"]});
    let list = waiting.to_string().into_bytes();

    fixture.memory.unreadable = Some(SIGNERS);
    let mut submit = |person: &Person, operation: &str, body: &[u8]| {
        let attempt = fixture.memory.attempt(operation, &person.stamps(body), body, NOW);
        assert!(attempt.commit.is_none(), "{operation} recorded something");
        assert!(
            matches!(attempt.corrupt, Some(Corrupt::Store(_))),
            "{operation} does not report that the store failed"
        );
        assert_internal_error(attempt.answer, operation);
    };
    submit(&user, "sign_raw_payload", &fresh);
    submit(&user, "sign_raw_payload", &body);
    submit(&spare, "sign_raw_payload", &body);
    submit(&spare, "approve_activity", &approval);
    submit(&spare, "reject_activity", &rejection);
    for (operation, body) in [("get_activity", &get), ("list_activities", &list)] {
        let answer = fixture.memory.query(operation, &spare.stamps(body), body, NOW);
        assert_eq!(answer.expect_err(operation).code, Code::Internal, "{operation}");
    }
    let reference = activity.as_str().expect("an id");
    let review = operator::review(&fixture.memory, id, reference, None, NOW).map(drop);
    assert!(matches!(review, Err(RequestError::Corrupt(_))), "{review:?}");
    let explained = advice::explained(&fixture.memory, id, reference, NOW).map(drop);
    assert!(matches!(explained, Err(RequestError::Corrupt(_))), "{explained:?}");

    // Nothing was recorded: the requests are accepted once the store can be read again.
    fixture.memory.unreadable = None;
    let answer = fixture.send(&spare, "approve_activity", &approval, NOW).expect("the request is permitted");
    assert_eq!(answer["activity"]["status"], "ACTIVITY_STATUS_COMPLETED");
}
