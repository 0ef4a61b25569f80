//! Tests of every check, with an example that passes and one that fails.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod bundles;
mod drafts;
mod ended;
mod mfa;
mod passkeys;
mod transfers;

use quorate_common::activity::{Selection, Status};
use quorate_common::api_error::{ApiError, Code};
use quorate_common::console::{OrganizationDetail, ReviewRecord, WaitingReason, WaitingRule};
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{OrganizationId, UserId};
use quorate_common::wire::Timestamp;
use serde_json::{Value, json};

use super::*;
use crate::book::Book;
use crate::kinds::{Danger, Level};
use crate::known_keys::KnownKeys;
use crate::testing::{Fixture, NOW, card_proposal, tag_proposal, threshold_proposal, wallet_proposal};

fn mark(review: &Review, id: &str) -> Mark {
    review.checks.iter().find(|check| check.id == id).unwrap_or_else(|| unreachable!("{id} is missing")).mark
}

/// Asserts the result of one check after a change of an honest record.
fn check(id: &str, expected: Mark, change: impl Fn(&mut ReviewRecord)) {
    let (fixture, mut record) = threshold_proposal();
    change(&mut record);
    let review = fixture.review(&record, 0);
    let found = review.checks.iter().find(|check| check.id == id);
    assert_eq!(found.map(|check| check.mark), Some(expected), "{id}: {found:?}");
    assert_eq!(review.blocked(), review.checks.iter().any(|check| check.mark == Mark::Failed));
}

#[test]
fn an_honest_record_passes() {
    let (fixture, mut record) = threshold_proposal();
    fixture.approve(&mut record, 2);
    let review = fixture.review(&record, 0);
    for id in ["K1", "K2", "K3", "K4", "K5", "K6", "K7", "K9", "K10"] {
        assert_eq!(mark(&review, id), Mark::Verified, "{id}");
    }
    assert_eq!(mark(&review, "K8"), Mark::Stated);
    assert_eq!(mark(&review, "K11"), Mark::Attention);
    assert!(!review.blocked());
    assert_eq!((review.tally.has(), review.tally.needed, review.tally.short_by()), (2, 3, 1));
    assert_eq!(review.approval_error(), None);
    assert_eq!(review.risk, Level::High);
    assert_eq!(
        review.challenge(),
        Challenge::Value(Danger { prompt: "the NEW THRESHOLD".to_owned(), answer: "1".to_owned() })
    );
}

#[test]
fn bytes_must_hash_to_the_fingerprint() {
    check("K1", Mark::Failed, |record| record.row.activity.fingerprint = Fingerprint::of(b"other"));
    check("K1", Mark::Failed, |record| record.row.activity.votes[0].message.push(' '));
    check("K1", Mark::Failed, |record| record.row.activity.votes.clear());
}

#[test]
fn record_must_match_the_requested_activity() {
    let (fixture, record) = threshold_proposal();
    let mut known_keys = KnownKeys::default();
    known_keys.pin_new(&fixture.organization(), NOW);
    let viewer = Viewer {
        organization: Some(Fixture::id()),
        user: Some(Fixture::user(0)),
        pinned_by: PinnedBy::Id,
        ..Viewer::default()
    };
    let review = |reference: &str| {
        Review::of(&Evidence {
            record: &Record::from(record.clone()),
            siblings: &Siblings::default(),
            known_keys: &known_keys,
            book: &Book::EMPTY,
            viewer: &viewer,
            now: NOW,
            reference: Some(reference),
        })
    };
    assert_eq!(mark(&review(&record.row.activity.id.to_string()), "K1"), Mark::Verified);
    assert_eq!(mark(&review(&record.row.activity.fingerprint.to_string()), "K1"), Mark::Verified);
    assert_eq!(mark(&review(&Fingerprint::of(b"other").to_string()), "K1"), Mark::Failed);
}

