//! Tests of receipts: what a vote came to, what the activity has yielded, and the way to the next one.

use quorate_common::activity::{Activity, Selection};
use serde_json::json;

use super::*;

/// Votes for the first of these records. Returns the console and the signature, once the daemon has answered with the
/// changed activity.
fn vote(
    fixture: &Fixture,
    records: &[ReviewRecord],
    keys: &[Key],
    change: &dyn Fn(&mut Activity),
    is_recorded: bool,
) -> (TestConsole, Stamp) {
    let mut console = TestConsole::new(fixture, records, (120, 60));
    console.open(&records[0]);
    let stamp = sign_vote(&mut console, keys);
    console.wait(3100);
    let effects = console.link(Answer::Preflight(Ok(Box::new(records[0].clone()))));
    let [Effect::Send(_, Order::Cast(_, vote))] = effects.as_slice() else { unreachable!("{effects:?}") };
    let mut after = records[0].row.activity.clone();
    if is_recorded {
        after.votes.push(Fixture::vote(after.id, 0, Selection::Approved, &vote.0.message, &vote.1, NOW));
    }
    change(&mut after);
    console.link(Answer::Cast(Ok(Box::new(after.into()))));
    (console, stamp)
}

#[test]
fn receipts_distinguish_outcomes() {
    let (fixture, record) = tag_proposal();
    let receipt = |change: &dyn Fn(&mut Activity), is_recorded: bool| {
        vote(&fixture, std::slice::from_ref(&record), &LOW, change, is_recorded).0.shown()
    };
    assert!(receipt(&|_| {}, true).contains("It waits for others: ana"));
    assert!(receipt(&|after| after.status = Status::Failed, true).contains("executed and FAILED"));
    assert!(receipt(&|after| after.status = Status::Completed, false).contains("[x] Sent, but"));
    assert!(receipt(&|after| after.votes[1].signature = "00".to_owned(), true).contains("[x] Sent, but"));
}

fn completed(after: &mut Activity) {
    after.status = Status::Completed;
    after.result = json!({"createUserTagResult": {"userTagId": "5b1f", "userIds": []}});
}

#[test]
fn a_receipt_shows_id_signature_and_result_and_opens_what_waits_next() {
    let (fixture, record) = tag_proposal();
    let later = json!({"userTagName": "later", "userIds": []});
    let next = fixture.propose(1, "ACTIVITY_TYPE_CREATE_USER_TAG", "createUserTagIntent", &later);
    // The answer and Enter suffice for a low risk.
    let keys = [Key::Char('y'), Key::Enter];
    let (mut console, stamp) = vote(&fixture, &[record.clone(), next.clone()], &keys, &completed, true);
    let shown = console.shown();
    let flat: String = shown.chars().filter(char::is_ascii_hexdigit).collect();
    assert!(shown.contains(&format!("activity   {}", record.row.activity.id)), "{shown}");
    assert!(flat.contains(&stamp.signature), "{shown}");
    assert!(shown.contains("result     userTagId [s]: 5b1f"), "{shown}");
    assert!(shown.contains("Next: 1 for you. n opens LOW Create user tag"), "{shown}");
    assert!(shown.contains("n Next  Enter Close") && !shown.contains("Next field"), "{shown}");
    let effects = console.press(Key::Char('n'));
    let id = next.row.activity.id.to_string();
    assert!(
        matches!(effects.as_slice(), [Effect::Order(Order::Record(_, reference))] if *reference == id),
        "{effects:?}"
    );
    console.link(Answer::Record(id, Box::new(next)));
    assert!(console.shown().contains("later"), "{}", console.shown());
}

#[test]
fn what_comes_next_matches_the_filter_of_the_inbox() {
    let fixture = Fixture::new(3, 2);
    let tag = |name: &str| {
        let parameters = json!({"userTagName": name, "userIds": []});
        fixture.propose(1, "ACTIVITY_TYPE_CREATE_USER_TAG", "createUserTagIntent", &parameters)
    };
    for (others, expected) in [
        (
            vec![tag("other"), tag("payouts two")],
            "Next: 1 for you in /payouts. n opens LOW Create user tag, \"payouts two\"",
        ),
        (vec![tag("other")], "Nothing else waits for you in /payouts."),
    ] {
        let mut records = [vec![tag("payouts one")], others].concat();
        records[0].row.activity.created_at = Timestamp::from_millis(NOW - 700_000);
        let mut console = TestConsole::new(&fixture, &records, (120, 60));
        console.press(Key::Char('/'));
        "payouts".chars().for_each(|letter| drop(console.press(Key::Char(letter))));
        console.press(Key::Enter);
        console.open(&records[0]);
        sign_vote(&mut console, &LOW);
        console.wait(3100);
        let effects = console.link(Answer::Preflight(Ok(Box::new(records[0].clone()))));
        let [Effect::Send(_, Order::Cast(_, vote))] = effects.as_slice() else { unreachable!("{effects:?}") };
        let mut after = records[0].row.activity.clone();
        after.votes.push(Fixture::vote(after.id, 0, Selection::Approved, &vote.0.message, &vote.1, NOW));
        completed(&mut after);
        console.link(Answer::Cast(Ok(Box::new(after.into()))));
        let shown = console.shown().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains(expected), "{shown}");
    }
}

#[test]
fn a_review_of_an_ended_activity_shows_its_result_and_no_key_that_decides() {
    let (fixture, mut record) = tag_proposal();
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 60));
    completed(&mut record.row.activity);
    console.open(&record);
    let shown = console.shown();
    assert!(shown.contains("result") && shown.contains("userTagId [s]: 5b1f"), "{shown}");
    assert!(!shown.contains("sections seen") && !shown.contains("a Approve"), "{shown}");
    assert!(!shown.contains("x Reject"), "{shown}");
    console.press(Key::Char('a'));
    assert!(console.shown().contains("cannot approve: it is no longer waiting"), "{}", console.shown());
    for (size, keys) in [((80, 24), "Space Next"), ((40, 12), "Space Next")] {
        console.model.shared.size = size;
        let shown = console.shown();
        assert!(shown.contains(keys) && !shown.contains("a Approve"), "{shown}");
    }
}

#[test]
fn the_last_receipt_has_no_next_one() {
    let (fixture, record) = tag_proposal();
    let (mut console, _) = vote(&fixture, std::slice::from_ref(&record), &LOW, &completed, true);
    assert!(console.shown().contains("Nothing else waits for you."), "{}", console.shown());
    assert_eq!(console.press(Key::Char('n')), []);
}

#[test]
fn cancel_closes_a_decision() {
    let (fixture, record) = tag_proposal();
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 60));
    console.open(&record);
    console.press(Key::Char('a'));
    console.wait(1100);
    for key in [Key::Char('y'), Key::Tab, Key::Tab, Key::Enter] {
        assert!(!signs_or_sends(&console.press(key)));
    }
    assert!(!console.is_deciding() && console.model.notice.contains("nothing was sent"));
}
