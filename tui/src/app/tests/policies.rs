//! Tests of the policies screen.

use quorate_common::console::Signer;
use quorate_common::ids::{PolicyId, WalletAccountId, WalletId};
use quorate_common::wire::{Policy, Wallet, WalletAccount};
use serde_json::json;

use super::*;
use crate::link::Order;

/// Address of the key that signs the request.
const ADDRESS: &str = "0x9858EfFD232B4033E47d90003D41EC34EcaEda94";

pub(super) fn policy(byte: u8, name: &str, effect: &str, [condition, consensus]: [&str; 2]) -> Policy {
    Policy {
        policy_id: PolicyId::from_bytes([byte; 16]),
        policy_name: name.to_owned(),
        effect: format!("EFFECT_{effect}"),
        created_at: Timestamp::from_millis(NOW - 86_400_000),
        updated_at: Timestamp::from_millis(NOW - 3_600_000),
        notes: "Agreed in \u{202e}October.".to_owned(),
        consensus: consensus.to_owned(),
        condition: condition.to_owned(),
        time: None,
    }
}

fn organization(fixture: &Fixture) -> OrganizationDetail {
    let mut organization = fixture.organization();
    let wallet = WalletId::from_bytes([0x51; 16]);
    let day = organization.head.created_at.clone();
    organization.wallets = vec![Wallet {
        wallet_id: wallet,
        wallet_name: "treasury".to_owned(),
        created_at: day.clone(),
        updated_at: day,
        exported: false,
        imported: false,
    }];
    let signing = format!("activity.action == 'SIGN' && wallet.id == '{wallet}'");
    organization.policies = vec![
        policy(1, "payouts", "ALLOW", [signing.as_str(), "approvers.count() >= 2"]),
        policy(
            2,
            "no raw payloads of the cold wallet",
            "DENY",
            ["wallet.label == 'cold' && activity.params.type == 'x'", ""],
        ),
        policy(3, "old rule", "ALLOW", ["wallet.id == 'a' || private_key.id == 'b'", ""]),
    ];
    organization
}

fn signer() -> Signer {
    let day = Timestamp::from_millis(NOW);
    Signer {
        wallet_account: Some(WalletAccount {
            wallet_account_id: WalletAccountId::from_bytes([0x52; 16]),
            organization_id: Fixture::id(),
            wallet_id: WalletId::from_bytes([0x51; 16]),
            curve: "CURVE_SECP256K1".to_owned(),
            path_format: "PATH_FORMAT_BIP32".to_owned(),
            path: "m/44'/60'/0'/0/0".to_owned(),
            address_format: "ADDRESS_FORMAT_ETHEREUM".to_owned(),
            address: ADDRESS.to_owned(),
            created_at: day.clone(),
            updated_at: day,
            public_key: None,
            wallet_details: None,
            name: None,
        }),
        ..Signer::default()
    }
}

/// Opens the policies screen with one request that can be simulated.
fn console(size: (u16, u16)) -> TestConsole {
    let fixture = Fixture::new(3, 2);
    let parameters = json!({"signWith": ADDRESS, "payload": "00", "encoding": "PAYLOAD_ENCODING_HEXADECIMAL",
        "hashFunction": "HASH_FUNCTION_SHA256"});
    let record =
        fixture.propose(1, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", "signRawPayloadIntentV2", &parameters);
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), size);
    console.inbox(organization(&fixture), vec![record.row.clone()]);
    let read = console.press(Key::Char('4'));
    assert!(read.contains(&Effect::Order(Order::Activities(Fixture::id(), None))), "{read:?}");
    assert!(read.contains(&Effect::Order(Order::PolicyHistory(Fixture::id()))), "{read:?}");
    let page = ActivityPage { activities: vec![record.row.clone()], next: None, waiting: None };
    let requested = console.link(Answer::Activities(None, page));
    assert_eq!(
        requested,
        [Effect::Order(Order::Signer(Fixture::id(), ADDRESS.to_owned()))],
        "requested once"
    );
    assert_eq!(console.wait(10), []);
    console.link(Answer::Signer(ADDRESS.to_owned(), Some(Box::new(signer()))));
    let resolved = [(ADDRESS.to_owned(), signer())].into();
    console.link(Answer::PolicyHistory(vec![record.row], resolved, vec![change(&fixture)]));
    console
}