#[test]
fn the_organization_must_be_the_pinned_one() {
    let other = OrganizationId::from_bytes([1; 16]);
    check("K2", Mark::Failed, |record| record.row.activity.organization_id = other);
    check("K2", Mark::Failed, |record| record.organization.head.organization_id = other);
    let (_, record) = threshold_proposal();
    let known_keys = KnownKeys::default();
    let by = |pinned_by: PinnedBy, organization: Option<OrganizationId>, record: &ReviewRecord| {
        let viewer = Viewer { organization, pinned_by, ..Viewer::default() };
        mark(
            &Review::of(&Evidence {
                record: &Record::from(record.clone()),
                siblings: &Siblings::default(),
                known_keys: &known_keys,
                book: &Book::EMPTY,
                viewer: &viewer,
                now: NOW,
                reference: None,
            }),
            "K2",
        )
    };
    let with = |organization, record: &ReviewRecord| by(PinnedBy::Id, organization, record);
    assert_eq!(with(None, &record), Mark::Stated);
    assert_eq!(with(Some(Fixture::id()), &record), Mark::Verified);
    assert_eq!(with(Some(other), &record), Mark::Failed);
    // Only the daemon states which id has a name, and what is a sub-organization.
    for pinned_by in [PinnedBy::Name, PinnedBy::Parent] {
        assert_eq!(by(pinned_by, Some(Fixture::id()), &record), Mark::Stated);
        assert_eq!(by(pinned_by, Some(other), &record), Mark::Failed);
    }
    let mut child = record.clone();
    child.organization.head.parent_organization_id = Some(other);
    assert_eq!(with(Some(other), &child), Mark::Failed);
}

#[test]
fn unknown_members_and_types_are_undecoded() {
    let fixture = Fixture::new(3, 2);
    let undecoded = |activity_type: &str, intent: &str, parameters: Value, flag: &str| {
        let record = fixture.propose(1, activity_type, intent, &parameters);
        let review = fixture.review(&record, 0);
        assert_eq!(mark(&review, "K3"), Mark::Attention, "{activity_type}");
        assert_eq!(review.risk, Level::High);
        assert!(review.high_flags().any(|found| found.name == flag), "{:?}", review.flags);
        assert!(!review.fields.is_empty());
    };
    undecoded("ACTIVITY_TYPE_NEW_THING", "newThingIntent", json!({"amount": "7"}), "undecoded");
    undecoded("ACTIVITY_TYPE_CREATE_USER_TAG", "createUserTagIntent", json!({"userTagName": 5}), "undecoded");
    undecoded(
        "ACTIVITY_TYPE_CREATE_USER_TAG",
        "createUserTagIntent",
        json!({"userTagName": "a", "admin": true}),
        "unknown-fields",
    );
    let body = json!({"type": "ACTIVITY_TYPE_CREATE_USER_TAG", "timestampMs": "1795252440000", "organizationId": Fixture::id(),
        "parameters": {"userTagName": "a"}, "generateAppProofs": true});
    let record = fixture.propose_bytes(
        1,
        &body.to_string(),
        "ACTIVITY_TYPE_CREATE_USER_TAG",
        json!({"createUserTagIntent": {"userTagName": "a", "userIds": []}}),
    );
    let review = fixture.review(&record, 0);
    assert_eq!((mark(&review, "K3"), review.risk), (Mark::Verified, Level::Low));
    assert!(review.fields.iter().any(|field| field.name.contains("generateAppProofs")));
    let body = body.to_string().replace("generateAppProofs", "something");
    let record = fixture.propose_bytes(
        1,
        &body,
        "ACTIVITY_TYPE_CREATE_USER_TAG",
        json!({"createUserTagIntent": {"userTagName": "a"}}),
    );
    assert_eq!(fixture.review(&record, 0).risk, Level::High);
}

#[test]
fn intent_must_match_the_signed_bytes() {
    check("K4", Mark::Failed, |record| {
        record.row.activity.intent["updateRootQuorumIntent"]["threshold"] = json!(3);
    });
    check("K4", Mark::Failed, |record| {
        record.row.activity.activity_type = "ACTIVITY_TYPE_CREATE_USER_TAG".to_owned();
    });
    check("K4", Mark::Failed, |record| record.row.activity.intent = json!({}));
    check("K4", Mark::Failed, |record| {
        let inner = record.row.activity.intent["updateRootQuorumIntent"].clone();
        record.row.activity.intent = json!({"createUserTagIntent": inner});
    });
    check("K4", Mark::Verified, |record| {
        record.row.activity.intent["updateRootQuorumIntent"]["note"] = json!("");
    });
}

