//! Tests against wrong decisions: an incomplete inbox, flags that were not on screen, unreachable text,
//! outdated messages, lost keys, and a key of another user.

use quorate_common::console::{AccountPage, Change, StoreState, StoreStatus};
use quorate_common::ids::{ActivityId, OrganizationId, WalletAccountId, WalletId};
use quorate_common::wire::WalletAccount;
use serde_json::json;

use super::*;
use crate::link::INBOX_LIMIT;

/// Returns a payment of 2.5 ETH to an unknown recipient: risk MED, with flags and many raw fields.
fn payment(fixture: &Fixture) -> ReviewRecord {
    let raw = "ec098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a764000080018080";
    let parameters = json!({"signWith": "0xfd29c1148A76b673eEFCcfb82dcA00Bc7AAF471E",
        "unsignedTransaction": raw, "type": "TRANSACTION_TYPE_ETHEREUM"});
    fixture.propose(1, "ACTIVITY_TYPE_SIGN_TRANSACTION_V2", "signTransactionIntentV2", &parameters)
}

fn text(console: &mut TestConsole, word: &str, pause: u64) {
    for letter in word.chars() {
        console.press_after(Key::Char(letter), pause);
    }
}

#[test]
fn approval_requires_every_flag_on_screen() {
    let fixture = Fixture::new(3, 2);
    let record = payment(&fixture);
    for size in SIZES {
        let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), size);
        console.open(&record);
        let open = console.model.review.as_ref().unwrap();
        assert_eq!(open.review.risk, crate::kinds::Level::Med);
        let flags: Vec<String> = open.review.flags.iter().map(|flag| flag.name.to_owned()).collect();
        assert!(!flags.is_empty());
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..60 {
            let shown = console.shown();
            seen.extend(flags.iter().filter(|name| shown.contains(&format!("({name})"))).cloned());
            console.press(Key::Char('a'));
            if console.is_deciding() {
                break;
            }
            assert!(console.model.notice.contains("flag"), "{size:?}: {}", console.model.notice);
            console.press(Key::PageDown);
        }
        assert!(console.is_deciding(), "{size:?}: never unlocked: {}", console.model.notice);
        assert_eq!(seen.len(), flags.len(), "{size:?}: approved with only {seen:?} of {flags:?} seen");
    }
}

#[test]
fn key_bursts_are_complete() {
    let (fixture, record) = tag_proposal();
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 60));
    console.open(&record);
    console.press(Key::Char('x'));
    console.wait(1100);
    text(&mut console, "y", 0);
    console.press_after(Key::Tab, 0);
    text(&mut console, "not me, book of 00", 0);
    assert!(console.shown().contains("[ not me, book of 00_ ]"), "{}", console.shown());
}

#[test]
fn outdated_notices_disappear() {
    let (fixture, record) = threshold_proposal();
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (80, 24));
    console.open(&record);
    console.press(Key::Char('a'));
    assert!(console.shown().contains("cannot approve"), "{}", console.shown());
    for _ in 0..20 {
        console.press(Key::PageDown);
    }
    assert!(!console.model.notice.contains("cannot approve"), "{}", console.model.notice);
    // The message disappears with its cause, without another key.
    console.wait(0);
    console.model.review.as_mut().unwrap().changed = Some("the votes".to_owned());
    console.press(Key::Char('a'));
    assert!(console.model.notice.contains("cannot approve: changed since"), "{}", console.model.notice);
    console.model.review.as_mut().unwrap().changed = None;
    console.wait(200);
    assert_eq!(console.model.notice, "");
    update(&mut console.model, Msg::Notice("written to x.json".to_owned()));
    assert!(console.shown().contains("written to x.json"));
    console.wait(60_000);
    assert!(!console.shown().contains("written to x.json"), "{}", console.shown());
}

