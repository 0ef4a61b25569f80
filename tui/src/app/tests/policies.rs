//! The screen of policies.

use quorate_common::console::Signer;
use quorate_common::ids::{PolicyId, WalletAccountId, WalletId};
use quorate_common::wire::{Policy, Wallet, WalletAccount};
use serde_json::json;

use super::*;
use crate::link::Order;

/// Address that the request is signed with.
const ADDRESS: &str = "0x9858EfFD232B4033E47d90003D41EC34EcaEda94";

fn policy(byte: u8, name: &str, effect: &str, [condition, consensus]: [&str; 2]) -> Policy {
    Policy {
        policy_id: PolicyId::from_bytes([byte; 16]),
        policy_name: name.to_owned(),
        effect: format!("EFFECT_{effect}"),
        created_at: Timestamp::of_millis(NOW - 86_400_000),
        updated_at: Timestamp::of_millis(NOW - 3_600_000),
        notes: "Agreed in \u{202e}October.".to_owned(),
        consensus: consensus.to_owned(),
        condition: condition.to_owned(),
        time: None,
    }
}

fn organization(stage: &Stage) -> OrganizationDetail {
    let mut organization = stage.organization();
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
    let day = Timestamp::of_millis(NOW);
    Signer {
        wallet_account: Some(WalletAccount {
            wallet_account_id: WalletAccountId::from_bytes([0x52; 16]),
            organization_id: Stage::id(),
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

/// A console on the screen of policies, with one request that can be tried.
fn desk(size: (u16, u16)) -> Desk {
    let stage = Stage::new(3, 2);
    let parameters = json!({"signWith": ADDRESS, "payload": "00", "encoding": "PAYLOAD_ENCODING_HEXADECIMAL",
        "hashFunction": "HASH_FUNCTION_SHA256"});
    let record = stage.propose(1, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", "signRawPayloadIntentV2", &parameters);
    let mut desk = Desk::new(&stage, std::slice::from_ref(&record), size);
    desk.inbox(organization(&stage), vec![record.row.clone()]);
    let read = desk.press(Key::Char('4'));
    assert!(read.contains(&Effect::Order(Order::Activities(Stage::id(), None))), "{read:?}");
    assert!(read.contains(&Effect::Order(Order::PolicyHistory(Stage::id()))), "{read:?}");
    let page = ActivityPage { activities: vec![record.row.clone()], next: None, waiting: None };
    let asked = desk.link(Answer::Activities(None, page));
    assert_eq!(asked, [Effect::Order(Order::Signer(Stage::id(), ADDRESS.to_owned()))], "asked for once");
    assert_eq!(desk.wait(10), []);
    desk.link(Answer::Signer(ADDRESS.to_owned(), Some(Box::new(signer()))));
    let looked = [(ADDRESS.to_owned(), signer())].into();
    desk.link(Answer::PolicyHistory(vec![record.row], looked, vec![change(&stage)]));
    desk
}

/// What made the first policy, agreed to by two.
fn change(stage: &Stage) -> ActivityRow {
    let parameters = json!({"policyName": "payouts", "effect": "EFFECT_ALLOW"});
    let mut made = stage.propose(1, "ACTIVITY_TYPE_CREATE_POLICY_V3", "createPolicyIntentV3", &parameters);
    stage.approve(&mut made, 2);
    made.row.activity.status = Status::Completed;
    made.row.activity.result = json!({"createPolicyResult": {"policyId": PolicyId::from_bytes([1; 16])}});
    made.row
}

#[test]
fn policies_are_shown_and_tried() {
    for size in SIZES {
        let mut desk = desk(size);
        let name = |screen: &str| format!("{screen}_{}x{}", size.0, size.1);
        snapshot(&name("policies"), &desk.shown());
        desk.press(Key::Char('t'));
        desk.press(Key::Right);
        snapshot(&name("policies_try"), &desk.shown());
    }
}

#[test]
fn what_is_suspicious_is_marked() {
    let mut desk = desk((120, 36));
    desk.press(Key::Down);
    assert!(desk.shown().contains("[!] condition: "), "{}", desk.shown());
    desk.press(Key::Down);
    let shown = desk.shown();
    assert!(shown.contains("no activity has all that it asks for, so it always fails"), "{shown}");
}

#[test]
fn what_policies_did_of_late_is_told() {
    let mut desk = desk((120, 36));
    let shown = desk.shown();
    assert!(shown.contains("1 of the last 1 activities: 1 waiting"), "{shown}");
    assert!(shown.contains("by jo, ana (activity "), "{shown}");
    assert!(shown.contains("  10m"), "{shown}");
    desk.press(Key::Enter);
    let shown = desk.shown();
    assert!(shown.contains("waiting   SIGN_RAW_PAYLOAD_V2 by jo"), "{shown}");
    desk.press(Key::Esc);
    desk.press(Key::Down);
    let shown = desk.shown();
    assert!(shown.contains("none of the last 1 activities"), "{shown}");
    assert!(shown.contains("never !"), "{shown}");
    desk.press(Key::Char('x'));
    let shown = desk.shown();
    assert!(shown.contains("NEEDS APPROVAL: waits for the consensus of payouts"), "{shown}");
    assert!(shown.contains("REQUIRES_CONSENSUS \"payouts\": consensus does not hold"), "{shown}");
}

#[test]
fn a_name_that_stands_for_nothing_is_told() {
    let mut desk = desk((120, 36));
    // Another version of the organization: what names stood for is looked up again.
    let mut changed = organization(&Stage::new(3, 2));
    changed.head.version += 1;
    let asked = desk.link(Answer::Organization(Box::new(changed)));
    assert!(asked.contains(&Effect::Order(Order::Signer(Stage::id(), ADDRESS.to_owned()))), "{asked:?}");
    desk.link(Answer::Signer(ADDRESS.to_owned(), None));
    assert!(desk.shown().contains("not judged: nothing signs under 0x9858"), "{}", desk.shown());
}

#[test]
fn a_review_says_which_activities_would_come_out_otherwise() {
    let stage = Stage::new(3, 2);
    let organization = organization(&stage);
    let gone = json!({"policyId": PolicyId::from_bytes([1; 16])});
    let mut record = stage.propose(0, "ACTIVITY_TYPE_DELETE_POLICY", "deletePolicyIntent", &gone);
    record.organization = organization.clone();
    let parameters = json!({"signWith": ADDRESS, "payload": "00", "encoding": "PAYLOAD_ENCODING_HEXADECIMAL",
        "hashFunction": "HASH_FUNCTION_SHA256"});
    let past =
        stage.propose(1, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", "signRawPayloadIntentV2", &parameters).row;
    let mut desk = Desk::new(&stage, std::slice::from_ref(&record), (120, 60));
    desk.press(Key::Enter);
    let read = desk.link(Answer::Record(record.row.activity.id.to_string(), Box::new(record.clone())));
    assert!(read.contains(&Effect::Order(Order::Recent(Stage::id()))), "{read:?}");
    let looked = [(ADDRESS.to_owned(), signer())].into();
    desk.link(Answer::Recent(vec![past.clone()], looked));
    let shown = desk.shown();
    // A root user asked: it waits for the quorum in any case.
    assert!(shown.contains("of the last 1 activities, 0 would come out otherwise"), "{shown}");
    let mut others = organization;
    others.head.root_quorum.user_ids.retain(|user| *user != Stage::user(1));
    record.organization = others;
    desk.press(Key::Char('r'));
    desk.link(Answer::Record(record.row.activity.id.to_string(), Box::new(record)));
    desk.link(Answer::Recent(vec![past], [(ADDRESS.to_owned(), signer())].into()));
    let shown = desk.shown();
    assert!(shown.contains("1 would come out otherwise"), "{shown}");
    assert!(shown.contains("SIGN_RAW_PAYLOAD_V2 by jo: waits for votes now, denied then"), "{shown}");
}

#[test]
fn policies_are_copied_and_exported() {
    let mut desk = desk((120, 36));
    desk.press(Key::Char('y'));
    let shown = desk.shown();
    assert!(shown.contains("c  condition"), "{shown}");
    assert!(!shown.contains("t  time"), "what is not there is not offered: {shown}");
    assert_eq!(desk.press(Key::Char('z')), []);
    assert_eq!(desk.press(Key::Char('s')), [Effect::Copy("approvers.count() >= 2".to_owned())]);
    assert!(desk.shown().contains("consensus was sent to your terminal"), "{}", desk.shown());
    let effects = desk.press(Key::Char('e'));
    let [Effect::Export { name, text }] = effects.as_slice() else { unreachable!("{effects:?}") };
    assert_eq!(name, "quorate-policy-01010101-0101-0101-0101-010101010101.json");
    let policy: Policy = serde_json::from_str(text).unwrap();
    assert_eq!(policy, organization(&Stage::new(3, 2)).policies[0]);
}

#[test]
fn the_past_is_read_again_when_policies_change_but_not_all_the_time() {
    let mut desk = desk((120, 36));
    let stage = Stage::new(3, 2);
    let order = [Effect::Order(Order::PolicyHistory(Stage::id()))];
    let asked = |effects: Vec<Effect>| effects.iter().filter(|effect| order.contains(effect)).count();
    let mut changed = organization(&stage);
    let mut change = |desk: &mut Desk| {
        changed.head.version += 1;
        desk.link(Answer::Organization(Box::new(changed.clone())))
    };
    assert_eq!(asked(change(&mut desk)), 0, "it was read just now");
    assert_eq!(asked(desk.wait(6_000)), 1);
    change(&mut desk);
    assert_eq!(asked(desk.wait(6_000)), 0, "the answer is not there yet");
    let missed = Answer::Failed("the history of policies", LinkFlaw::Lost("gone".to_owned()));
    assert_eq!(asked(desk.link(missed)), 1);
    desk.link(Answer::PolicyHistory(Vec::new(), crate::policies::Looked::new(), Vec::new()));
    assert_eq!(asked(desk.wait(60_000)), 0, "nothing changed since");
}

#[test]
fn the_record_of_another_review_is_not_taken_for_this_one() {
    let (stage, first) = tagging();
    let second = stage.propose(
        2,
        "ACTIVITY_TYPE_CREATE_USER_TAG",
        "createUserTagIntent",
        &json!({"userTagName": "b"}),
    );
    let mut desk = Desk::new(&stage, &[second.clone(), first.clone()], (120, 60));
    desk.press(Key::Enter);
    let opening = desk.model.opening.clone().unwrap().reference;
    let (own, other) =
        if opening == first.row.activity.id.to_string() { (first, second) } else { (second, first) };
    desk.link(Answer::Record(other.row.activity.id.to_string(), Box::new(other)));
    assert!(desk.model.review.is_none() && desk.model.opening.is_some(), "its own record is still to come");
    desk.press(Key::Char('a'));
    assert!(desk.shown().contains("the record is being read"), "{}", desk.shown());
    desk.link(Answer::Record(own.row.activity.id.to_string(), Box::new(own.clone())));
    assert_eq!(desk.model.review.as_ref().unwrap().review.activity.id, own.row.activity.id);
    assert!(desk.model.opening.is_none());
}