#[test]
fn mixed_activities_are_blocked() {
    let (fixture, dangerous) = threshold_proposal();
    let (_, harmless) = tag_proposal();
    let mut mixed = dangerous.clone();
    mixed.row.activity.intent = harmless.row.activity.intent.clone();
    mixed.row.activity.activity_type = harmless.row.activity.activity_type.clone();
    assert!(fixture.review(&mixed, 0).blocked());
    let mut mixed = harmless.clone();
    mixed.row.activity.fingerprint = dangerous.row.activity.fingerprint;
    assert!(fixture.review(&mixed, 0).blocked());
    let mut mixed = harmless;
    mixed.row.activity.votes = dangerous.row.activity.votes;
    assert!(fixture.review(&mixed, 0).blocked());
}

#[test]
fn proposer_must_have_signed() {
    check("K5", Mark::Failed, |record| {
        let vote = &mut record.row.activity.votes[0];
        vote.signature = Fixture::stamper(1).stamp(b"else").unwrap().signature;
    });
    check("K5", Mark::Failed, |record| {
        record.row.activity.votes[0].public_key = Fixture::stamper(2).public_key().to_owned();
    });
    check("K5", Mark::Failed, |record| {
        record.row.activity.votes[0].scheme = "SIGNATURE_SCHEME_TK_WEBAUTHN".to_owned();
    });
}

#[test]
fn new_key_of_the_proposer_is_flagged() {
    let (fixture, record) = threshold_proposal();
    let organization = fixture.organization();
    let mut before = organization.clone();
    before.users[1].api_keys.clear();
    let review = |first: u64, second: u64| {
        let mut known_keys = KnownKeys::default();
        known_keys.pin_new(&before, first);
        known_keys.pin_new(&organization, second);
        Fixture::review_with(&record, &known_keys, 0)
    };
    let day = 86_400_000;
    let young = review(NOW - 9 * day, NOW - 3_600_000);
    assert_eq!(mark(&young, "K6"), Mark::Attention);
    assert!(young.high_flags().any(|flag| flag.name == "proposer-key-new"));
    let old = review(NOW - 9 * day, NOW - 2 * day);
    // Time alone confirms no key: the daemon can invent one.
    assert_eq!(mark(&old, "K6"), Mark::Stated);
    assert!(!old.flags.iter().any(|flag| flag.name == "proposer-key-new"));
    let unconfirmed = old.flags.iter().find(|flag| flag.name == "proposer-key-unconfirmed");
    assert_eq!(unconfirmed.map(|flag| flag.level), Some(Level::Med));
}

#[test]
fn a_vote_with_an_unconfirmed_key_is_stated() {
    let (fixture, mut record) = threshold_proposal();
    fixture.approve(&mut record, 2);
    let mut before = fixture.organization();
    before.users[2].api_keys.clear();
    let day = 86_400_000;
    let review = |first: &OrganizationDetail| {
        let mut known_keys = KnownKeys::default();
        known_keys.pin_new(first, NOW - 9 * day);
        known_keys.pin_new(&fixture.organization(), NOW - 2 * day);
        Fixture::review_with(&record, &known_keys, 0)
    };
    let unconfirmed = review(&before);
    assert_eq!((mark(&unconfirmed, "K6"), mark(&unconfirmed, "K7")), (Mark::Verified, Mark::Stated));
    let flag = unconfirmed.flags.iter().find(|flag| flag.name == "voter-key-unconfirmed");
    assert_eq!(flag.map(|flag| flag.level), Some(Level::Med));
    let casts = json(&unconfirmed)["votes"]["cast"].clone();
    assert_eq!((&casts[0]["keyConfirmed"], &casts[1]["keyConfirmed"]), (&json!(true), &json!(false)));
    let confirmed = review(&fixture.organization());
    assert_eq!(mark(&confirmed, "K7"), Mark::Verified);
    assert!(!confirmed.flags.iter().any(|flag| flag.name.ends_with("-unconfirmed")));
}