#[test]
fn the_tree_shows_the_current_quorum() {
    let fixture = Fixture::new(3, 2);
    let mut console = TestConsole::new(&fixture, &[], (120, 36));
    let heads = OrganizationPage { organizations: vec![fixture.organization().head], next: None };
    console.link(Answer::Organizations(None, None, heads));
    console.press(Key::Char('2'));
    assert!(console.shown().contains("root 2/3"), "{}", console.shown());
    let id: OrganizationId = Fixture::id();
    console.link(Answer::Changed(Change::Organization { organization_id: id, version: 8 }));
    let mut changed = Fixture::new(3, 1).organization();
    changed.head.version = 8;
    console.link(Answer::Organization(Arc::new(changed)));
    assert!(console.shown().contains("root 1/3"), "{}", console.shown());
}

#[test]
fn q_in_the_palette_quits_and_opens_nothing() {
    let (fixture, record) = tag_proposal();
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 36));
    console.press(Key::Char(':'));
    console.press(Key::Char('q'));
    assert_eq!(console.press(Key::Enter), [Effect::Quit]);
}

#[test]
fn page_keys_scroll_by_visible_rows() {
    let fixture = Fixture::new(3, 2);
    let rows: Vec<ReviewRecord> = (0..60)
        .map(|index| {
            let name = json!({"userTagName": format!("t{index}"), "userIds": []});
            fixture.propose(1, "ACTIVITY_TYPE_CREATE_USER_TAG", "createUserTagIntent", &name)
        })
        .collect();
    for size in SIZES {
        let mut console = TestConsole::new(&fixture, &rows, size);
        let visible = |shown: &str| {
            let names = |line: &&str| line.contains(" LOW ") || line.contains(" MED ");
            shown.lines().filter(names).count()
        };
        let marked = |shown: &str| {
            let row = shown.lines().position(|line| line.contains("\u{2502} > "));
            shown.lines().nth(row.unwrap() + usize::from(size.0 < 80)).unwrap().to_owned()
        };
        let mut names = std::collections::BTreeSet::new();
        for _ in 0..60 {
            let shown = console.shown();
            assert!(visible(&shown) > 0, "{shown}");
            for name in shown.split(|letter: char| !letter.is_ascii_alphanumeric()) {
                let number = name.strip_prefix('t').filter(|rest| rest.parse::<u32>().is_ok());
                names.extend(number.map(str::to_owned));
            }
            let before = marked(&shown);
            console.press(Key::PageDown);
            if marked(&console.shown()) == before {
                break;
            }
        }
        assert_eq!(names.len(), 60, "{size:?}: rows were skipped");
    }
}

/// Returns a proposal for a tag, recorded this many seconds more than an hour ago.
fn tag(fixture: &Fixture, number: usize) -> ActivityRow {
    let name = json!({"userTagName": format!("t{number}"), "userIds": []});
    let mut row = fixture.propose(1, "ACTIVITY_TYPE_CREATE_USER_TAG", "createUserTagIntent", &name).row;
    row.activity.created_at = Timestamp::from_millis(NOW - 3_600_000 - number as u64 * 1000);
    row
}

fn page(console: &mut TestConsole, rows: Vec<ActivityRow>, is_last: bool) {
    let organization = (**console.model.shared.organization.as_ref().unwrap()).clone();
    console.inbox_page(vec![(organization, rows)], Some(612), is_last);
}

