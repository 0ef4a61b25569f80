//! The palette finds commands and everything that is loaded, and copies reach every list.

use quorate_common::console::Signer;
use quorate_common::ids::{OrganizationId, WalletId};
use quorate_common::wire::WalletAccount;
use serde_json::json;

use super::*;

fn organization() -> OrganizationDetail {
    let mut organization = Fixture::new(3, 2).with_all_records();
    organization.policies =
        vec![super::policies::policy(0x51, "payouts over 1 ETH", "EFFECT_ALLOW", ["true", "true"])];
    organization
}

fn console(size: (u16, u16)) -> TestConsole {
    let (fixture, records) = two_proposals();
    let mut console = TestConsole::new(&fixture, &records, size);
    console.link(Answer::Organization(Arc::new(organization())));
    let heads = OrganizationPage { organizations: vec![fixture.organization().head], next: None };
    console.link(Answer::Organizations(None, None, heads));
    let activities = records.iter().map(|record| record.row.clone()).collect();
    console.link(Answer::Activities(None, ActivityPage { activities, next: None, waiting: None }));
    console
}

impl TestConsole {
    fn type_text(&mut self, text: &str) -> Vec<Effect> {
        text.chars().flat_map(|letter| self.press(Key::Char(letter))).collect()
    }

    /// Opens the palette, types words and opens the first entry.
    fn find(&mut self, words: &str) -> Vec<Effect> {
        self.press(Key::Char(':'));
        self.type_text(words);
        self.press(Key::Enter)
    }
}

#[test]
fn the_palette_is_drawn_at_every_size() {
    for size in SIZES {
        let mut console = console(size);
        let mut shown = Vec::new();
        console.press(Key::Char(':'));
        shown.push(console.shown());
        console.type_text("mir");
        shown.push(console.shown());
        for _ in 0..3 {
            console.press(Key::Backspace);
        }
        console.type_text("0x9f3a77");
        shown.push(console.shown());
        console.type_text("1408bce5d2910f3a6b");
        shown.push(console.shown());
        snapshot(&format!("palette_{}x{}", size.0, size.1), &shown.join("\n"));
    }
}

#[test]
fn each_class_of_things_is_found_and_shown() {
    let organization = organization();
    let wallet = organization.wallets[0].wallet_name.clone();
    let policy = organization.policies[0].policy_name.clone();
    for (words, expected) in [
        ("jo", "Organizations"),
        (wallet.as_str(), "Organizations"),
        (policy.as_str(), "Policies"),
        ("ops", "Webhooks"),
        ("acme", "Organizations"),
        ("health of the daemon", "Health"),
    ] {
        let mut console = console((120, 36));
        console.find(words);
        console.webhooks();
        let shown = console.shown();
        let header = shown.lines().next().unwrap().to_owned();
        assert!(header.contains(&format!("> {expected} ")), "{words}: {shown}");
        let is_selected = shown.lines().any(|line| line.contains("> ") && line.contains('\u{2502}'));
        assert!(is_selected || expected == "Health", "{words}: {shown}");
    }
}

#[test]
fn an_activity_opens_its_review_and_decides_nothing() {
    let (_, records) = two_proposals();
    let id = records[1].row.activity.id;
    let fingerprint = records[1].row.activity.fingerprint.to_string();
    for words in ["user tag".to_owned(), id.to_string(), fingerprint] {
        let mut console = console((120, 36));
        let effects = console.find(&words);
        let order = effects.iter().find_map(|effect| match effect {
            Effect::Order(Order::Record(_, reference)) => Some(reference.clone()),
            _ => None,
        });
        let reference = order.unwrap_or_else(|| unreachable!("{words}: {effects:?}"));
        console.link(Answer::Record(reference, Box::new(records[1].clone())));
        assert!(console.model.review.is_some(), "{words}: {}", console.shown());
        assert!(!console.is_deciding(), "{words}");
        for _ in 0..50 {
            assert!(!signs_or_sends(&console.press_after(Key::Enter, 33)), "{words}");
        }
    }
}

#[test]
fn an_address_is_looked_up_at_the_daemon() {
    let address = "0x9f3a771408bce5d2910f3a6b2c4755ed10abc214";
    let wallet = organization().wallets[0].wallet_id;
    let account = |wallet: WalletId| -> WalletAccount {
        serde_json::from_value(
            json!({"walletAccountId": wallet, "organizationId": Fixture::id(), "walletId": wallet,
            "curve": "CURVE_SECP256K1", "pathFormat": "PATH_FORMAT_BIP32", "path": "m/44'/60'/0'/0/7",
            "addressFormat": "ADDRESS_FORMAT_ETHEREUM", "address": address,
            "createdAt": {"seconds": "1", "nanos": "0"}, "updatedAt": {"seconds": "1", "nanos": "0"}}),
        )
        .unwrap()
    };
    let mut console = console((120, 36));
    let effects = console.find(address);
    let order = Effect::Order(Order::Signer(Fixture::id(), address.to_owned()));
    assert!(effects.contains(&order), "{effects:?}");
    let signer = Signer { wallet_account: Some(account(wallet)), ..Signer::default() };
    console.link(Answer::Signer(address.to_owned(), Some(Box::new(signer))));
    assert!(console.shown().contains("account m/44'/60'/0'/0/7 of this wallet"), "{}", console.shown());
    assert!(console.shown().contains("[Wallets"), "{}", console.shown());
    console.find(address);
    console.link(Answer::Signer(address.to_owned(), None));
    assert!(console.shown().contains("no account, key or contract"), "{}", console.shown());
}

