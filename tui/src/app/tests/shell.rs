//! Tests of what surrounds the screens: the status row, notices, fields, outages, and terminals with ASCII only.

use quorate_common::activity::Selection;

use super::*;
use crate::screens::request::Request;

/// All sizes at which the console must work.
const ALL_SIZES: [(u16, u16); 5] = [(120, 36), (80, 24), (60, 20), (60, 16), (40, 12)];

/// Returns the text of the screen in one row, so that wrapping does not matter.
fn joined(console: &TestConsole) -> String {
    let shown = console.shown();
    let rows = shown.lines().map(|row| row.trim_matches([' ', '\u{2502}']));
    rows.collect::<Vec<_>>().join(" ")
}

fn types(console: &mut TestConsole, text: &str) {
    for letter in text.chars() {
        console.press(Key::Char(letter));
    }
}

#[test]
fn the_effect_of_an_approval_is_never_cut() {
    let (fixture, record) = threshold_proposal();
    for size in ALL_SIZES {
        let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), size);
        console.open(&record);
        let shown = console.shown();
        assert!(shown.contains("after yours 1 more needed"), "{size:?}: {shown}");
        assert!(shown.contains(" HIGH"), "{size:?}: {shown}");
    }
}

/// Returns the record as rejected one minute ago by these users.
fn rejected(record: &ReviewRecord, users: &[usize]) -> ReviewRecord {
    let mut closed = record.clone();
    closed.row.activity.status = Status::Rejected;
    closed.row.activity.updated_at = Timestamp::from_millis(NOW - 60_000);
    closed.row.waiting = None;
    for user in users {
        let mut vote = closed.row.activity.votes[0].clone();
        vote.user_id = Fixture::user(*user);
        vote.selection = Selection::Rejected;
        closed.row.activity.votes.push(vote);
    }
    closed
}

#[test]
fn a_closed_activity_states_when_and_by_whom() {
    let (fixture, record) = tag_proposal();
    let end = crate::text::clock(NOW - 60_000);
    for size in ALL_SIZES {
        for (users, expected) in [(&[1][..], "rejected by jo [s]"), (&[], "denied by a policy [s]")] {
            let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), size);
            console.open(&record);
            console.wait(3_000);
            let closed = rejected(&record, users);
            console.link(Answer::Record(record.row.activity.id.to_string(), Box::new(closed)));
            console.press(Key::Char('a'));
            let shown = joined(&console);
            assert!(shown.contains(&format!("CLOSED at {end}: {expected}")), "{size:?}: {shown}");
            assert!(!console.is_deciding());
        }
    }
}

#[test]
fn the_review_of_an_ended_activity_states_who_ended_it() {
    let (fixture, record) = tag_proposal();
    for (users, expected) in [(&[1, 2][..], " rejected by jo [s], ana [s]"), (&[], " denied by a policy [s]")]
    {
        let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (80, 24));
        console.press(Key::Enter);
        let closed = rejected(&record, users);
        console.link(Answer::Record(record.row.activity.id.to_string(), Box::new(closed)));
        assert!(console.shown().contains(expected), "{}", console.shown());
    }
}

#[test]
fn values_of_fields_begin_in_one_column() {
    let fixture = Fixture::new(3, 2);
    let parameters = serde_json::json!({"signWith": "0xfd29c1148A76b673eEFCcfb82dcA00Bc7AAF471E",
        "payload": "hello", "encoding": "PAYLOAD_ENCODING_TEXT_UTF8", "hashFunction": "HASH_FUNCTION_KECCAK256"});
    let record =
        fixture.propose(1, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", "signRawPayloadIntentV2", &parameters);
    for columns in [120, 80, 60] {
        let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (columns, 80));
        console.open(&record);
        let shown = console.shown();
        let at = |label: &str| {
            let row = shown.lines().find(|row| row.trim_start().starts_with(label)).unwrap();
            row.len() - row.trim_start()[label.len()..].trim_start().len()
        };
        let places: Vec<usize> = ["encoding", "hashFunction", "payload", "signWith"].map(at).into();
        assert!(places.iter().all(|place| *place == places[0]), "{columns}: {places:?}\n{shown}");
    }
}