#[test]
fn the_inbox_is_read_completely() {
    let (fixture, oldest) = threshold_proposal();
    let mut console = TestConsole::new(&fixture, &[], (120, 36));
    console.model.shared.inbox = crate::screens::inbox::Inbox::default();
    let effects = console.link(Answer::Changed(Change::Reset));
    assert!(effects.contains(&Effect::Order(Order::Inbox(Fixture::id(), 1))), "{effects:?}");
    assert!(console.shown().contains("Approvals ?"), "{}", console.shown());
    for from in 0..5 {
        page(
            &mut console,
            (from * 100..from * 100 + 100).map(|number| tag(&fixture, number)).collect(),
            false,
        );
    }
    let shown = console.shown();
    assert!(shown.contains("Waiting for you: 500 so far (612 waiting, 500 loaded)"), "{shown}");
    assert!(shown.contains("[1 Approvals 500+]"), "{shown}");
    let mut last: Vec<ActivityRow> = (500..611).map(|number| tag(&fixture, number)).collect();
    last.push(oldest.row.clone());
    page(&mut console, last, true);
    let shown = console.shown();
    assert!(shown.contains("Waiting for you: 612 ") && shown.contains("[1 Approvals 612]"), "{shown}");
    let marked = shown.lines().find(|line| line.contains("\u{2502} > ")).unwrap();
    assert!(marked.contains("HIGH  Change root quorum"), "{shown}");
    // The pages of the first reading are not announced as new.
    assert!(!console.model.notice.contains("new") && !shown.contains("new HIGH"), "{shown}");
    // The other rows follow, oldest first.
    let names: Vec<&str> = shown.lines().filter_map(|line| line.split("\"t").nth(1)).collect();
    assert!(names[0].starts_with("610") && names[1].starts_with("609"), "{names:?}");
}

#[test]
fn only_new_activities_are_announced() {
    let (fixture, record) = threshold_proposal();
    let mut console = TestConsole::new(&fixture, &[], (120, 36));
    let all: Vec<ActivityRow> = (0..30).map(|number| tag(&fixture, number)).collect();
    console.inbox(fixture.organization(), all.clone());
    console.model.notice.clear();
    // A decided activity disappears; nothing else changes.
    let changed = |row: &ActivityRow, status: Status| Change::Activity {
        organization_id: Fixture::id(),
        activity_id: row.activity.id,
        status,
        parent_organization_id: None,
    };
    let effects = console.link(Answer::Changed(changed(&all[0], Status::Completed)));
    assert_eq!(effects, [], "a decided activity needs no reading");
    assert!(console.shown().contains("Waiting for you: 29 ") && console.model.notice.contains("1 decided"));
    // Only the new activity is read.
    let effects = console.link(Answer::Changed(changed(&record.row, Status::ConsensusNeeded)));
    let ids = vec![record.row.activity.id];
    assert_eq!(effects, [Effect::Order(Order::Rows(Fixture::id(), ids.clone()))]);
    console.link(Answer::Rows(Arc::new(record.organization.clone()), ids.clone(), vec![record.row.clone()]));
    let shown = console.shown();
    assert!(console.model.notice.contains("new HIGH") && shown.contains("1 new HIGH"), "{shown}");
    let first = shown.lines().find(|line| line.contains(" of 3 ")).unwrap();
    assert!(first.contains("> HIGH  Change root quorum"), "{shown}");
    // After another reading it is still announced; after it was opened it is not.
    console.inbox(fixture.organization(), [&all[1..], std::slice::from_ref(&record.row)].concat());
    assert!(console.shown().contains("1 new HIGH"), "{}", console.shown());
    console.press(Key::Char('g'));
    console.open(&record);
    console.press(Key::Esc);
    assert!(!console.shown().contains("new HIGH"), "{}", console.shown());
    // An older page does not bring back an activity that changed during the reading.
    console.link(Answer::Changed(Change::Reset));
    console.link(Answer::Changed(changed(&record.row, Status::Rejected)));
    page(&mut console, [&all[1..], std::slice::from_ref(&record.row)].concat(), true);
    assert!(!console.shown().contains("Change root quorum"), "{}", console.shown());
}

#[test]
fn authority_changes_reload_the_inbox() {
    let fixture = Fixture::new(3, 2);
    let mut console = TestConsole::new(&fixture, &[tag_proposal().1], (120, 36));
    let mut changed = fixture.organization();
    changed.head.version += 1;
    assert_eq!(console.link(Answer::Organization(Arc::new(changed.clone()))), []);
    assert_eq!(console.wait(60_000), []);
    changed.head.root_quorum.threshold = 3;
    let effects = console.link(Answer::Organization(Arc::new(changed)));
    assert!(matches!(effects.as_slice(), [Effect::Order(Order::Inbox(..))]), "{effects:?}");
}