#[test]
fn votes_that_do_not_verify_do_not_count() {
    let spoil = |change: &dyn Fn(&mut quorate_common::activity::Vote)| {
        let (fixture, mut record) = threshold_proposal();
        fixture.approve(&mut record, 2);
        change(&mut record.row.activity.votes[1]);
        let review = fixture.review(&record, 0);
        assert_eq!(mark(&review, "K7"), Mark::Attention);
        assert_eq!(review.tally.has(), 1);
        // The daemon still counts it, so the check of its claim fails.
        assert_eq!(mark(&review, "K8"), Mark::Failed);
        assert!(review.blocked());
    };
    spoil(&|vote| vote.message = vote.message.replace("1795252740000", "1795252740001"));
    spoil(&|vote| vote.signature.replace_range(20..22, "00"));
    spoil(&|vote| vote.public_key = Fixture::stamper(3).public_key().to_owned());
    spoil(&|vote| {
        let ballot = crate::ballot::Ballot::vote(true, Fixture::id(), Fingerprint::of(b"other"), NOW);
        vote.signature = Fixture::stamper(2).stamp(ballot.message.as_bytes()).unwrap().signature;
        vote.message = ballot.message;
    });
    spoil(&|vote| {
        let message = vote.message.replace("APPROVE", "REJECT");
        vote.signature = Fixture::stamper(2).stamp(message.as_bytes()).unwrap().signature;
        vote.message = message;
    });
    // A valid signature, but by a key of another user.
    spoil(&|vote| {
        let stamp = Fixture::stamper(9).stamp(vote.message.as_bytes()).unwrap();
        (vote.public_key, vote.signature) = (stamp.public_key, stamp.signature);
    });
}

#[test]
fn one_user_counts_once() {
    let (fixture, mut record) = threshold_proposal();
    fixture.approve(&mut record, 2);
    fixture.approve(&mut record, 2);
    let review = fixture.review(&record, 0);
    assert_eq!(review.tally.has(), 2);
    assert_eq!(mark(&review, "K7"), Mark::Attention);
    assert!(review.votes[2].error.as_ref().unwrap().contains("counted once"));
}

#[test]
fn claims_beyond_the_verified_votes_fail() {
    check("K8", Mark::Failed, |record| record.row.waiting.as_mut().unwrap().counted.push(Fixture::user(4)));
    check("K8", Mark::Failed, |record| record.row.waiting.as_mut().unwrap().needed = 1);
    check("K8", Mark::Stated, |record| record.row.waiting.as_mut().unwrap().counted.clear());
    check("K8", Mark::Attention, |record| record.row.waiting = None);
    check("K8", Mark::Failed, |record| record.row.waiting.as_mut().unwrap().rule = WaitingRule::Policy);
}

#[test]
fn the_rule_is_evaluated_here() {
    let k8 = |expected: Mark, expected_text: &str, change: &dyn Fn(&mut ReviewRecord)| {
        let (fixture, mut record) = wallet_proposal();
        change(&mut record);
        let review = fixture.review(&record, 0);
        let found = review.checks.iter().find(|check| check.id == "K8").unwrap();
        assert_eq!(found.mark, expected, "{expected_text}: {}", found.text);
        assert!(found.text.contains(expected_text), "{}", found.text);
    };
    let waits = |record: &mut ReviewRecord, rule: WaitingRule, reason: WaitingReason| {
        let waiting = record.row.waiting.as_mut().unwrap();
        (waiting.rule, waiting.reason) = (rule, reason);
    };
    k8(Mark::Stated, "1 verified approval, waiting for approvals required by \"wallets by two\"", &|_| {});
    let (fixture, record) = wallet_proposal();
    let needs = needs(&fixture.review(&record, 0));
    assert!(
        needs.starts_with("policy \"wallets by two\" [s], or 3 [s] of the root quorum; 1 approval so far; "),
        "{needs}"
    );
    // The daemon requires fewer people than this evaluation.
    k8(Mark::Failed, "nothing is missing", &|record| {
        waits(record, WaitingRule::RootQuorum, WaitingReason::NextVote);
    });
    k8(Mark::Failed, "no policy allows it; 1 of 3 root approvals so far", &|record| {
        record.organization.policies[0].condition = "activity.resource == 'USER'".to_owned();
    });
    // The daemon requires more people, or the same number for another reason.
    k8(Mark::Attention, "waiting for approvals required by \"wallets by two\"", &|record| {
        waits(record, WaitingRule::RootQuorum, WaitingReason::NoPolicyAllows);
    });
    k8(Mark::Attention, "another outcome of policy \"wallets by two\"", &|record| {
        record.row.waiting.as_mut().unwrap().policy_evaluations[0].outcome = "OUTCOME_ERROR".to_owned();
    });
    k8(Mark::Attention, "accepts votes of 1 user whose", &|record| {
        record.row.waiting.as_mut().unwrap().open_to.push(UserId::from_bytes([0xee; 16]));
    });
    // The two clocks may differ.
    k8(Mark::Attention, "no policy allows it", &|record| {
        let policy = &mut record.organization.policies[0];
        policy.condition = "activity.resource == 'USER'".to_owned();
        policy.time = Some("time.now < Timestamp('2027-01-01T00:00:00Z')".to_owned());
    });
    k8(Mark::Attention, "cannot be evaluated here: policy \"wallets by two\": ", &|record| {
        record.organization.policies[0].condition = "activity.moon == 1".to_owned();
    });
    k8(Mark::Stated, "the daemon states that more are needed", &|record| record.rule_inputs = None);
}