/// Returns the activity that created the first policy, approved by two users.
fn change(fixture: &Fixture) -> ActivityRow {
    let parameters = json!({"policyName": "payouts", "effect": "EFFECT_ALLOW"});
    let mut creation =
        fixture.propose(1, "ACTIVITY_TYPE_CREATE_POLICY_V3", "createPolicyIntentV3", &parameters);
    fixture.approve(&mut creation, 2);
    creation.row.activity.status = Status::Completed;
    creation.row.activity.result = json!({"createPolicyResult": {"policyId": PolicyId::from_bytes([1; 16])}});
    creation.row
}

#[test]
fn draws_policies_and_the_simulation() {
    for size in SIZES {
        let mut console = console(size);
        let name = |screen: &str| format!("{screen}_{}x{}", size.0, size.1);
        snapshot(&name("policies_matching"), &console.shown());
        console.press(Key::Char('t'));
        console.press(Key::Right);
        snapshot(&name("policies_try"), &console.shown());
    }
}

#[test]
fn findings_are_marked() {
    let mut console = console((120, 36));
    console.press(Key::Down);
    assert!(console.shown().contains("[!] condition: "), "{}", console.shown());
    console.press(Key::Down);
    let shown = console.shown();
    assert!(shown.contains("the policy never applies: no activity has all the fields"), "{shown}");
}

#[test]
fn recent_matches_are_shown() {
    let mut console = console((120, 36));
    let shown = console.shown();
    assert!(shown.contains("1 of the last 1 activities: 1 waiting"), "{shown}");
    assert!(shown.contains("by jo, ana (activity "), "{shown}");
    assert!(shown.contains("  10m"), "{shown}");
    console.press(Key::Enter);
    let shown = console.shown();
    assert!(shown.contains("waiting   SIGN_RAW_PAYLOAD_V2 by jo"), "{shown}");
    console.press(Key::Esc);
    console.press(Key::Down);
    let shown = console.shown();
    assert!(shown.contains("none of the last 1 activities"), "{shown}");
    assert!(shown.contains("never !"), "{shown}");
    console.press(Key::Char('x'));
    let shown = console.shown();
    assert!(shown.contains("NEEDS APPROVAL: waiting for approvals required by \"payouts\""), "{shown}");
    assert!(shown.contains("REQUIRES_CONSENSUS \"payouts\": consensus does not hold"), "{shown}");
}

#[test]
fn unknown_signers_are_reported() {
    let mut console = console((120, 36));
    // The organization has a new version: signers are looked up again.
    let mut changed = organization(&Fixture::new(3, 2));
    changed.head.version += 1;
    let requested = console.link(Answer::Organization(Arc::new(changed)));
    assert!(
        requested.contains(&Effect::Order(Order::Signer(Fixture::id(), ADDRESS.to_owned()))),
        "{requested:?}"
    );
    console.link(Answer::Signer(ADDRESS.to_owned(), None));
    assert!(console.shown().contains("cannot be evaluated: no key signs for 0x9858"), "{}", console.shown());
}

#[test]
fn a_review_lists_changed_outcomes() {
    let fixture = Fixture::new(3, 2);
    let organization = organization(&fixture);
    let deletion = json!({"policyId": PolicyId::from_bytes([1; 16])});
    let mut record = fixture.propose(0, "ACTIVITY_TYPE_DELETE_POLICY", "deletePolicyIntent", &deletion);
    record.organization = organization.clone();
    let parameters = json!({"signWith": ADDRESS, "payload": "00", "encoding": "PAYLOAD_ENCODING_HEXADECIMAL",
        "hashFunction": "HASH_FUNCTION_SHA256"});
    let past =
        fixture.propose(1, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", "signRawPayloadIntentV2", &parameters).row;
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 60));
    console.press(Key::Enter);
    let read = console.link(Answer::Record(record.row.activity.id.to_string(), Box::new(record.clone())));
    assert!(read.contains(&Effect::Order(Order::Recent(Fixture::id()))), "{read:?}");
    let resolved = [(ADDRESS.to_owned(), signer())].into();
    console.link(Answer::Recent(vec![past.clone()], resolved));
    let shown = console.shown();
    // The proposer is a root user, so the request waits for the quorum in any case.
    assert!(
        shown.contains("recent activities: 1; evaluated: 1; with a different outcome after the change: 0"),
        "{shown}"
    );
    let mut others = organization;
    others.head.root_quorum.user_ids.retain(|user| *user != Fixture::user(1));
    record.organization = others;
    console.press(Key::Char('r'));
    console.link(Answer::Record(record.row.activity.id.to_string(), Box::new(record)));
    console.link(Answer::Recent(vec![past], [(ADDRESS.to_owned(), signer())].into()));
    let shown = console.shown();
    assert!(shown.contains("with a different outcome after the change: 1"), "{shown}");
    assert!(
        shown.contains("SIGN_RAW_PAYLOAD_V2 by jo: waits for votes now, denied after the change"),
        "{shown}"
    );
}

