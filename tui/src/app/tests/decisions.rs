//! What endangers a decision: an incomplete inbox, flags that were not on screen, text that cannot be reached, words that
//! are no longer true, keys that are lost, a key of somebody else.

use quorate_common::console::{AccountPage, Change, StoreState, StoreStatus};
use quorate_common::ids::{OrganizationId, WalletAccountId, WalletId};
use quorate_common::wire::WalletAccount;
use serde_json::json;

use super::*;

/// A payment of 2.5 ETH to an unknown recipient: MED, with flags, and many raw fields.
fn payment(stage: &Stage) -> ReviewRecord {
    let raw = "ec098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a764000080018080";
    let parameters = json!({"signWith": "0xfd29c1148A76b673eEFCcfb82dcA00Bc7AAF471E",
        "unsignedTransaction": raw, "type": "TRANSACTION_TYPE_ETHEREUM"});
    stage.propose(1, "ACTIVITY_TYPE_SIGN_TRANSACTION_V2", "signTransactionIntentV2", &parameters)
}

fn text(desk: &mut Desk, word: &str, pause: u64) {
    for letter in word.chars() {
        desk.press_after(Key::Char(letter), pause);
    }
}

#[test]
fn no_flag_is_approved_unseen() {
    let stage = Stage::new(3, 2);
    let record = payment(&stage);
    for size in SIZES {
        let mut desk = Desk::new(&stage, std::slice::from_ref(&record), size);
        desk.open(&record);
        let open = desk.model.review.as_ref().unwrap();
        assert_eq!(open.review.risk, crate::kinds::Level::Med);
        let flags: Vec<String> = open.review.flags.iter().map(|flag| flag.name.to_owned()).collect();
        assert!(!flags.is_empty());
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..60 {
            let shown = desk.shown();
            seen.extend(flags.iter().filter(|name| shown.contains(&format!("({name})"))).cloned());
            desk.press(Key::Char('a'));
            if desk.model.decide.is_some() {
                break;
            }
            assert!(desk.model.notice.contains("flag"), "{size:?}: {}", desk.model.notice);
            desk.press(Key::PageDown);
        }
        assert!(desk.model.decide.is_some(), "{size:?}: never unlocked: {}", desk.model.notice);
        assert_eq!(seen.len(), flags.len(), "{size:?}: approved with only {seen:?} of {flags:?} seen");
    }
}

#[test]
fn a_burst_of_keys_arrives_whole() {
    let (stage, record) = tagging();
    let mut desk = Desk::new(&stage, std::slice::from_ref(&record), (120, 60));
    desk.open(&record);
    desk.press(Key::Char('x'));
    desk.wait(1100);
    text(&mut desk, "y", 0);
    desk.press_after(Key::Tab, 0);
    text(&mut desk, "not me, book of 00", 0);
    assert!(desk.shown().contains("[ not me, book of 00_ ]"), "{}", desk.shown());
}

#[test]
fn words_about_the_past_go_with_it() {
    let (stage, record) = lowering();
    let mut desk = Desk::new(&stage, std::slice::from_ref(&record), (80, 24));
    desk.open(&record);
    desk.press(Key::Char('a'));
    assert!(desk.shown().contains("a is off"), "{}", desk.shown());
    for _ in 0..20 {
        desk.press(Key::PageDown);
    }
    assert!(!desk.model.notice.contains("a is off"), "{}", desk.model.notice);
    // What a key said goes with the situation, without another key.
    desk.wait(0);
    desk.model.review.as_mut().unwrap().changed = Some("the votes".to_owned());
    desk.press(Key::Char('a'));
    assert!(desk.model.notice.contains("a is off: changed since"), "{}", desk.model.notice);
    desk.model.review.as_mut().unwrap().changed = None;
    desk.wait(200);
    assert_eq!(desk.model.notice, "");
    update(&mut desk.model, Msg::Told("written to x.json".to_owned()));
    assert!(desk.shown().contains("written to x.json"));
    desk.wait(60_000);
    assert!(!desk.shown().contains("written to x.json"), "{}", desk.shown());
}

#[test]
fn the_tree_shows_the_quorum_of_now() {
    let stage = Stage::new(3, 2);
    let mut desk = Desk::new(&stage, &[], (120, 36));
    let heads = OrganizationPage { organizations: vec![stage.organization().head], next: None };
    desk.link(Answer::Organizations(None, None, heads));
    desk.press(Key::Char('2'));
    assert!(desk.shown().contains("root 2/3"), "{}", desk.shown());
    let id: OrganizationId = Stage::id();
    desk.link(Answer::Changed(Change::Organization { organization_id: id, version: 8 }));
    let mut changed = Stage::new(3, 1).organization();
    changed.head.version = 8;
    desk.link(Answer::Organization(Box::new(changed)));
    assert!(desk.shown().contains("root 1/3"), "{}", desk.shown());
}