#[test]
fn what_was_opened_comes_first_the_next_time() {
    let mut console = console((120, 36));
    console.find("kenj");
    console.press(Key::Esc);
    console.find("jo");
    console.press(Key::Char(':'));
    let shown = console.shown();
    let first = shown.lines().find(|line| line.contains("│ > ")).unwrap();
    assert!(first.contains("jo"), "{shown}");
    // The id of an organization that is not loaded is read from the daemon.
    console.press(Key::Esc);
    let id = OrganizationId::from_bytes([0x33; 16]);
    console.press(Key::Char(':'));
    console.type_text(&id.to_string());
    console.press(Key::Down);
    let effects = console.press(Key::Enter);
    assert!(effects.contains(&Effect::Order(Order::Organization(id))), "{effects:?}");
}

#[test]
fn twenty_thousand_things_are_searched_at_once() {
    let mut console = console((120, 36));
    let mut detail = organization();
    let user = detail.users[0].clone();
    for number in 0..20_000_u32 {
        let mut other = user.clone();
        other.user_name = format!("service {number}");
        detail.users.push(other);
    }
    console.model.shared.organization = Some(Arc::new(detail));
    console.press(Key::Char(':'));
    console.type_text("service 19998");
    assert!(console.shown().contains("so the list is not complete"));
}

/// Returns the text that a copy sends to the terminal.
fn copied(effects: &[Effect]) -> Option<&str> {
    effects.iter().find_map(|effect| match effect {
        Effect::Copy(text) => Some(text.as_str()),
        _ => None,
    })
}

#[test]
fn each_list_copies_the_id_of_its_selection() {
    for tab in
        SCREENS.iter().filter(|tab| tab.commands.iter().any(|one| one.action == crate::keymap::Action::Copy))
    {
        let mut console = console((120, 36));
        console.link(Answer::Messages(Fixture::id(), None, Fixture::messages()));
        let effects = console.press(tab.show.keys[0]);
        if tab.title == "Activities" {
            let record = tag_proposal().1;
            console.history(&effects, vec![record.row], None);
        }
        console.webhooks();
        console.journal();
        console.press(Key::Char('y'));
        assert!(console.shown().contains("press a key to copy"), "{}: {}", tab.title, console.shown());
        let shown = console.shown();
        let first = shown.lines().find(|line| line.starts_with('\u{2502}'));
        let key = first.unwrap().chars().nth(2).unwrap();
        let effects = console.press(Key::Char(key));
        let text = copied(&effects).unwrap_or_else(|| unreachable!("{}: {effects:?}", tab.title));
        assert!(text.len() >= 12, "{}: {text}", tab.title);
        assert!(console.shown().contains("was sent to your terminal"), "{}", console.shown());
    }
    let copying =
        SCREENS.iter().filter(|tab| tab.commands.iter().any(|one| one.action == crate::keymap::Action::Copy));
    let copying: Vec<&str> = copying.map(|tab| tab.title).collect();
    for title in
        ["Approvals", "Organizations", "Activities", "Policies", "Access", "Messages", "Webhooks", "Journal"]
    {
        assert!(copying.contains(&title), "{title}: {copying:?}");
    }
}

#[test]
fn a_long_list_of_copies_can_be_seen_completely() {
    let mut console = console((40, 12));
    console.press(Key::Char('2'));
    console.press(Key::Char('y'));
    let first = console.shown();
    let mut seen = first.clone();
    for _ in 0..40 {
        console.press(Key::Down);
        seen.push_str(&console.shown());
    }
    assert!(seen.contains("organization id"), "{seen}");
}

/// Returns sub-organizations with these numbers in their names and ids.
fn clients(numbers: std::ops::Range<u8>) -> Vec<quorate_common::console::OrganizationHead> {
    let parent = Fixture::new(2, 1).organization().head;
    let client = |number: u8| quorate_common::console::OrganizationHead {
        organization_id: OrganizationId::from_bytes([number; 16]),
        organization_name: format!("client {number}"),
        parent_organization_id: Some(Fixture::id()),
        ..parent.clone()
    };
    numbers.map(client).collect()
}

#[test]
fn the_tree_is_searched_to_its_end_by_name_and_id() {
    let pages = |effects: &[Effect]| -> Vec<(Option<OrganizationId>, Option<OrganizationId>)> {
        let of_page = |effect: &Effect| match effect {
            Effect::Order(Order::Organizations(parent, after)) => Some((*parent, *after)),
            _ => None,
        };
        effects.iter().filter_map(of_page).collect()
    };
    for (words, size) in [("cli 70", (120, 36)), ("46464646-4646", (80, 24)), ("CLIENT 70", (40, 12))] {
        let (own, cursor) = (Some(Fixture::id()), OrganizationId::from_bytes([50; 16]));
        let mut console = console(size);
        let page = |organizations, next| OrganizationPage { organizations, next };
        console.link(Answer::Organizations(own, None, page(clients(1..50), Some(cursor))));
        console.press(Key::Char('2'));
        console.press(Key::Tab);
        console.press(Key::Tab);
        console.press(Key::Char('/'));
        let effects = console.type_text(words);
        // What is not loaded yet is requested once.
        assert_eq!(pages(&effects), [(own, Some(cursor))], "{words}");
        assert!(console.shown().contains("more are being read"), "{}", console.shown());
        console.link(Answer::Organizations(own, Some(cursor), page(clients(50..100), None)));
        assert!(console.shown().contains(" 1 of 100, Esc clears "), "{}", console.shown());
        assert!(console.shown().contains("client 70") && !console.shown().contains("client 7 "), "{words}");
        console.press(Key::Enter);
        let effects = console.press(Key::Enter);
        let wanted = OrganizationId::from_bytes([70; 16]);
        assert!(effects.contains(&Effect::Order(Order::Organization(wanted))), "{words}: {effects:?}");
    }
}