#[test]
fn each_outage_has_its_own_screen() {
    let sealed = serde_json::json!({"code": 14, "message": "the daemon is sealed", "details": []});
    let api = |value: serde_json::Value| LinkError::Api(serde_json::from_value(value).unwrap());
    let busy = serde_json::json!({"code": 14, "message": "starting", "details": []});
    let limited = serde_json::json!({"code": 8, "message": "please wait", "details": []});
    let errors = [
        (LinkError::Down("/run/q.sock".to_owned()), "No daemon", "quorated serve"),
        (LinkError::Forbidden("/run/q.sock".to_owned()), "No access to the daemon", "group"),
        (LinkError::Lost("reset".to_owned()), "Connection lost", "r retries now"),
        (api(sealed), "Daemon sealed", "Unseal the daemon"),
        (api(busy), "Daemon not ready", "refuses to answer"),
        (api(limited), "Too many requests", "refuses more for the moment"),
        (LinkError::Protocol { daemon: 9 }, "This daemon cannot be used", "--socket PATH"),
    ];
    for size in [(120, 36), (80, 24), (40, 12)] {
        for (error, title, help) in &errors {
            let identity = Identity { socket: "/run/q.sock".to_owned(), ..Identity::default() };
            let model = Model::new(identity, KnownKeys::default(), size, NOW);
            let mut console = TestConsole { model, now: NOW, last_effects: Vec::new() };
            assert!(console.shown().contains("Connecting"), "{}", console.shown());
            console.link(Answer::Lost(error.clone(), 1));
            for key in ['1', '2', '3', '4'] {
                console.press(Key::Char(key));
                let shown = joined(&console);
                assert!(shown.contains(title), "{size:?} {title}: {shown}");
                assert!(size.1 < 20 || shown.contains(help), "{size:?} {help}: {shown}");
                assert!(!shown.contains("Loading") && !shown.contains("Nothing waits"), "{shown}");
            }
        }
    }
}

#[test]
fn data_stays_on_screen_in_an_outage() {
    let (fixture, record) = threshold_proposal();
    let mut console = TestConsole::new(&fixture, &[record], (80, 24));
    console.link(Answer::Lost(LinkError::Down("/run/q.sock".to_owned()), 1));
    let shown = console.shown();
    assert!(shown.contains("Change root quorum") && shown.contains("DISCONNECTED"), "{shown}");
}

#[test]
fn the_note_of_a_cancelled_rejection_comes_back() {
    let (fixture, record) = tag_proposal();
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 60));
    console.open(&record);
    console.press(Key::Char('x'));
    console.wait(1100);
    console.press(Key::Tab);
    types(&mut console, "not me");
    console.press(Key::Esc);
    assert!(!console.is_deciding());
    assert!(console.shown().contains("nothing was sent; x brings the note back"), "{}", console.shown());
    console.press(Key::Char('x'));
    console.wait(1100);
    assert!(console.shown().contains("[ not me"), "{}", console.shown());
    // An approval has no note, and keeps that of the rejection.
    console.press(Key::Esc);
    console.press(Key::Char('a'));
    console.wait(1100);
    assert!(!console.shown().contains("not me"), "{}", console.shown());
}

#[test]
fn esc_never_quits_and_filters_can_be_brought_back() {
    let (fixture, records) = two_proposals();
    for size in ALL_SIZES {
        let mut console = TestConsole::new(&fixture, &records, size);
        for _ in 0..10 {
            assert!(console.press(Key::Esc).is_empty());
        }
        console.press(Key::Char('/'));
        types(&mut console, "quorum");
        assert!(console.shown().contains("/quorum_"), "{size:?}: {}", console.shown());
        console.press(Key::Enter);
        assert!(!console.shown().contains("user tag"), "{}", console.shown());
        console.press(Key::Esc);
        assert!(console.shown().contains("filter cleared"), "{}", console.shown());
        console.press(Key::Char('/'));
        console.press(Key::Up);
        assert!(console.shown().contains("/quorum_"), "{size:?}: {}", console.shown());
    }
}

#[test]
fn long_notices_are_not_cut() {
    let (fixture, record) = tag_proposal();
    let text = "written to /srv/exports/a-rather-long-folder/quorate-proof-0a77.json";
    for size in ALL_SIZES {
        let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), size);
        update(&mut console.model, Msg::Notice(text.to_owned()));
        let shown: String = console.shown().split_whitespace().collect();
        let whole: String = text.split_whitespace().collect();
        assert!(shown.contains(&whole), "{size:?}: {}", console.shown());
        update(&mut console.model, Msg::Notice("x".repeat(2_000)));
        let shown = console.shown();
        assert!(shown.contains(">>"), "{size:?}: {shown}");
        assert!(shown.contains("Waiting for you") && shown.contains("Keys"), "{size:?}: {shown}");
    }
}