#[test]
fn q_in_the_palette_quits_and_opens_nothing() {
    let (stage, record) = tagging();
    let mut desk = Desk::new(&stage, std::slice::from_ref(&record), (120, 36));
    desk.press(Key::Char(':'));
    desk.press(Key::Char('q'));
    assert_eq!(desk.press(Key::Enter), [Effect::Quit]);
}

#[test]
fn pages_are_what_is_visible() {
    let stage = Stage::new(3, 2);
    let rows: Vec<ReviewRecord> = (0..60)
        .map(|index| {
            let name = json!({"userTagName": format!("t{index}"), "userIds": []});
            stage.propose(1, "ACTIVITY_TYPE_CREATE_USER_TAG", "createUserTagIntent", &name)
        })
        .collect();
    for size in SIZES {
        let mut desk = Desk::new(&stage, &rows, size);
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
            let shown = desk.shown();
            assert!(visible(&shown) > 0, "{shown}");
            for name in shown.split(|letter: char| !letter.is_ascii_alphanumeric()) {
                let number = name.strip_prefix('t').filter(|rest| rest.parse::<u32>().is_ok());
                names.extend(number.map(str::to_owned));
            }
            let before = marked(&shown);
            desk.press(Key::PageDown);
            if marked(&desk.shown()) == before {
                break;
            }
        }
        assert_eq!(names.len(), 60, "{size:?}: rows were jumped over");
    }
}

/// A tag that somebody wants, recorded so many minutes ago.
fn tag(stage: &Stage, number: usize) -> ActivityRow {
    let name = json!({"userTagName": format!("t{number}"), "userIds": []});
    let mut row = stage.propose(1, "ACTIVITY_TYPE_CREATE_USER_TAG", "createUserTagIntent", &name).row;
    row.activity.created_at = Timestamp::of_millis(NOW - 3_600_000 - number as u64 * 1000);
    row
}

fn page(desk: &mut Desk, rows: Vec<ActivityRow>, is_last: bool) {
    let reading = desk.model.approvals.inbox.generation();
    desk.link(Answer::Inbox(InboxPage { reading, is_last, waiting: Some(612), rows }));
}

#[test]
fn the_inbox_is_read_to_its_end() {
    let (stage, oldest) = lowering();
    let mut desk = Desk::new(&stage, &[], (120, 36));
    desk.model.approvals = crate::screens::approvals::State::default();
    let effects = desk.link(Answer::Changed(Change::Reset));
    assert!(effects.contains(&Effect::Order(Order::Inbox(Stage::id(), 1))), "{effects:?}");
    assert!(desk.shown().contains("Approvals ?"), "{}", desk.shown());
    for from in 0..5 {
        page(&mut desk, (from * 100..from * 100 + 100).map(|number| tag(&stage, number)).collect(), false);
    }
    let shown = desk.shown();
    assert!(shown.contains("Waiting for you: 500 so far (612 waiting, 500 loaded)"), "{shown}");
    assert!(shown.contains("[1 Approvals 500+]"), "{shown}");
    let mut last: Vec<ActivityRow> = (500..611).map(|number| tag(&stage, number)).collect();
    last.push(oldest.row.clone());
    page(&mut desk, last, true);
    let shown = desk.shown();
    assert!(shown.contains("Waiting for you: 612 ") && shown.contains("[1 Approvals 612]"), "{shown}");
    let marked = shown.lines().find(|line| line.contains("\u{2502} > ")).unwrap();
    assert!(marked.contains("HIGH  Change root quorum"), "{shown}");
    // The pages of a reading are no news.
    assert!(!desk.model.notice.contains("new") && !shown.contains("new HIGH"), "{shown}");
    // Below it stand the others, the oldest first.
    let names: Vec<&str> = shown.lines().filter_map(|line| line.split("\"t").nth(1)).collect();
    assert!(names[0].starts_with("610") && names[1].starts_with("609"), "{names:?}");
}