#[test]
fn ten_thousand_waiting_activities_scroll() {
    let (fixture, record) = tag_proposal();
    let mut console = TestConsole::new(&fixture, &[], (120, 36));
    let rows: Vec<ActivityRow> = (0..10_000u64)
        .map(|index| {
            let mut row = record.row.clone();
            row.activity.id = quorate_common::ids::ActivityId::timed(NOW - index, [7; 10]);
            row.activity.created_at = Timestamp::from_millis(NOW - index);
            row
        })
        .collect();
    console.inbox(fixture.organization(), rows);
    console.press(Key::Char('G'));
    let shown = console.shown();
    assert!(shown.contains("Waiting for you: 10000 ") && shown.contains("> LOW"), "{shown}");
    assert!(shown.contains("hidden in a burst"), "a burst stays a notice: {shown}");
}

/// Returns everything that a pane shows while it is scrolled to its end.
fn scrolled(console: &mut TestConsole) -> String {
    let mut all = String::new();
    for _ in 0..400 {
        let shown = console.shown();
        let before = shown.clone();
        all.push_str(&shown);
        console.press(Key::PageDown);
        if console.shown() == before {
            return all;
        }
    }
    unreachable!("it never ends: {}", console.shown())
}

#[test]
fn every_account_of_a_wallet_can_be_reached() {
    let fixture = Fixture::new(3, 2);
    let wallet = WalletId::from_bytes([0x51; 16]);
    let day = Timestamp::from_millis(NOW);
    let account = |number: u8| WalletAccount {
        wallet_account_id: WalletAccountId::from_bytes([number; 16]),
        organization_id: Fixture::id(),
        wallet_id: wallet,
        curve: "CURVE_SECP256K1".to_owned(),
        path_format: "PATH_FORMAT_BIP32".to_owned(),
        path: format!("m/44'/60'/0'/0/{number}"),
        address_format: "ADDRESS_FORMAT_ETHEREUM".to_owned(),
        address: format!("0x{number:040}"),
        created_at: day.clone(),
        updated_at: day.clone(),
        public_key: None,
        wallet_details: None,
        name: None,
    };
    for size in SIZES {
        let mut console = TestConsole::new(&fixture, &[], size);
        console.press(Key::Char('2'));
        console.press(Key::Right);
        console.press(Key::Enter);
        let accounts = AccountPage { accounts: (0..60).map(account).collect(), next: None };
        console.link(Answer::Accounts(wallet, None, accounts));
        console.press(Key::Tab);
        let shown = scrolled(&mut console);
        let seen: std::collections::BTreeSet<&str> =
            shown.lines().map(|line| line.trim_matches(['\u{2502}', ' '])).collect();
        let columns = usize::from(size.0) - 4;
        for account in (0..60).map(account) {
            let line = format!("account   {}  {} ETHEREUM", account.address, account.path);
            for row in crate::text::wrap(&line, columns) {
                assert!(seen.contains(row.trim()), "{size:?}: {row} was never on screen");
            }
        }
        assert!(seen.contains("60 accounts, complete"), "{size:?}: {}", console.shown());
    }
}

#[test]
fn every_pane_scrolls_to_its_end() {
    let (fixture, record) = threshold_proposal();
    for size in SIZES {
        // The preview.
        let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), size);
        console.press(Key::Tab);
        let shown: String = scrolled(&mut console).split_whitespace().collect();
        assert!(shown.contains("sha256"), "{size:?}: {}", console.shown());
        console.press(Key::Tab);
        // The panel of a decision, with the message that is signed.
        console.open(&record);
        for _ in 0..40 {
            console.press(Key::PageDown);
        }
        console.wait(0);
        console.press(Key::Char('a'));
        console.wait(1100);
        let shown = scrolled(&mut console);
        assert!(shown.contains("Pasted text"), "{size:?}: {}", console.shown());
        assert!(console.is_deciding());
        // Proof and keys.
        console.press(Key::Esc);
        for (key, last) in [(Key::Char('v'), "message"), (Key::Char('?'), "Ctrl-C")] {
            console.press(key);
            assert!(scrolled(&mut console).contains(last), "{size:?}: {}", console.shown());
            console.press(Key::Esc);
        }
    }
}

