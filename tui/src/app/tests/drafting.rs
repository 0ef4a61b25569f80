//! Policies written in the editor, reviewed, and asked for.

use quorate_common::activity::{Activity, Selection};
use quorate_common::ids::{ActivityId, PolicyId};
use quorate_common::wire::Policy;
use serde_json::{Value, json};

use super::*;
use crate::ballot::{Ballot, Choice};
use crate::link::Order;

const DRAFT: &str = "name = 'payouts'\neffect = 'ALLOW'\ncondition = \"activity.action == 'SIGN'\"\n\
    consensus = 'approvers.count() >= 2'";

/// A console on the screen of policies of an organization that has one.
fn desk(roots: u32) -> (Stage, Desk) {
    let stage = Stage::new(3, roots);
    let mut desk = Desk::new(&stage, &[], (120, 60));
    desk.inbox(organization(&stage), Vec::new());
    desk.press(Key::Char('4'));
    (stage, desk)
}

fn organization(stage: &Stage) -> OrganizationDetail {
    let mut organization = stage.organization();
    organization.policies = vec![Policy {
        policy_id: PolicyId::from_bytes([1; 16]),
        policy_name: "never".to_owned(),
        effect: "EFFECT_DENY".to_owned(),
        created_at: Timestamp::of_millis(NOW),
        updated_at: Timestamp::of_millis(NOW),
        notes: String::new(),
        consensus: String::new(),
        condition: "activity.action == 'EXPORT'".to_owned(),
        time: None,
    }];
    organization
}

fn editor(effects: &[Effect]) -> String {
    match effects {
        [Effect::Edit(text)] => text.clone(),
        other => unreachable!("{other:?}"),
    }
}

fn edited(desk: &mut Desk, text: &str) -> Vec<Effect> {
    update(&mut desk.model, Msg::Edited(Ok(text.to_owned())))
}

/// The digits that have to be typed.
fn four(desk: &Desk) -> String {
    match desk.model.review.as_ref().map(|open| open.review.challenge()) {
        Some(crate::proof::Challenge::LastFour(digits)) => digits,
        other => unreachable!("{other:?}"),
    }
}

fn word(text: &str) -> Vec<Key> {
    text.chars().map(Key::Char).chain([Key::Enter]).collect()
}

/// The activity that the daemon makes of it.
fn recorded(ballot: &Ballot, stamp: &Stamp, status: Status) -> Activity {
    let body: Value = serde_json::from_str(&ballot.message).unwrap();
    let id = ActivityId::timed(NOW, [7; 10]);
    Activity {
        id,
        organization_id: Stage::id(),
        status,
        activity_type: body["type"].as_str().unwrap().to_owned(),
        intent: json!({}),
        result: json!({}),
        votes: vec![Stage::vote(id, 0, Selection::Approved, &ballot.message, stamp, NOW)],
        app_proofs: Vec::new(),
        fingerprint: ballot.fingerprint,
        can_approve: false,
        can_reject: false,
        created_at: Timestamp::of_millis(NOW),
        updated_at: Timestamp::of_millis(NOW),
        failure: None,
    }
}

#[test]
fn a_new_policy_is_written_reviewed_and_asked_for() {
    let (_, mut desk) = desk(2);
    let blank = editor(&desk.press(Key::Char('n')));
    assert!(blank.contains("effect = \"ALLOW\""), "{blank}");
    assert_eq!(edited(&mut desk, DRAFT), [Effect::Order(Order::Recent(Stage::id()))]);
    let shown = desk.shown();
    assert!(shown.contains("Add the rule \"payouts\": ALLOW"), "{shown}");
    assert!(
        shown.contains("NEEDS APPROVAL: no policy allows it; so far 1 of 2 of the root quorum"),
        "{shown}"
    );
    assert!(shown.contains("nothing was sent"), "{shown}");
    desk.press(Key::Char('x'));
    assert!(desk.shown().contains("x does nothing here"), "{}", desk.shown());
    desk.wait(599_000);
    let digits = four(&desk);
    desk.press(Key::Char('a'));
    assert!(desk.shown().contains("LAST FOUR characters of the fingerprint"), "{}", desk.shown());
    desk.press(Key::Esc);
    assert_eq!(four(&desk), digits, "what was shown is what will be signed");
    desk.wait(2_000);
    desk.press(Key::Char('a'));
    assert!(desk.model.decide.is_none(), "bytes that grew old are made anew and looked at first");
    assert!(desk.shown().contains("the draft grew old"), "{}", desk.shown());
    let renewed = four(&desk);
    assert_ne!(renewed, digits);
    let stamp = until_hold(&mut desk, &word(&renewed));
    let effects = desk.wait(3100);
    let [Effect::Order(Order::Cast(id, cast))] = effects.as_slice() else { unreachable!("{effects:?}") };
    let ballot = cast.0.clone();
    assert_eq!(
        (*id, ballot.choice, ballot.path),
        (Stage::id(), Choice::Propose, "/public/v1/submit/create_policy")
    );
    let body: Value = serde_json::from_str(&ballot.message).unwrap();
    let asked_at = body["timestampMs"].as_str().and_then(|text| text.parse::<u64>().ok());
    assert!(asked_at.is_some_and(|at| at >= NOW + 600_000), "{body}");
    let expected = json!({"policyName": "payouts", "effect": "EFFECT_ALLOW", "condition": "activity.action == 'SIGN'",
        "consensus": "approvers.count() >= 2", "notes": ""});
    assert_eq!((&body["type"], &body["parameters"]), (&json!("ACTIVITY_TYPE_CREATE_POLICY_V3"), &expected));
    let effects = desk.link(Answer::Cast(Ok(Box::new(recorded(&ballot, &stamp, Status::ConsensusNeeded)))));
    let journal = effects.iter().find_map(|effect| match effect {
        Effect::Journal(noted) => Some(noted.0.activity),
        _ => None,
    });
    assert_eq!(journal, Some(ActivityId::timed(NOW, [7; 10])), "{effects:?}");
    let shown = desk.shown();
    assert!(
        shown.contains(
            "Proposal recorded, with my signature in the record [v]. It waits for others: jo [s], ana [s]."
        ),
        "{shown}"
    );
    desk.press(Key::Enter);
    assert!(desk.shown().contains("> Policies"), "{}", desk.shown());
    // What was sent is not taken up again.
    assert_eq!(editor(&desk.press(Key::Char('n'))), blank);
}

