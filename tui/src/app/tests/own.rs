//! The user's own data: the journal, the known keys, and who acts.

use quorate_common::ids::ActivityId;
use quorate_common::wire::LastUse;

use super::*;
use crate::journal::{Entry, Journal};

fn entry(number: u8, organization: quorate_common::ids::OrganizationId) -> Entry {
    Entry {
        previous: String::new(),
        at_millis: NOW - u64::from(number) * 3_600_000,
        organization_id: organization,
        activity_id: ActivityId::from_bytes([number; 16]),
        fingerprint: format!("sha256:{}", "50f71704".repeat(8)),
        sentence: "Set the root quorum threshold to 1. a\u{202e}b".to_owned(),
        choice: if number.is_multiple_of(2) { "reject" } else { "approve" }.to_owned(),
        outcome: "waiting".to_owned(),
        organization_version: 3,
        note: (number == 2).then(|| "called mira \u{1b}[31m in person".to_owned()),
        transfers: None,
    }
}

impl TestConsole {
    /// Delivers a journal.
    pub(super) fn journal(&mut self) {
        let newest = vec![entry(1, Fixture::id()), entry(2, Fixture::id()), entry(3, Fixture::id())];
        let read = Ok(Journal { newest, count: 3, broken_at: None });
        update(&mut self.model, Msg::JournalRead(read));
    }
}

fn console(size: (u16, u16)) -> TestConsole {
    let (fixture, records) = two_proposals();
    let mut console = TestConsole::new(&fixture, &records, size);
    console.link(Answer::Organization(Arc::new(fixture.with_all_records())));
    console
}

#[test]
fn the_journal_is_read_when_it_is_shown() {
    let mut console = console((120, 36));
    assert!(console.press(Key::Char('9')).contains(&Effect::ReadJournal));
    assert!(console.shown().contains("Reading the journal"), "{}", console.shown());
    console.journal();
    assert!(console.shown().contains("3 decisions, [v] the hash chain is intact"), "{}", console.shown());
    console.press(Key::Down);
    assert!(console.shown().contains("called mira <U+001B>[31m in person"), "{}", console.shown());
    let effects = console.press(Key::Enter);
    let id = ActivityId::from_bytes([2; 16]);
    assert!(effects.contains(&Effect::Order(Order::Record(Fixture::id(), id.to_string()))), "{effects:?}");
    let mut broken = self::console((120, 36));
    broken.press(Key::Char('9'));
    let read = Journal { newest: Vec::new(), count: 0, broken_at: Some(1) };
    update(&mut broken.model, Msg::JournalRead(Ok(read)));
    assert!(broken.shown().contains("[x] the hash chain breaks at line 1"), "{}", broken.shown());
    update(&mut broken.model, Msg::JournalRead(Err("mode 644".to_owned())));
    assert!(broken.shown().contains("[x] the journal cannot be read: mode 644"), "{}", broken.shown());
}

#[test]
fn a_key_that_appeared_later_comes_first_and_is_marked() {
    let mut console = console((120, 36));
    let mut organization = Fixture::new(3, 2).with_all_records();
    let mut key = organization.users[2].api_keys[0].clone();
    key.credential.public_key = Fixture::stamper(4).public_key().to_owned();
    organization.users[2].api_keys.push(key);
    console.link(Answer::Organization(Arc::new(organization)));
    console.press(Key::Char('0'));
    let shown = console.shown();
    // Two keys of the sample organization appeared later, too.
    assert!(shown.contains("[!] 3 not accepted"), "{shown}");
    let first: Vec<&str> = shown.lines().filter(|line| line.contains("not accepted [!] 20")).collect();
    assert!(first.len() == 3 && first[0].contains("\u{2502} > ") && first[2].contains("ana"), "{shown}");
    assert!(shown.contains("quorate known-keys accept --public-key"), "{shown}");
    // No key of this screen accepts.
    for key in [Key::Enter, Key::Char('a'), Key::Char('A'), Key::Char('x')] {
        assert!(!console.press(key).iter().any(|effect| matches!(effect, Effect::SaveKnownKeys(_))));
    }
}