#[test]
fn a_key_of_another_user_cannot_decide() {
    let (fixture, record) = tag_proposal();
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (80, 24));
    console.model.shared.identity.public_key = Some(Fixture::stamper(1).public_key().to_owned());
    console.link(Answer::Organization(Arc::new(fixture.organization())));
    assert!(console.shown().contains("is not an API key of user \"mira\""), "{}", console.shown());
    console.open(&record);
    for key in ['a', 'x'] {
        console.press(Key::Char(key));
        assert!(!console.is_deciding(), "{}", console.shown());
    }
    // The error disappears once the key belongs to the user.
    console.model.shared.identity.public_key = Some(Fixture::stamper(0).public_key().to_owned());
    console.link(Answer::Organization(Arc::new(fixture.organization())));
    assert!(!console.shown().contains("is not an API key"), "{}", console.shown());
}

#[test]
fn store_problems_show_on_every_screen() {
    let (fixture, record) = tag_proposal();
    for size in SIZES {
        let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), size);
        let mut status = console.model.shared.daemon.clone().unwrap();
        let detail = "no space left on the device".to_owned();
        let since = Timestamp::from_millis(NOW - 60_000);
        status.store = Some(StoreStatus { state: StoreState::Full, since, detail });
        console.link(Answer::Status(status.clone()));
        for key in ['1', '2', '3', '4', '1'] {
            console.press(Key::Char(key));
            assert!(console.shown().contains("[x] STORE FULL"), "{size:?} {key}: {}", console.shown());
        }
        console.open(&record);
        assert!(console.shown().contains("[x] STORE FULL"), "{size:?}: {}", console.shown());
        status.store = None;
        console.link(Answer::Status(status));
        assert!(!console.shown().contains("STORE"), "{size:?}: {}", console.shown());
    }
    let newer: StoreStatus =
        serde_json::from_value(json!({"state": "upside_down", "since": {"seconds": "1", "nanos": "0"}}))
            .unwrap();
    assert_eq!(newer.state, StoreState::Unknown);
}

#[test]
fn read_failures_show_until_they_are_resolved() {
    let (fixture, record) = tag_proposal();
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 36));
    console.link(Answer::Failed(Subject::Approvals, LinkError::Lost("gone".to_owned())));
    console.press(Key::Down);
    console.wait(60_000);
    assert!(console.shown().contains("cannot read approvals"), "{}", console.shown());
    console.inbox(fixture.organization(), vec![record.row]);
    assert!(!console.shown().contains("cannot read"), "{}", console.shown());
}

#[test]
fn lists_mark_names_that_imitate_others() {
    let (fixture, record) = tag_proposal();
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 36));
    assert!(!console.shown().contains("[!] jo"), "{}", console.shown());
    let mut organization = fixture.organization();
    "j\u{43e}".clone_into(&mut organization.users[1].user_name);
    "jo".clone_into(&mut organization.users[2].user_name);
    console.inbox(organization, vec![record.row.clone()]);
    assert!(console.shown().contains("[!] j\u{43e}"), "{}", console.shown());
    let effects = console.press(Key::Char('3'));
    console.history(&effects, vec![record.row], None);
    assert!(console.shown().contains("[!] j\u{43e}"), "{}", console.shown());
}