#[test]
fn what_slides_into_the_list_is_not_new() {
    let (stage, record) = lowering();
    let mut desk = Desk::new(&stage, &[], (120, 36));
    let all: Vec<ActivityRow> = (0..30).map(|number| tag(&stage, number)).collect();
    desk.inbox(stage.organization(), all.clone());
    desk.model.notice.clear();
    // One is decided: it goes, and nothing else happens.
    let changed = |row: &ActivityRow, status: Status| Change::Activity {
        organization_id: Stage::id(),
        activity_id: row.activity.id,
        status,
    };
    let effects = desk.link(Answer::Changed(changed(&all[0], Status::Completed)));
    assert_eq!(effects, [], "what ended needs no reading");
    assert!(desk.shown().contains("Waiting for you: 29 ") && desk.model.notice.contains("1 decided"));
    // A new one is read by itself.
    let effects = desk.link(Answer::Changed(changed(&record.row, Status::ConsensusNeeded)));
    let ids = vec![record.row.activity.id];
    assert_eq!(effects, [Effect::Order(Order::Rows(Stage::id(), ids.clone()))]);
    desk.link(Answer::Rows(ids.clone(), vec![record.row.clone()]));
    let shown = desk.shown();
    assert!(desk.model.notice.contains("new HIGH") && shown.contains("1 new HIGH"), "{shown}");
    let first = shown.lines().find(|line| line.contains(" of 3 ")).unwrap();
    assert!(first.contains("> HIGH  Change root quorum"), "{shown}");
    // Read again, it is no news; opened, it is none any more.
    desk.inbox(stage.organization(), [&all[1..], std::slice::from_ref(&record.row)].concat());
    assert!(desk.shown().contains("1 new HIGH"), "{}", desk.shown());
    desk.press(Key::Char('g'));
    desk.open(&record);
    desk.press(Key::Esc);
    assert!(!desk.shown().contains("new HIGH"), "{}", desk.shown());
    // An activity that changed while everything is read is not brought back by an older page.
    desk.link(Answer::Changed(Change::Reset));
    desk.link(Answer::Changed(changed(&record.row, Status::Rejected)));
    page(&mut desk, [&all[1..], std::slice::from_ref(&record.row)].concat(), true);
    assert!(!desk.shown().contains("Change root quorum"), "{}", desk.shown());
}

#[test]
fn a_vote_reads_one_row_and_a_change_of_who_may_vote_all_of_them() {
    let stage = Stage::new(3, 2);
    let mut desk = Desk::new(&stage, &[tagging().1], (120, 36));
    let mut changed = stage.organization();
    changed.head.version += 1;
    assert_eq!(desk.link(Answer::Organization(Box::new(changed.clone()))), []);
    assert_eq!(desk.wait(60_000), []);
    changed.head.root_quorum.threshold = 3;
    let effects = desk.link(Answer::Organization(Box::new(changed)));
    assert!(matches!(effects.as_slice(), [Effect::Order(Order::Inbox(..))]), "{effects:?}");
}

#[test]
fn ten_thousand_waiting_activities_scroll() {
    let (stage, record) = tagging();
    let mut desk = Desk::new(&stage, &[], (120, 36));
    let rows: Vec<ActivityRow> = (0..10_000u64)
        .map(|index| {
            let mut row = record.row.clone();
            row.activity.id = quorate_common::ids::ActivityId::timed(NOW - index, [7; 10]);
            row.activity.created_at = Timestamp::of_millis(NOW - index);
            row
        })
        .collect();
    desk.inbox(stage.organization(), rows);
    desk.press(Key::Char('G'));
    let shown = desk.shown();
    assert!(shown.contains("Waiting for you: 10000 ") && shown.contains("> MED"), "{shown}");
}

/// Everything that a pane shows while it is scrolled to its end.
fn scrolled(desk: &mut Desk) -> String {
    let mut all = String::new();
    for _ in 0..400 {
        let shown = desk.shown();
        let before = shown.clone();
        all.push_str(&shown);
        desk.press(Key::PageDown);
        if desk.shown() == before {
            return all;
        }
    }
    unreachable!("it never ends: {}", desk.shown())
}

#[test]
fn every_account_of_a_wallet_can_be_reached() {
    let stage = Stage::new(3, 2);
    let wallet = WalletId::from_bytes([0x51; 16]);
    let day = Timestamp::of_millis(NOW);
    let account = |number: u8| WalletAccount {
        wallet_account_id: WalletAccountId::from_bytes([number; 16]),
        organization_id: Stage::id(),
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
        let mut desk = Desk::new(&stage, &[], size);
        desk.press(Key::Char('2'));
        desk.press(Key::Right);
        desk.press(Key::Enter);
        let accounts = AccountPage { accounts: (0..60).map(account).collect(), next: None };
        desk.link(Answer::Accounts(wallet, None, accounts));
        desk.press(Key::Tab);
        let shown = scrolled(&mut desk);
        let seen: std::collections::BTreeSet<&str> =
            shown.lines().map(|line| line.trim_matches(['\u{2502}', ' '])).collect();
        let columns = usize::from(size.0) - 4;
        for account in (0..60).map(account) {
            let told = format!("account   {}  {} ETHEREUM", account.address, account.path);
            for row in crate::text::wrap(&told, columns) {
                assert!(seen.contains(row.trim()), "{size:?}: {row} was never on screen");
            }
        }
        assert!(seen.contains("60 accounts, complete"), "{size:?}: {}", desk.shown());
    }
}

