//! A fault of the store is never a decision: whatever asks about an activity while records cannot be read is answered
//! with an internal error, and nothing is recorded.

use quorate_common::fault::{Code, Fault};
use quorate_common::fingerprint::Fingerprint;
use quorate_core::advice;
use quorate_core::operator;
use quorate_core::refusal::{Corrupt, Refusal};
use serde_json::{Value, json};

use crate::house::{House, NOW, Person};

/// The letter of the keys by which a signer is found.
const SIGNERS: u8 = b'w';

/// A house where the spare user may approve what the user asks to sign, by a policy about the wallet that signs.
fn policed() -> House {
    let mut house = House::found(2);
    let policy = json!({"policyName": "signing", "effect": "EFFECT_ALLOW", "notes": "",
        "condition": format!("wallet.id == '{}'", house.wallet.0),
        "consensus": format!("approvers.any(u, u.id == '{}') && approvers.any(u, u.id == '{}')",
            house.user.user, house.spare.user)});
    house.agreed("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy);
    house
}

fn signing(house: &mut House) -> Vec<u8> {
    let parameters = json!({"signWith": house.wallet.1, "payload": "ab".repeat(32),
        "encoding": "PAYLOAD_ENCODING_HEXADECIMAL", "hashFunction": "HASH_FUNCTION_NO_OP"});
    house.body(house.id, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", &parameters, NOW)
}

fn is_internal(answer: Result<Vec<u8>, Fault>, what: &str) {
    let answer = answer.map(|body| serde_json::from_slice::<Value>(&body).expect("JSON"));
    let fault = answer.expect_err(what);
    assert_eq!((fault.code, fault.message.as_str()), (Code::Internal, "internal server error"), "{what}");
}

#[test]
fn nobody_is_refused_or_let_in_by_what_cannot_be_read() {
    let mut house = policed();
    let (user, spare, id) = (house.user.clone(), house.spare.clone(), house.id);
    let body = signing(&mut house);
    let waits = house.send(&user, "sign_raw_payload", &body, NOW).expect("it waits for the spare user");
    assert_eq!(waits["activity"]["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    let activity = waits["activity"]["id"].clone();
    let fresh = signing(&mut house);
    let target = json!({"fingerprint": Fingerprint::of(&body)});
    let approval = house.body(id, "ACTIVITY_TYPE_APPROVE_ACTIVITY", &target, NOW);
    let rejection = house.body(id, "ACTIVITY_TYPE_REJECT_ACTIVITY", &target, NOW);
    let get = json!({"organizationId": id, "activityId": activity}).to_string().into_bytes();
    let waiting = json!({"organizationId": id, "filterByStatus": ["ACTIVITY_STATUS_CONSENSUS_NEEDED"]});
    let list = waiting.to_string().into_bytes();

    house.memory.unreadable = Some(SIGNERS);
    let mut submit = |person: &Person, operation: &str, body: &[u8]| {
        let turn = house.memory.turn(operation, &person.stamps(body), body, NOW);
        assert!(turn.commit.is_none(), "{operation} recorded something");
        assert!(
            matches!(turn.corrupt, Some(Corrupt::Store(_))),
            "{operation} does not say that the store failed"
        );
        is_internal(turn.answer, operation);
    };
    submit(&user, "sign_raw_payload", &fresh);
    submit(&user, "sign_raw_payload", &body);
    submit(&spare, "sign_raw_payload", &body);
    submit(&spare, "approve_activity", &approval);
    submit(&spare, "reject_activity", &rejection);
    for (operation, body) in [("get_activity", &get), ("list_activities", &list)] {
        let answer = house.memory.query(operation, &spare.stamps(body), body, NOW);
        assert_eq!(answer.expect_err(operation).code, Code::Internal, "{operation}");
    }
    let reference = activity.as_str().expect("an id");
    let review = operator::review(&house.memory, id, reference, NOW).map(drop);
    assert!(matches!(review, Err(Refusal::Corrupt(_))), "{review:?}");
    let explained = advice::explained(&house.memory, id, reference, NOW).map(drop);
    assert!(matches!(explained, Err(Refusal::Corrupt(_))), "{explained:?}");

    // Nothing of it was recorded: all of them are taken once the store answers again.
    house.memory.unreadable = None;
    let answer = house.send(&spare, "approve_activity", &approval, NOW).expect("they may");
    assert_eq!(answer["activity"]["status"], "ACTIVITY_STATUS_COMPLETED");
}