#[test]
fn sub_organizations_cannot_fill_the_inbox_or_the_known_keys() {
    let (fixture, record) = tag_proposal();
    let mut console = TestConsole::new(&fixture, &[], (120, 36));
    console.link(Answer::Changed(Change::Reset));
    console.link(Answer::Organization(Arc::new(fixture.organization())));
    let mut below = fixture.organization();
    below.head.organization_id = quorate_common::ids::OrganizationId::from_bytes([0x77; 16]);
    below.head.parent_organization_id = Some(Fixture::id());
    let rows = |organization: &OrganizationDetail, numbers: std::ops::Range<usize>| -> Vec<ActivityRow> {
        let of_one = |number: usize| {
            let mut row = record.row.clone();
            row.activity.organization_id = organization.head.organization_id;
            let mut id = *organization.head.organization_id.as_bytes();
            id[..8].copy_from_slice(&(number as u64).to_be_bytes());
            row.activity.id = ActivityId::from_bytes(id);
            row
        };
        numbers.map(of_one).collect()
    };
    let flood = rows(&below, 0..INBOX_LIMIT + 5);
    let effects = console.inbox_page(vec![(below.clone(), flood)], None, true);
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::SaveKnownKeys(_))), "{effects:?}");
    assert_eq!(console.model.shared.inbox.rows().len(), INBOX_LIMIT);
    let shown = console.shown();
    assert!(shown.contains("more wait in sub-organizations: o shows one of them"), "{shown}");
    // What waits in the organization itself is never left out.
    let own = rows(&fixture.organization(), 0..3);
    let ids: Vec<ActivityId> = own.iter().map(|row| row.activity.id).collect();
    console.link(Answer::Rows(Arc::new(fixture.organization()), ids.clone(), own));
    let inbox = &console.model.shared.inbox;
    assert_eq!(inbox.rows().len(), INBOX_LIMIT + 3);
    assert!(ids.iter().all(|id| inbox.rows().iter().any(|row| row.id == *id)));
}

#[test]
fn what_waits_in_sub_organizations_is_in_the_inbox() {
    let (fixture, record) = tag_proposal();
    let mut console = TestConsole::new(&fixture, &[], (120, 36));
    let below = quorate_common::ids::OrganizationId::from_bytes([0x77; 16]);
    let mut organization = fixture.organization();
    organization.head.organization_id = below;
    organization.head.parent_organization_id = Some(Fixture::id());
    "client".clone_into(&mut organization.head.organization_name);
    let mut row = record.row;
    row.activity.organization_id = below;
    let changed = |status| Change::Activity {
        organization_id: below,
        activity_id: row.activity.id,
        status,
        parent_organization_id: Some(Fixture::id()),
    };
    let effects = console.link(Answer::Changed(changed(Status::ConsensusNeeded)));
    let ids = vec![row.activity.id];
    assert_eq!(effects, [Effect::Order(Order::Rows(below, ids.clone()))]);
    console.link(Answer::Rows(Arc::new(organization.clone()), ids.clone(), vec![row.clone()]));
    assert!(console.shown().contains("client 77777777"), "{}", console.shown());
    // The record is read from that organization.
    let effects = console.press(Key::Enter);
    assert!(
        effects.contains(&Effect::Order(Order::Record(below, row.activity.id.to_string()))),
        "{effects:?}"
    );
    console.press(Key::Esc);
    // A changed root quorum there requires another reading, and a deletion none.
    organization.head.root_quorum.threshold = 3;
    let version = organization.head.version + 1;
    let change = Change::Organization { organization_id: below, version };
    assert_eq!(console.link(Answer::Changed(change)), [Effect::Order(Order::Below(below))]);
    let effects = console.link(Answer::Below(Arc::new(organization)));
    assert_eq!(effects, [Effect::Order(Order::Rows(below, ids))]);
    console.link(Answer::Gone(below));
    assert!(console.shown().contains("Nothing waits"), "{}", console.shown());
    // Organizations elsewhere do not concern this console.
    let elsewhere = Change::Activity {
        organization_id: below,
        activity_id: row.activity.id,
        status: Status::ConsensusNeeded,
        parent_organization_id: Some(below),
    };
    assert_eq!(console.link(Answer::Changed(elsewhere)), []);
}