#[test]
fn disabled_actions_state_the_whole_reason_at_every_size() {
    let (fixture, record) = threshold_proposal();
    for size in ALL_SIZES {
        let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), size);
        console.open(&record);
        console.link(Answer::Lost(LinkError::Down("/run/q.sock".to_owned()), 1));
        console.press(Key::Char('x'));
        assert!(joined(&console).contains("cannot reject: disconnected"), "{size:?}: {}", console.shown());
        console.press(Key::Char('z'));
        assert!(joined(&console).contains("z does nothing here"), "{size:?}: {}", console.shown());
    }
}

#[test]
fn the_fingerprint_is_whole_while_the_key_is_unlocked() {
    let (fixture, record) = tag_proposal();
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (80, 40));
    console.model.shared.identity.needs_passphrase = true;
    console.open(&record);
    console.press(Key::Char('a'));
    console.wait(1100);
    for key in LOW {
        console.press(key);
    }
    let shown: String = console.shown().split_whitespace().collect::<String>().replace('\u{2502}', "");
    let hex = record.row.activity.fingerprint.hex();
    let panel = shown.split("step3of4").nth(1).unwrap();
    assert!(panel.contains(&format!("sha256{hex}")), "{}", console.shown());
    assert!(!panel.contains(".."), "{}", console.shown());
    // It can be pasted, and nothing contradicts that.
    assert!(
        panel.contains("Typeorpasteit") && !panel.contains("Pastedtextisdiscarded"),
        "{}",
        console.shown()
    );
}

#[test]
fn terminals_without_unicode_get_ascii_only() {
    let (fixture, records) = two_proposals();
    for size in ALL_SIZES {
        let mut console = TestConsole::new(&fixture, &records, size);
        console.link(Answer::Organization(Arc::new(fixture.with_all_records())));
        let check = |console: &TestConsole| {
            let drawn = console.drawn(Theme::uncoloured().with_ascii(true));
            let text: Vec<&str> =
                drawn.buffer().content().iter().map(ratatui::buffer::Cell::symbol).collect();
            assert!(text.iter().all(|symbol| symbol.is_ascii()), "{}", text.concat());
        };
        for tab in SCREENS {
            console.press(tab.show.keys[0]);
            if tab.title == "Health" {
                console.figures(60);
            }
            check(&console);
        }
        console.press(Key::Char('1'));
        console.open(&records[0]);
        check(&console);
        let overlay =
            crate::screens::overlay::Overlay::proof(&console.model.review.as_ref().unwrap().review, false);
        console.model.fulfil([Request::Overlay(overlay)]);
        check(&console);
    }
}

#[test]
fn the_key_list_names_exactly_the_keys_that_work() {
    let (fixture, record) = threshold_proposal();
    let opened = [Key::Char('1'), Key::Char('2'), Key::Char('3'), Key::Char('4'), Key::Enter];
    for (index, key) in opened.into_iter().enumerate() {
        let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 60));
        console.press(Key::Char(if index < 4 { '2' } else { '1' }));
        if index == 4 {
            console.open(&record);
        } else {
            console.press(key);
        }
        console.press(Key::Char('?'));
        let listed = console.shown();
        let listed: std::collections::BTreeSet<&str> = listed
            .lines()
            .filter_map(|row| row.strip_prefix("\u{2502} "))
            .filter_map(|row| row.get(..14))
            .flat_map(str::split_whitespace)
            .collect();
        console.press(Key::Esc);
        for letter in ('!'..='~').filter(|letter| *letter != 'q') {
            console.press(Key::Char('r'));
            console.press(Key::Char(letter));
            let works = !console.model.notice.contains("does nothing here");
            let name = letter.to_string();
            assert_eq!(works, listed.contains(name.as_str()), "{letter}: {listed:?}");
            // Back to where the key was pressed.
            let (overlays, review) = (console.model.overlays.len(), index == 4);
            (0..overlays).for_each(|_| drop(console.press(Key::Esc)));
            console.model.show(if review { 0 } else { index });
            if review {
                console.open(&record);
            }
            console.press(Key::Esc);
            if review {
                console.open(&record);
            }
        }
    }
}

#[test]
fn the_header_states_the_host_of_the_daemon_only_if_it_is_known() {
    let (fixture, record) = tag_proposal();
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (170, 36));
    for (host, here, elsewhere) in
        [(None, false, false), (Some(false), false, true), (Some(true), true, false)]
    {
        console.link(Answer::Host(host));
        let shown = console.shown();
        assert_eq!(
            (shown.contains(", on this host"), shown.contains(", on another host")),
            (here, elsewhere)
        );
    }
}