#[test]
fn who_acts_is_shown_at_every_size() {
    for size in SIZES {
        let mut console = console(size);
        let mut organization = Fixture::new(3, 2).with_all_records();
        let id = organization.users[0].api_keys[0].api_key_id.to_string();
        organization.last_uses =
            vec![LastUse { credential_id: id, at_millis: NOW - 60_000, counter_went_back: None }];
        console.link(Answer::Organization(Arc::new(organization)));
        console.press(Key::Char('I'));
        let mut all = console.shown();
        for _ in 0..10 {
            console.press(Key::PageDown);
            all.push_str(&console.shown());
        }
        for text in
            ["laptop-p256", "SHA-256", "/run/quorate/quorated.sock", "last use", "authority", "process"]
        {
            assert!(all.contains(text), "{text} at {size:?}: {all}");
        }
        console.press(Key::Esc);
        console.press(Key::Char('I'));
        snapshot(&format!("whoami_{}x{}", size.0, size.1), &console.shown());
    }
}

#[test]
fn sensitive_members_are_masked_until_revealed_and_never_leave_the_console() {
    let secret = "sensitive-bundle-0123456789";
    let fixture = Fixture::new(3, 2);
    let parameters = serde_json::json!({"userId": Fixture::user(1), "walletName": "spare", "encryptedBundle": secret,
        "curve": "CURVE_SECP256K1", "accounts": []});
    let record = fixture.propose(1, "ACTIVITY_TYPE_IMPORT_WALLET", "importWalletIntent", &parameters);
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (200, 60));
    console.open(&record);
    let all = |console: &mut TestConsole| {
        let mut all = console.shown();
        for _ in 0..10 {
            console.press(Key::PageDown);
            all.push_str(&console.shown());
        }
        all
    };
    assert!(!all(&mut console).contains(secret), "the review");
    for key in [Key::Char('d'), Key::Char('v')] {
        console.press(key);
        let shown = all(&mut console);
        assert!(
            !shown.contains(secret) && shown.contains("[!] masked: parameters.encryptedBundle"),
            "{shown}"
        );
        console.press(Key::Esc);
    }
    console.press(Key::Char('*'));
    for key in [Key::Char('d'), Key::Char('v')] {
        console.press(key);
        let shown = all(&mut console);
        assert!(shown.contains(secret) && shown.contains("[!] sensitive, shown in full"), "{shown}");
        console.press(Key::Esc);
    }
    // What leaves the console is masked, although it is shown.
    for key in ['m', 'j'] {
        console.press(Key::Char('y'));
        let effects = console.press(Key::Char(key));
        let copied = effects.iter().find_map(|effect| match effect {
            Effect::Copy(text) => Some(text.clone()),
            _ => None,
        });
        assert!(!copied.unwrap().contains(secret), "{key}");
    }
    let exported = console.press(Key::Char('e'));
    assert!(matches!(&exported[..], [Effect::Export { text, .. }] if !text.contains(secret)), "{exported:?}");
    let review = crate::proof::json(&console.model.review.as_ref().unwrap().review);
    assert!(review["message"].is_null() && !review.to_string().contains(secret), "{review}");
    assert_eq!(review["withheld"], serde_json::json!(["parameters.encryptedBundle"]));
    console.press(Key::Char('*'));
    console.press(Key::Char('d'));
    assert!(!console.shown().contains(secret));
}

#[test]
fn the_details_of_own_data_are_reached_at_every_size() {
    for size in SIZES {
        let mut console = console(size);
        console.press(Key::Char('9'));
        console.journal();
        for (key, last) in [(Key::Char('9'), "note"), (Key::Char('0'), "Compare it")] {
            console.press(key);
            console.press(Key::Tab);
            let mut all = String::new();
            for _ in 0..20 {
                all.push_str(&console.shown());
                console.press(Key::PageDown);
            }
            assert!(all.contains(last), "{size:?}: {all}");
            assert!(!console.shown().contains("below: PgDn"), "{size:?}: {}", console.shown());
        }
    }
}

#[test]
fn activities_of_sub_organizations_are_opened() {
    let child = quorate_common::ids::OrganizationId::from_bytes([0x44; 16]);
    let mut console = console((120, 36));
    console.press(Key::Char('9'));
    let newest = vec![entry(1, child)];
    update(&mut console.model, Msg::JournalRead(Ok(Journal { newest, count: 1, broken_at: None })));
    let id = ActivityId::from_bytes([1; 16]);
    let effects = console.press(Key::Enter);
    assert!(effects.contains(&Effect::Order(Order::Record(child, id.to_string()))), "{effects:?}");
    console.press(Key::Esc);

    console.press(Key::Char('6'));
    let mut page = Fixture::messages();
    page.events.truncate(1);
    page.events[0].organization_id = child;
    let id = page.events[0].activity_id;
    console.link(Answer::Messages(Fixture::id(), None, page));
    let effects = console.press(Key::Enter);
    assert!(effects.contains(&Effect::Order(Order::Record(child, id.to_string()))), "{effects:?}");
}