#[test]
fn another_organization_replaces_everything_on_screen() {
    let (fixture, record) = tag_proposal();
    let mut console = TestConsole::new(&fixture, &[record], (120, 36));
    let other = quorate_common::ids::OrganizationId::from_bytes([0x77; 16]);
    console.press(Key::Char('o'));
    for letter in other.to_string().chars() {
        console.press(Key::Char(letter));
    }
    let effects = console.press(Key::Enter);
    assert!(
        matches!(effects.first(), Some(Effect::Order(Order::Inbox(id, _))) if *id == other),
        "{effects:?}"
    );
    let shown = console.shown();
    assert!(shown.contains("Loading the approvals") && !shown.contains("auditors"), "{shown}");
    // A late answer about the former organization changes nothing.
    console.link(Answer::Organization(Arc::new(fixture.organization())));
    console.model.notice.clear();
    assert!(!console.shown().contains("acme"), "{}", console.shown());
    // The key is in no user of the new one: it is read only, and votes are signed for nobody.
    let mut organization = Fixture::new(3, 2).organization();
    organization.head.organization_id = other;
    "other".clone_into(&mut organization.head.organization_name);
    organization.users.clear();
    console.inbox(organization, Vec::new());
    let shown = console.shown();
    assert!(shown.contains("other") && shown.contains("read only"), "{shown}");
}

#[test]
fn an_organization_is_pinned_by_its_id_and_not_by_its_name() {
    let (fixture, record) = tag_proposal();
    let mut console = TestConsole::new(&fixture, &[record], (120, 36));
    let own = fixture.organization().head;
    let mut other = own.clone();
    other.organization_id = quorate_common::ids::OrganizationId::from_bytes([0x77; 16]);
    "other".clone_into(&mut other.organization_name);
    let id = other.organization_id;
    let page = OrganizationPage { organizations: vec![own, other], next: None };
    for (typed, pinned_by) in [("othe", PinnedBy::Name), (&*id.to_string(), PinnedBy::Id)] {
        console.press(Key::Char('o'));
        console.link(Answer::Organizations(None, None, page.clone()));
        update(&mut console.model, Msg::Paste(typed.to_owned().into()));
        console.press(Key::Enter);
        let viewer = &console.model.shared.identity.viewer;
        assert_eq!((viewer.organization, viewer.pinned_by), (Some(id), pinned_by), "{typed}");
    }
    // Without sub-organizations, the list states so.
    console.press(Key::Char('o'));
    let alone = OrganizationPage { organizations: vec![fixture.organization().head], next: None };
    console.link(Answer::Organizations(None, None, alone.clone()));
    let none = "it has no sub-organizations";
    assert!(!console.shown().contains(none), "they are not read yet: {}", console.shown());
    let children = OrganizationPage { organizations: Vec::new(), next: None };
    console.link(Answer::Organizations(Some(id), None, children));
    assert!(console.shown().contains(none), "{}", console.shown());
    console.press(Key::Esc);
    // A list that cannot be read states so, and an id can be typed nevertheless.
    console.press(Key::Char('o'));
    console.link(Answer::Failed(Subject::Organizations, LinkError::Unreadable("EOF".to_owned())));
    assert!(console.shown().contains("The organizations cannot be read"), "{}", console.shown());
    let own = Fixture::id();
    update(&mut console.model, Msg::Paste(own.to_string().into()));
    console.press(Key::Enter);
    assert_eq!(console.model.shared.organization_id, Some(own));
}

#[test]
fn the_palette_opens_what_waits_in_a_sub_organization_there() {
    let (fixture, record) = tag_proposal();
    let mut console = TestConsole::new(&fixture, &[], (120, 36));
    let below = quorate_common::ids::OrganizationId::from_bytes([0x77; 16]);
    let mut organization = fixture.organization();
    organization.head.organization_id = below;
    organization.head.parent_organization_id = Some(Fixture::id());
    let mut row = record.row;
    row.activity.organization_id = below;
    let id = row.activity.id;
    console.inbox(organization, vec![row]);
    console.press(Key::Char(':'));
    update(&mut console.model, Msg::Paste(id.to_string().into()));
    let effects = console.press(Key::Enter);
    assert!(effects.contains(&Effect::Order(Order::Record(below, id.to_string()))), "{effects:?}");
    // The organization is not exchanged below a review.
    assert_eq!(console.press(Key::Char('o')), []);
    assert!(console.shown().contains("close the review first"), "{}", console.shown());
}