#[test]
fn whatever_is_below_can_be_reached() {
    let (stage, record) = lowering();
    for size in SIZES {
        // The preview.
        let mut desk = Desk::new(&stage, std::slice::from_ref(&record), size);
        desk.press(Key::Tab);
        let shown: String = scrolled(&mut desk).split_whitespace().collect();
        assert!(shown.contains("f'print"), "{size:?}: {}", desk.shown());
        desk.press(Key::Tab);
        // The panel of a decision, with the message that is signed.
        desk.open(&record);
        for _ in 0..40 {
            desk.press(Key::PageDown);
        }
        desk.wait(0);
        desk.press(Key::Char('a'));
        desk.wait(1100);
        let shown = scrolled(&mut desk);
        assert!(shown.contains("Pasted text"), "{size:?}: {}", desk.shown());
        assert!(desk.model.decide.is_some());
        // Proof and keys.
        desk.press(Key::Esc);
        for (key, last) in [(Key::Char('v'), "message"), (Key::Char('?'), "Ctrl-C")] {
            desk.press(key);
            assert!(scrolled(&mut desk).contains(last), "{size:?}: {}", desk.shown());
            desk.press(Key::Esc);
        }
    }
}

#[test]
fn a_key_of_somebody_else_decides_nothing() {
    let (stage, record) = tagging();
    let mut desk = Desk::new(&stage, std::slice::from_ref(&record), (80, 24));
    desk.model.identity.public_key = Some(Stage::stamper(1).public_key().to_owned());
    desk.link(Answer::Organization(Box::new(stage.organization())));
    assert!(desk.shown().contains("is not an API key of user \"mira\""), "{}", desk.shown());
    desk.open(&record);
    for key in ['a', 'x'] {
        desk.press(Key::Char(key));
        assert!(desk.model.decide.is_none(), "{}", desk.shown());
    }
    // It is known again once the key is the user's.
    desk.model.identity.public_key = Some(Stage::stamper(0).public_key().to_owned());
    desk.link(Answer::Organization(Box::new(stage.organization())));
    assert!(!desk.shown().contains("is not an API key"), "{}", desk.shown());
}

#[test]
fn a_store_that_is_not_in_order_is_told_on_every_screen() {
    let (stage, record) = tagging();
    for size in SIZES {
        let mut desk = Desk::new(&stage, std::slice::from_ref(&record), size);
        let mut status = desk.model.daemon.clone().unwrap();
        let detail = "no space left on the device".to_owned();
        let since = Timestamp::of_millis(NOW - 60_000);
        status.store = Some(StoreStatus { state: StoreState::Full, since, detail });
        desk.link(Answer::Status(status.clone()));
        for key in ['1', '2', '3', '4', '1'] {
            desk.press(Key::Char(key));
            assert!(desk.shown().contains("[x] STORE FULL"), "{size:?} {key}: {}", desk.shown());
        }
        desk.open(&record);
        assert!(desk.shown().contains("[x] STORE FULL"), "{size:?}: {}", desk.shown());
        status.store = None;
        desk.link(Answer::Status(status));
        assert!(!desk.shown().contains("STORE"), "{size:?}: {}", desk.shown());
    }
    let newer: StoreStatus =
        serde_json::from_value(json!({"state": "upside_down", "since": {"seconds": "1", "nanos": "0"}}))
            .unwrap();
    assert_eq!(newer.state, StoreState::Unknown);
}

#[test]
fn what_could_not_be_read_is_told_until_it_is() {
    let (stage, record) = tagging();
    let mut desk = Desk::new(&stage, std::slice::from_ref(&record), (120, 36));
    desk.link(Answer::Failed("approvals", LinkFlaw::Lost("gone".to_owned())));
    desk.press(Key::Down);
    desk.wait(60_000);
    assert!(desk.shown().contains("cannot read approvals"), "{}", desk.shown());
    desk.inbox(stage.organization(), vec![record.row]);
    assert!(!desk.shown().contains("cannot read"), "{}", desk.shown());
}
