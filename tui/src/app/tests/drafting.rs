//! Tests of policies that are written in the editor, reviewed and proposed.

use quorate_common::activity::{Activity, Selection};
use quorate_common::ids::{ActivityId, PolicyId};
use quorate_common::wire::Policy;
use serde_json::{Value, json};

use super::*;
use crate::ballot::{Ballot, Choice};
use crate::link::Order;

const DRAFT: &str = "name = 'payouts'\neffect = 'ALLOW'\ncondition = \"activity.action == 'SIGN'\"\n\
    consensus = 'approvers.count() >= 2'";

/// Opens the policies screen of an organization with one policy.
fn console(roots: u32) -> (Fixture, TestConsole) {
    let fixture = Fixture::new(3, roots);
    let mut console = TestConsole::new(&fixture, &[], (120, 60));
    console.inbox(organization(&fixture), Vec::new());
    console.press(Key::Char('4'));
    (fixture, console)
}

fn organization(fixture: &Fixture) -> OrganizationDetail {
    let mut organization = fixture.organization();
    organization.policies = vec![Policy {
        policy_id: PolicyId::from_bytes([1; 16]),
        policy_name: "never".to_owned(),
        effect: "EFFECT_DENY".to_owned(),
        created_at: Timestamp::from_millis(NOW),
        updated_at: Timestamp::from_millis(NOW),
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

fn edited(console: &mut TestConsole, text: &str) -> Vec<Effect> {
    update(&mut console.model, Msg::Edited(Ok(text.to_owned())))
}

/// Returns the digits that the challenge shows.
fn four(console: &TestConsole) -> String {
    match console.model.review.as_ref().map(|open| open.review.challenge()) {
        Some(crate::proof::Challenge::LastFour(digits)) => digits,
        other => unreachable!("{other:?}"),
    }
}

fn word(text: &str) -> Vec<Key> {
    text.chars().map(Key::Char).chain([Key::Enter]).collect()
}

/// Returns the activity that the daemon records for a proposal.
fn recorded(ballot: &Ballot, stamp: &Stamp, status: Status) -> Activity {
    let body: Value = serde_json::from_str(&ballot.message).unwrap();
    let id = ActivityId::timed(NOW, [7; 10]);
    Activity {
        id,
        organization_id: Fixture::id(),
        status,
        activity_type: body["type"].as_str().unwrap().to_owned(),
        intent: json!({}),
        result: json!({}),
        votes: vec![Fixture::vote(id, 0, Selection::Approved, &ballot.message, stamp, NOW)],
        app_proofs: Vec::new(),
        fingerprint: ballot.fingerprint,
        can_approve: false,
        can_reject: false,
        created_at: Timestamp::from_millis(NOW),
        updated_at: Timestamp::from_millis(NOW),
        failure: None,
    }
}

/// The keys of a draft name the command that proposes it, and none of a policy.
fn assert_names_propose(keys: &str) {
    let names_policies = keys.contains("policy new") || keys.contains("policy get");
    assert!(keys.contains("(quorate propose TYPE)") && !names_policies, "{keys}");
}

#[test]
fn a_new_policy_is_written_reviewed_and_proposed() {
    let (_, mut console) = console(2);
    let blank = editor(&console.press(Key::Char('n')));
    assert!(blank.contains("effect = \"ALLOW\""), "{blank}");
    assert_eq!(edited(&mut console, DRAFT), [Effect::Order(Order::Recent(Fixture::id()))]);
    let shown = console.shown();
    assert!(shown.contains("Add the policy \"payouts\": ALLOW"), "{shown}");
    assert!(shown.contains("NEEDS APPROVAL: no policy allows it; 1 of 2 root approvals so far"), "{shown}");
    assert!(shown.contains("nothing was sent"), "{shown}");
    console.press(Key::Char('x'));
    assert!(console.shown().contains("x does nothing here"), "{}", console.shown());
    console.press(Key::Char('?'));
    assert_names_propose(&console.shown());
    console.press(Key::Esc);
    console.wait(598_000);
    let digits = four(&console);
    console.press(Key::Char('a'));
    assert!(console.shown().contains("LAST FOUR characters of the fingerprint"), "{}", console.shown());
    console.press(Key::Esc);
    assert_eq!(four(&console), digits, "the shown bytes will be signed");
    console.wait(3_000);
    console.press(Key::Char('a'));
    assert!(!console.is_deciding(), "old bytes are rebuilt and must be reviewed first");
    assert!(console.shown().contains("the draft was too old"), "{}", console.shown());
    let renewed = four(&console);
    assert_ne!(renewed, digits);
    let stamp = sign_vote(&mut console, &word(&renewed));
    let effects = console.wait(3100);
    let [Effect::Send(_, Order::Cast((id, _), cast))] = effects.as_slice() else {
        unreachable!("{effects:?}")
    };
    let ballot = cast.0.clone();
    assert_eq!(
        (*id, ballot.choice, ballot.path),
        (Fixture::id(), Choice::Propose, "/public/v1/submit/create_policy")
    );
    let body: Value = serde_json::from_str(&ballot.message).unwrap();
    let stamped_at = body["timestampMs"].as_str().and_then(|text| text.parse::<u64>().ok());
    assert!(stamped_at.is_some_and(|at| at >= NOW + 600_000), "{body}");
    let expected = json!({"policyName": "payouts", "effect": "EFFECT_ALLOW", "condition": "activity.action == 'SIGN'",
        "consensus": "approvers.count() >= 2", "notes": ""});
    assert_eq!((&body["type"], &body["parameters"]), (&json!("ACTIVITY_TYPE_CREATE_POLICY_V3"), &expected));
    let effects =
        console.link(Answer::Cast(Ok(Box::new(recorded(&ballot, &stamp, Status::ConsensusNeeded).into()))));
    let journal = effects.iter().find_map(|effect| match effect {
        Effect::Journal(noted) => Some(noted.activity_id),
        _ => None,
    });
    assert_eq!(journal, Some(ActivityId::timed(NOW, [7; 10])), "{effects:?}");
    let shown = console.shown();
    assert!(
        shown.contains(
            "Proposal recorded; the record contains your signature [v]. It waits for others: jo [s], ana [s]."
        ),
        "{shown}"
    );
    // Nothing behind the receipt still calls it unsent, whatever changes meanwhile.
    let mut changed = (**console.model.shared.organization.as_ref().unwrap()).clone();
    changed.head.version += 1;
    changed.users.truncate(2);
    console.link(Answer::Organization(Arc::new(changed)));
    let shown = console.shown();
    for unsent in ["nothing was sent", "nothing is signed or sent", "changed since", "cannot propose"] {
        assert!(!shown.contains(unsent), "{unsent}: {shown}");
    }
    console.press(Key::Enter);
    assert!(console.shown().contains("> Policies"), "{}", console.shown());
    // A proposed draft is not offered for editing again.
    assert_eq!(editor(&console.press(Key::Char('n'))), blank);
}

#[test]
fn the_challenge_of_a_removal_names_the_danger() {
    let (_, mut console) = console(1);
    let effects = console.press(Key::Char('D'));
    assert_eq!(effects, [Effect::Order(Order::Recent(Fixture::id()))]);
    let shown = console.shown();
    assert!(
        shown.contains("deny-removed") && shown.contains("ALLOWED: the root quorum approved it"),
        "{shown}"
    );
    let digits =
        |console: &TestConsole| match console.model.review.as_ref().map(|open| open.review.challenge()) {
            Some(crate::proof::Challenge::Value(danger)) => danger.answer,
            other => unreachable!("{other:?}"),
        };
    let answer = digits(&console);
    let stamp = sign_vote(&mut console, &word(&answer));
    let effects = console.wait(3100);
    let [Effect::Send(_, Order::Cast(_, cast))] = effects.as_slice() else { unreachable!("{effects:?}") };
    assert_eq!(cast.1, stamp);
    let body: Value = serde_json::from_str(&cast.0.message).unwrap();
    assert_eq!(body["parameters"], json!({"policyId": PolicyId::from_bytes([1; 16])}));
    console.link(Answer::Cast(Ok(Box::new(recorded(&cast.0, &stamp, Status::Completed).into()))));
    assert!(console.shown().contains("It was executed."), "{}", console.shown());
}

#[test]
fn invalid_drafts_are_kept() {
    let (_, mut console) = console(1);
    let text = editor(&console.press(Key::Char('E')));
    assert!(text.contains("condition = \"activity.action == 'EXPORT'\""), "{text}");
    let broken = text.replace("activity.action", "activity.moon");
    assert_eq!(edited(&mut console, &broken), []);
    assert!(console.shown().contains("invalid policy condition"), "{}", console.shown());
    console.press(Key::Esc);
    assert_eq!(editor(&console.press(Key::Char('E'))), broken);
    assert_eq!(edited(&mut console, &broken), [], "the text is unchanged");
    assert!(console.model.review.is_none());
    assert_eq!(editor(&console.press(Key::Char('E'))), text);
    update(&mut console.model, Msg::Edited(Err("editor not found".to_owned())));
    assert!(console.shown().contains("[!] editor not found"), "{}", console.shown());
    edited(&mut console, &text.replace("'EXPORT'", "'DELETE'"));
    let shown = console.shown();
    assert!(shown.contains("Change the policy \"never\""), "{shown}");
    assert!(shown.contains("- activity.action == 'EXPORT'"), "{shown}");
}

#[test]
fn denied_proposals_are_not_sent() {
    let (_, mut console) = console(1);
    let mut changed = organization(&Fixture::new(3, 1));
    changed.head.root_quorum.user_ids.retain(|user| *user != Fixture::user(0));
    console.link(Answer::Organization(Arc::new(changed)));
    console.press(Key::Char('D'));
    assert!(console.shown().contains("DENIED: no policy allows it"), "{}", console.shown());
    console.press(Key::Char('a'));
    assert!(!console.is_deciding(), "{}", console.shown());
}

#[test]
fn a_changed_organization_stops_the_proposal() {
    let (fixture, mut console) = console(1);
    console.press(Key::Char('D'));
    console.press(Key::Char('a'));
    console.wait(1100);
    let mut changed = organization(&fixture);
    changed.head.version += 1;
    console.link(Answer::Organization(Arc::new(changed.clone())));
    assert!(
        console.shown().contains("Nothing was sent: changed since the review: the organization"),
        "{}",
        console.shown()
    );
    console.press(Key::Esc);
    assert_eq!(console.wait(5000), []);
    // The draft is reviewed again with the current state.
    changed.head.version += 1;
    changed.policies.clear();
    console.link(Answer::Organization(Arc::new(changed)));
    assert!(console.shown().contains("does not exist in this organization now"), "{}", console.shown());
}

#[test]
fn drafting_requires_a_key() {
    let (_, mut console) = console(1);
    console.model.shared.identity.public_key = None;
    console.press(Key::Char('D'));
    assert!(console.model.review.is_none());
    assert!(console.shown().contains("no user and key are selected"), "{}", console.shown());
}