#[test]
fn policies_are_copied_and_exported() {
    let mut console = console((120, 36));
    console.press(Key::Char('y'));
    let shown = console.shown();
    assert!(shown.contains("c  condition"), "{shown}");
    assert!(!shown.contains("t  time"), "an absent member is not offered: {shown}");
    assert_eq!(console.press(Key::Char('z')), []);
    assert_eq!(console.press(Key::Char('s')), [Effect::Copy("approvers.count() >= 2".to_owned())]);
    assert!(console.shown().contains("consensus was sent to your terminal"), "{}", console.shown());
    let effects = console.press(Key::Char('e'));
    let [Effect::Export { name, text }] = effects.as_slice() else { unreachable!("{effects:?}") };
    assert_eq!(name, "quorate-policy-01010101-0101-0101-0101-010101010101.json");
    let policy: Policy = serde_json::from_str(text).unwrap();
    assert_eq!(policy, organization(&Fixture::new(3, 2)).policies[0]);
}

#[test]
fn the_history_is_reloaded_at_a_limited_rate() {
    let mut console = console((120, 36));
    let fixture = Fixture::new(3, 2);
    let order = [Effect::Order(Order::PolicyHistory(Fixture::id()))];
    let requested = |effects: Vec<Effect>| effects.iter().filter(|effect| order.contains(effect)).count();
    let mut changed = organization(&fixture);
    let mut change = |console: &mut TestConsole| {
        changed.head.version += 1;
        console.link(Answer::Organization(Arc::new(changed.clone())))
    };
    assert_eq!(requested(change(&mut console)), 0, "the history was just loaded");
    assert_eq!(requested(console.wait(6_000)), 1);
    change(&mut console);
    assert_eq!(requested(console.wait(6_000)), 0, "the answer has not arrived yet");
    let missed = Answer::Failed(Subject::PolicyHistory, LinkError::Lost("gone".to_owned()));
    assert_eq!(requested(console.link(missed)), 1);
    console.link(Answer::PolicyHistory(Vec::new(), crate::policies::ResolvedNames::new(), Vec::new()));
    assert_eq!(requested(console.wait(60_000)), 0, "nothing changed since");
}

#[test]
fn the_record_of_another_review_is_ignored() {
    let (fixture, first) = tag_proposal();
    let second = fixture.propose(
        2,
        "ACTIVITY_TYPE_CREATE_USER_TAG",
        "createUserTagIntent",
        &json!({"userTagName": "b"}),
    );
    let mut console = TestConsole::new(&fixture, &[second.clone(), first.clone()], (120, 60));
    console.press(Key::Enter);
    let opening = console.model.opening.clone().unwrap().reference;
    let (own, other) =
        if opening == first.row.activity.id.to_string() { (first, second) } else { (second, first) };
    console.link(Answer::Record(other.row.activity.id.to_string(), Box::new(other)));
    assert!(
        console.model.review.is_none() && console.model.opening.is_some(),
        "its own record has not arrived yet"
    );
    console.press(Key::Char('a'));
    assert!(console.shown().contains("the record is being loaded"), "{}", console.shown());
    console.link(Answer::Record(own.row.activity.id.to_string(), Box::new(own.clone())));
    assert_eq!(console.model.review.as_ref().unwrap().review.activity.id, own.row.activity.id);
    assert!(console.model.opening.is_none());
}