#[test]
fn a_removal_asks_for_what_is_dangerous_about_it() {
    let (_, mut desk) = desk(1);
    let effects = desk.press(Key::Char('D'));
    assert_eq!(effects, [Effect::Order(Order::Recent(Stage::id()))]);
    let shown = desk.shown();
    assert!(shown.contains("deny-removed") && shown.contains("ALLOWED: the root quorum agrees"), "{shown}");
    let digits = |desk: &Desk| match desk.model.review.as_ref().map(|open| open.review.challenge()) {
        Some(crate::proof::Challenge::Value(danger)) => danger.answer,
        other => unreachable!("{other:?}"),
    };
    let answer = digits(&desk);
    let stamp = until_hold(&mut desk, &word(&answer));
    let effects = desk.wait(3100);
    let [Effect::Order(Order::Cast(_, cast))] = effects.as_slice() else { unreachable!("{effects:?}") };
    assert_eq!(cast.1, stamp);
    let body: Value = serde_json::from_str(&cast.0.message).unwrap();
    assert_eq!(body["parameters"], json!({"policyId": PolicyId::from_bytes([1; 16])}));
    desk.link(Answer::Cast(Ok(Box::new(recorded(&cast.0, &stamp, Status::Completed)))));
    assert!(desk.shown().contains("It was executed."), "{}", desk.shown());
}

#[test]
fn a_draft_that_makes_no_policy_is_kept() {
    let (_, mut desk) = desk(1);
    let text = editor(&desk.press(Key::Char('E')));
    assert!(text.contains("condition = \"activity.action == 'EXPORT'\""), "{text}");
    let broken = text.replace("activity.action", "activity.moon");
    assert_eq!(edited(&mut desk, &broken), []);
    assert!(desk.shown().contains("invalid policy condition"), "{}", desk.shown());
    desk.press(Key::Esc);
    assert_eq!(editor(&desk.press(Key::Char('E'))), broken);
    assert_eq!(edited(&mut desk, &broken), [], "left as it was");
    assert!(desk.model.review.is_none());
    assert_eq!(editor(&desk.press(Key::Char('E'))), text);
    update(&mut desk.model, Msg::Edited(Err("there is no editor".to_owned())));
    assert!(desk.shown().contains("[!] there is no editor"), "{}", desk.shown());
    edited(&mut desk, &text.replace("'EXPORT'", "'DELETE'"));
    let shown = desk.shown();
    assert!(shown.contains("Change the rule \"never\""), "{shown}");
    assert!(shown.contains("- activity.action == 'EXPORT'"), "{shown}");
}

#[test]
fn what_would_be_refused_is_not_sent() {
    let (_, mut desk) = desk(1);
    let mut changed = organization(&Stage::new(3, 1));
    changed.head.root_quorum.user_ids.retain(|user| *user != Stage::user(0));
    desk.link(Answer::Organization(Box::new(changed)));
    desk.press(Key::Char('D'));
    assert!(desk.shown().contains("DENIED: no policy allows it"), "{}", desk.shown());
    desk.press(Key::Char('a'));
    assert!(desk.model.decide.is_none(), "{}", desk.shown());
}

#[test]
fn nothing_is_sent_when_the_organization_changes_meanwhile() {
    let (stage, mut desk) = desk(1);
    desk.press(Key::Char('D'));
    desk.press(Key::Char('a'));
    desk.wait(1100);
    let mut changed = organization(&stage);
    changed.head.version += 1;
    desk.link(Answer::Organization(Box::new(changed.clone())));
    assert!(
        desk.shown().contains("Nothing was sent: changed since the review: the organization"),
        "{}",
        desk.shown()
    );
    desk.press(Key::Esc);
    assert_eq!(desk.wait(5000), []);
    // The draft is looked at again with what is now.
    changed.head.version += 1;
    changed.policies.clear();
    desk.link(Answer::Organization(Box::new(changed)));
    assert!(desk.shown().contains("is not in this organization now"), "{}", desk.shown());
}

#[test]
fn nothing_is_drafted_without_a_key() {
    let (_, mut desk) = desk(1);
    desk.model.identity.public_key = None;
    desk.press(Key::Char('D'));
    assert!(desk.model.review.is_none());
    assert!(desk.shown().contains("no user and key are chosen"), "{}", desk.shown());
}
