//! Reviews of activities that have ended.

use quorate_common::activity::Status;
use quorate_common::console::ReviewRecord;
use serde_json::json;

use crate::proof::{json as review_json, plain_text};
use crate::testing::{Fixture, threshold_proposal};

const NOTE: &str = "The activity has ended: effects and flags that depend on the present state of the organization are not shown.";

/// Returns the names of the flags of a review.
fn flags(fixture: &Fixture, record: &ReviewRecord) -> Vec<&'static str> {
    fixture.review(record, 0).flags.iter().map(|flag| flag.name).collect()
}

fn end(record: &mut ReviewRecord, status: Status) {
    record.row.activity.status = status;
    record.row.waiting = None;
}

#[test]
fn an_executed_creation_is_not_compared_with_its_own_result() {
    let fixture = Fixture::new(3, 2);
    let parameters = json!({"walletName": "treasury-hot", "accounts": []});
    let mut record = fixture.propose(1, "ACTIVITY_TYPE_CREATE_WALLET", "createWalletIntent", &parameters);
    let waiting = fixture.review(&record, 0);
    assert!(flags(&fixture, &record).contains(&"same-name") && !waiting.changes.is_empty());
    assert!(!plain_text(&waiting).contains(NOTE));
    for status in [Status::Completed, Status::Failed, Status::Rejected] {
        end(&mut record, status);
        let review = fixture.review(&record, 0);
        assert_eq!((review.flags.len(), review.changes.len()), (0, 0), "{:?}", review.flags);
        let text = plain_text(&review);
        assert!(text.starts_with("Create wallet  (") && text.contains(NOTE), "{text}");
        assert!(text.contains("\"treasury-hot\""), "{text}");
        assert!(review_json(&review)["risk"].is_null());
    }
}

#[test]
fn what_is_gone_by_now_is_not_flagged() {
    let fixture = Fixture::new(3, 2);
    let gone = "00000000-0000-4000-8000-000000000000";
    let activity_type = "ACTIVITY_TYPE_DELETE_AUTHENTICATORS";
    let parameters = json!({"userId": gone, "authenticatorIds": [gone]});
    let mut record = fixture.propose(1, activity_type, "deleteAuthenticatorsIntent", &parameters);
    assert!(flags(&fixture, &record).contains(&"unknown-user"));
    end(&mut record, Status::Completed);
    assert_eq!(flags(&fixture, &record), ["access-removed"]);
}

#[test]
fn what_holds_for_the_signed_bytes_alone_stays_flagged() {
    let fixture = Fixture::new(3, 2);
    let parameters = json!({"policyName": "p\u{430}youts", "effect": "EFFECT_ALLOW", "condition": "true",
        "notes": "", "extra": 1});
    let mut record =
        fixture.propose(1, "ACTIVITY_TYPE_CREATE_POLICY_V3", "createPolicyIntentV3", &parameters);
    let before = flags(&fixture, &record);
    end(&mut record, Status::Completed);
    let after = flags(&fixture, &record);
    for name in ["allow-without-condition", "allow-without-consensus", "unknown-fields", "mixed-script"] {
        assert!(before.contains(&name) && after.contains(&name), "{name}: {before:?}, {after:?}");
    }
    // The present keys prove nothing about an earlier vote.
    let (fixture, mut record) = threshold_proposal();
    end(&mut record, Status::Completed);
    record.organization.users.retain(|user| user.user_id != Fixture::user(1));
    assert_eq!(flags(&fixture, &record), ["sets-quorum"]);
}