#[test]
fn rule_is_not_evaluated_without_its_signer() {
    let fixture = Fixture::new(3, 2);
    let parameters = json!({"signWith": "0x00", "payload": "00", "encoding": "PAYLOAD_ENCODING_HEXADECIMAL",
        "hashFunction": "HASH_FUNCTION_SHA256"});
    let record =
        fixture.propose(1, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", "signRawPayloadIntentV2", &parameters);
    let review = fixture.review(&record, 0);
    let found = review.checks.iter().find(|check| check.id == "K8").unwrap();
    assert_eq!((found.mark, found.text.contains("no key signs for 0x00")), (Mark::Attention, true));
}

#[test]
fn times_must_match_and_votes_expire() {
    check("K9", Mark::Attention, |record| {
        record.row.activity.created_at = Timestamp::from_millis(NOW - 5 * 3_600_000);
    });
    let (fixture, mut record) = threshold_proposal();
    let cast = Timestamp::from_millis(NOW - 25 * 3_600_000);
    record.row.activity.created_at = cast.clone();
    record.row.activity.votes[0].created_at = cast;
    record.row.waiting.as_mut().unwrap().counted.clear();
    let review = fixture.review(&record, 0);
    assert_eq!(review.tally.has(), 0);
    assert_eq!(mark(&review, "K7"), Mark::Attention);
}

#[test]
fn disabled_commands_give_a_reason() {
    let (fixture, mut record) = threshold_proposal();
    assert!(fixture.review(&record, 1).approval_error().unwrap().contains("already voted"));
    record.row.waiting.as_mut().unwrap().open_to = vec![Fixture::user(2)];
    assert!(fixture.review(&record, 0).approval_error().unwrap().contains("would not count"));
    assert_eq!(fixture.review(&record, 0).rejection_error(), None);
    record.row.activity.status = Status::Rejected;
    assert!(fixture.review(&record, 0).approval_error().unwrap().contains("rejected"));
    assert!(fixture.review(&record, 0).rejection_error().is_some());
}

#[test]
fn rejecting_votes_never_count_as_approvals() {
    let (fixture, mut record) = threshold_proposal();
    let ballot =
        crate::ballot::Ballot::vote(false, Fixture::id(), record.row.activity.fingerprint, NOW - 1000);
    let stamp = Fixture::stamper(3).stamp(ballot.message.as_bytes()).unwrap();
    let id = record.row.activity.id;
    record.row.activity.votes.push(Fixture::vote(
        id,
        3,
        Selection::Rejected,
        &ballot.message,
        &stamp,
        NOW - 1000,
    ));
    let review = fixture.review(&record, 0);
    assert_eq!((review.tally.has(), mark(&review, "K7")), (1, Mark::Verified));
}

#[test]
fn untrusted_text_is_flagged_and_cleaned() {
    let fixture = Fixture::new(3, 2);
    let record = fixture.propose(
        1,
        "ACTIVITY_TYPE_CREATE_USER_TAG",
        "createUserTagIntent",
        &json!({"userTagName": "a\u{202e}b\u{1b}[31m \u{430}dmin"}),
    );
    let review = fixture.review(&record, 0);
    assert!(review.flags.iter().any(|flag| flag.name == "hidden-characters"));
    assert!(review.flags.iter().any(|flag| flag.name == "mixed-script"));
    assert!(review.sentence.contains("a<U+202E>b<U+001B>[31m"));
    let all = json(&review)["sentence"].to_string() + &plain_text(&review);
    assert!(!all.contains('\u{202e}') && !all.contains('\u{1b}'));
}

#[test]
fn waiting_activities_that_override_are_flagged() {
    let (fixture, record) = threshold_proposal();
    let other = fixture.propose(
        2,
        "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM",
        "updateRootQuorumIntent",
        &json!({"threshold": 2, "userIds": []}),
    );
    let mut known_keys = KnownKeys::default();
    known_keys.pin_new(&record.organization, NOW - 2 * 86_400_000);
    let viewer = Viewer::default();
    let siblings = [record.row.clone(), other.row];
    let flags = |siblings: &[quorate_common::console::ActivityRow]| {
        let siblings: Siblings = siblings.iter().filter_map(|row| Sibling::of(&row.activity)).collect();
        Review::of(&Evidence {
            record: &Record::from(record.clone()),
            siblings: &siblings,
            known_keys: &known_keys,
            book: &Book::EMPTY,
            viewer: &viewer,
            now: NOW,
            reference: None,
        })
        .flags
    };
    assert!(flags(&siblings).iter().any(|flag| flag.name == "several-pending"));
    assert!(!flags(&siblings[..1]).iter().any(|flag| flag.name == "several-pending"));
}

#[test]
fn masked_activities_are_blocked_with_a_reason() {
    let (fixture, mut record) = card_proposal();
    let review = fixture.review(&record, 0);
    assert_eq!((mark(&review, "K1"), mark(&review, "K8")), (Mark::Failed, Mark::Failed));
    assert!(review.blocked() && review.fields.is_empty());
    let reason = "the daemon hides a card's number";
    assert!(review.approval_error().unwrap().ends_with(reason));
    assert!(
        review.sentence.contains(reason) && review.sentence.contains("cannot prove"),
        "{}",
        review.sentence
    );
    assert!(review.checks[0].text.contains(reason));
    assert!(review.vote_target().is_err() && review.rejection_error().is_some());
    // A mismatch of any other type is reported without that explanation.
    record.row.activity.activity_type = "ACTIVITY_TYPE_SET_PAYMENT_METHOD_V2".to_owned();
    let review = fixture.review(&record, 0);
    assert!(review.blocked() && !review.sentence.contains(reason));
    assert!(review.approval_error().unwrap().contains("a check failed"));
}

/// Returns the record of a login by code, as the daemon stores it: without the token.
fn login_record(fixture: &Fixture) -> ReviewRecord {
    let activity_type = "ACTIVITY_TYPE_OTP_LOGIN_V2";
    let key = &fixture.organization().users[1].api_keys[0].credential.public_key;
    let signature = json!({"publicKey": key, "scheme": "CLIENT_SIGNATURE_SCHEME_API_P256", "message": "{}", "signature": "00"});
    let body = |token: &str| {
        json!({"type": activity_type, "timestampMs": (NOW - 600_000).to_string(), "organizationId": Fixture::id(),
            "parameters": {"verificationToken": token, "publicKey": key, "expirationSeconds": "60", "clientSignature": signature}})
    };
    let kept = body("");
    let intent = json!({"otpLoginIntentV2": kept["parameters"]});
    let mut record = fixture.propose_bytes(0, &body("a.b.c").to_string(), activity_type, intent);
    record.row.activity.votes[0].message = kept.to_string();
    record
}

#[test]
fn closed_logins_are_shown_as_the_daemon_states_them() {
    let fixture = Fixture::new(3, 2);
    let mut record = login_record(&fixture);
    let waiting = fixture.review(&record, 0);
    assert!(waiting.blocked() && waiting.risk == Level::High, "one that waits could still be approved");
    record.row.activity.status = Status::Completed;
    let review = fixture.review(&record, 0);
    assert_eq!((review.risk, review.flags.len(), review.title.as_str()), (Level::Low, 0, "Log in by code"));
    assert_eq!(mark(&review, "K1"), Mark::Stated);
    assert!(
        !review.blocked()
            && review.checks.iter().all(|check| check.mark != Mark::Verified || check.id == "K10"),
        "{:?}",
        review.checks
    );
    assert!(
        review.sentence.starts_with("The daemon states [s]: Open a session for 1m"),
        "{}",
        review.sentence
    );
    let holder = &fixture.organization().users[1].user_name;
    assert!(
        review
            .facts
            .iter()
            .any(|fact| fact.name == "holder of publicKey" && fact.value.contains(holder.as_str()))
    );
    assert!(review.proposer.contains(&fixture.organization().users[0].user_name), "{}", review.proposer);
    assert!(
        review.approval_error().is_some()
            && review.rejection_error().is_some()
            && review.vote_target().is_err()
    );
    // Bytes of any other type that are missing are an error, whatever the status is.
    let (fixture, mut record) = tag_proposal();
    record.row.activity.status = Status::Completed;
    record.row.activity.votes[0].message.push(' ');
    let review = fixture.review(&record, 0);
    assert!(review.blocked() && review.title == "UNDECODED");
}

#[test]
fn failures_are_reported() {
    let (fixture, mut record) = tag_proposal();
    record.row.activity.status = Status::Failed;
    record.row.activity.failure = Some(ApiError::new(Code::NotFound, "no tag \u{1b}[31mfound"));
    let text = plain_text(&fixture.review(&record, 0));
    assert!(
        text.contains("\nfailed    no tag ") && text.contains("found [s]\n") && !text.contains('\u{1b}'),
        "{text}"
    );
}

#[test]
fn stated_facts_are_never_verified() {
    let (fixture, mut record) = threshold_proposal();
    fixture.approve(&mut record, 2);
    let k8 = |record: &ReviewRecord| {
        let review = fixture.review(record, 0);
        review.checks.iter().find(|check| check.id == "K8").unwrap().clone()
    };
    assert_eq!(k8(&record).mark, Mark::Stated, "{:?}", k8(&record));
    // A lower threshold that the daemon states consistently still differs from the known one.
    record.organization.head.root_quorum.threshold = 2;
    record.row.waiting.as_mut().unwrap().needed = 2;
    let review = fixture.review(&record, 0);
    assert!(review.blocked(), "{:?}", review.checks);
}

#[test]
fn root_quorum_changes_are_always_high_risk() {
    let fixture = Fixture::new(3, 2);
    let members: Vec<UserId> = (0..3).map(Fixture::user).collect();
    let record = fixture.propose(
        1,
        "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM",
        "updateRootQuorumIntent",
        &json!({"threshold": 2, "userIds": members}),
    );
    assert_eq!(fixture.review(&record, 0).risk, Level::High);
}

#[test]
fn forged_votes_are_not_reported_as_expired() {
    let (fixture, mut record) = threshold_proposal();
    record.row.activity.votes[0].signature = Fixture::stamper(1).stamp(b"else").unwrap().signature;
    let review = fixture.review(&record, 0);
    let k9 = review.checks.iter().find(|check| check.id == "K9").unwrap();
    assert!(!k9.text.contains("expired"), "{}", k9.text);
}

#[test]
fn changed_names_and_quorums_are_flagged() {
    let (fixture, mut record) = threshold_proposal();
    record.organization.users.swap(0, 1);
    let (one, other) =
        (record.organization.users[0].user_name.clone(), record.organization.users[1].user_name.clone());
    record.organization.users[0].user_name = other;
    record.organization.users[1].user_name = one;
    let review = fixture.review(&record, 0);
    assert_eq!(review.high_flags().filter(|flag| flag.name == "name-changed").count(), 2);
    // Every name is marked as stated, none as verified.
    assert!(review.facts.iter().all(|fact| fact.value.contains("\" [s] (")), "{:?}", review.facts);
    let (_, mut record) = threshold_proposal();
    record.organization.head.root_quorum.user_ids.pop();
    let review = fixture.review(&record, 0);
    assert!(review.high_flags().any(|flag| flag.name == "quorum-not-known"));
    assert_eq!(mark(&review, "K10"), Mark::Failed);
}