#[test]
fn added_keys_work_and_are_listed() {
    let (fixture, record) = tag_proposal();
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 60));
    let keys = vec![("approve".to_owned(), vec!["A".to_owned()]), ("open".to_owned(), vec!["O".to_owned()])];
    let config = crate::config::Config { keys, ..crate::config::Config::default() };
    console.model.bindings = crate::screens::bindings::Bindings::of(&config).unwrap();
    console.press(Key::Char(':'));
    types(&mut console, "review");
    assert!(console.shown().contains("> O             Open the selected activity"), "{}", console.shown());
    console.press(Key::Esc);
    console.press(Key::Char('O'));
    console.link(Answer::Record(record.row.activity.id.to_string(), Box::new(record.clone())));
    assert!(console.shown().contains("A Approve..."), "{}", console.shown());
    console.press(Key::Char('?'));
    assert!(console.shown().contains("A a "), "{}", console.shown());
    console.press(Key::Esc);
    for key in ['A', 'a'] {
        console.press(Key::Char(key));
        assert!(console.is_deciding());
        console.press(Key::Esc);
    }
}

/// Returns the effects that notify or log.
fn reports(effects: Vec<Effect>) -> Vec<String> {
    let report = |effect| match effect {
        Effect::Notify(text) => Some(format!("notify {text}")),
        Effect::Log(text) => Some(format!("log {text}")),
        _ => None,
    };
    effects.into_iter().filter_map(report).collect()
}

#[test]
fn a_new_high_activity_notifies_once() {
    let (fixture, record) = threshold_proposal();
    let tag = fixture.propose(
        1,
        "ACTIVITY_TYPE_CREATE_USER_TAG",
        "createUserTagIntent",
        &serde_json::json!({"userTagName": "t", "userIds": []}),
    );
    // What waits when the console opens is not new.
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 36));
    assert_eq!(reports(console.link(Answer::Alive)), Vec::<String>::new());
    let mut console = TestConsole::new(&fixture, &[], (120, 36));
    let rows = |record: &ReviewRecord| {
        let organization = Arc::new(record.organization.clone());
        Answer::Rows(organization, vec![record.row.activity.id], vec![record.row.clone()])
    };
    assert_eq!(reports(console.link(rows(&tag))), Vec::<String>::new(), "a new LOW is only announced");
    let reported = reports(console.link(rows(&record)));
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert!(
        reported[0].starts_with("notify new HIGH: Change root quorum: threshold 3 [s] -> 1"),
        "{reported:?}"
    );
    assert_eq!(reports(console.link(rows(&record))), Vec::<String>::new());
}

#[test]
fn errors_are_logged_once_as_they_are_shown() {
    let (fixture, record) = threshold_proposal();
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 36));
    let error = || Answer::Failed(Subject::Activities, LinkError::Unreadable("EOF".to_owned()));
    let logged = reports(console.link(error()));
    assert_eq!(logged.len(), 1, "{logged:?}");
    let text = logged[0].strip_prefix("log ").unwrap();
    assert!(text.contains("EOF") && text.ends_with("the data on screen is unchanged"), "{text}");
    console.model.notice.clear();
    assert!(console.shown().contains(text), "{}", console.shown());
    assert_eq!(reports(console.wait(200)), Vec::<String>::new());
    let lost = || Answer::Lost(LinkError::Down("/run/q.sock".to_owned()), 1);
    assert_eq!(reports(console.link(lost())), ["log no daemon listens at /run/q.sock"]);
    assert_eq!(reports(console.link(lost())), Vec::<String>::new());
}

#[test]
fn every_screen_is_indicated_at_every_size() {
    let (fixture, record) = threshold_proposal();
    for size in [(120, 36), (80, 24), (60, 20), (40, 20), (40, 12)] {
        let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), size);
        for tab in SCREENS {
            console.press(tab.show.keys[0]);
            console.model.notice.clear();
            let shown = console.shown();
            if size.1 < 20 {
                let foot = shown.lines().last().unwrap();
                assert!(foot.contains("1-0 Screens  ? Keys"), "{size:?}: {shown}");
                continue;
            }
            let row = shown.lines().nth(1).unwrap();
            assert!(row.contains(&format!("[{} {}", tab.show.key(), tab.title)), "{size:?}: {row}");
            for other in SCREENS.iter().filter(|other| other.title != tab.title) {
                assert!(row.contains(&format!(" {}", other.show.key())), "{size:?}: {row}");
                let name: String = other.title.chars().take(3).collect();
                let is_named = row.contains(&format!("{} {name}", other.show.key()));
                assert!(is_named || size.0 < 80, "{size:?}: {row}");
            }
        }
    }
}
