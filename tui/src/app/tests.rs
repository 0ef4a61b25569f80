//! Tests of the screens at several sizes, and of keys that must not have an effect.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::collections::BTreeMap;
use std::sync::Arc;

use quorate_common::activity::Status;
use quorate_common::console::{
    ActivityPage, ActivityRow, HistoryPage, InboxPage, Mode, OrganizationDetail, OrganizationInbox,
    OrganizationPage, ReviewRecord,
};
use quorate_common::stamp::Stamp;
use quorate_common::wire::Timestamp;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::*;
use crate::keymap::Key;
use crate::kinds::SECTIONS;
use crate::known_keys::KnownKeys;
use crate::link::{Answer, EarlierTransfers, History, InboxEnd, InboxRead, LinkError, Order, Subject};
use crate::proof::{PinnedBy, Viewer};
use crate::screens::SCREENS;
use crate::screens::request::Effect;
use crate::session::Identity;
use crate::testing::{Fixture, NOW, card_proposal, tag_proposal, threshold_proposal};
use crate::theme::Theme;

mod access;
mod chains;
mod decisions;
mod drafting;
mod exchange;
mod finding;
mod health;
mod large;
mod mouse;
mod naming;
mod own;
mod policies;
mod proposing;
mod receipts;
mod shell;
mod themes;
mod transfers;
mod webhooks;

/// A console with simulated answers of the daemon.
struct TestConsole {
    model: Model,
    now: u64,
    last_effects: Vec<Effect>,
}

impl TestConsole {
    fn new(fixture: &Fixture, records: &[ReviewRecord], size: (u16, u16)) -> Self {
        let identity = Identity {
            viewer: Viewer {
                organization: Some(Fixture::id()),
                user: Some(Fixture::user(0)),
                pinned_by: PinnedBy::Id,
                ..Viewer::default()
            },
            public_key: Some(Fixture::stamper(0).public_key().to_owned()),
            key_name: Some("laptop-p256".to_owned()),
            socket: "/run/quorate/quorated.sock".to_owned(),
            ..Identity::default()
        };
        let mut known_keys = KnownKeys::default();
        known_keys.pin_new(&fixture.organization(), NOW - 10 * 86_400_000);
        let mut console =
            Self { model: Model::new(identity, known_keys, size, NOW), now: NOW, last_effects: Vec::new() };
        console.link(Answer::Connected(Fixture::status()));
        console.link(Answer::Host(Some(true)));
        console.inbox(fixture.organization(), records.iter().map(|record| record.row.clone()).collect());
        console
    }

    fn link(&mut self, answer: Answer) -> Vec<Effect> {
        let effects = update(&mut self.model, Msg::Link(answer));
        drawn(&mut self.model);
        effects
    }

    /// Delivers the organization and all its waiting activities.
    fn inbox(&mut self, organization: OrganizationDetail, rows: Vec<ActivityRow>) -> Vec<Effect> {
        let mut effects = self.link(Answer::Changed(quorate_common::console::Change::Reset));
        effects.extend(self.link(Answer::Organization(Arc::new(organization.clone()))));
        let waiting = Some(rows.len() as u64);
        effects.extend(self.inbox_page(vec![(organization, rows)], waiting, true));
        effects
    }

    /// Delivers a page of what waits in these organizations.
    fn inbox_page(
        &mut self,
        organizations: Vec<(OrganizationDetail, Vec<ActivityRow>)>,
        waiting: Option<u64>,
        is_last: bool,
    ) -> Vec<Effect> {
        let reading = self.model.shared.inbox.generation();
        let of_one = |(organization, activities)| OrganizationInbox { organization, activities };
        let organizations = organizations.into_iter().map(of_one).collect();
        let page = InboxPage { organizations, next: None, waiting, is_complete: true };
        let end = is_last.then_some(InboxEnd::Everything);
        self.link(Answer::Inbox(InboxRead { reading, end, page }))
    }

    /// Answers the request for a page of activities that is among these effects. Returns that request.
    fn history(&mut self, effects: &[Effect], activities: Vec<ActivityRow>, next: Option<&str>) -> History {
        let requested = effects.iter().find_map(|effect| match effect {
            Effect::Order(Order::History(_, request, after, reading)) => Some((request, after, *reading)),
            _ => None,
        });
        let (request, after, reading) = requested.unwrap();
        let page = HistoryPage { activities, next: next.map(str::to_owned), reached: None };
        self.last_effects = self.link(Answer::History(reading, after.clone(), page));
        (**request).clone()
    }

    /// Presses a key after a pause that a person would make.
    fn press(&mut self, key: Key) -> Vec<Effect> {
        self.press_after(key, 300)
    }

    fn press_after(&mut self, key: Key, pause: u64) -> Vec<Effect> {
        self.now += pause;
        let effects = update(&mut self.model, Msg::Key(key, self.now));
        drawn(&mut self.model);
        effects
    }

    fn wait(&mut self, millis: u64) -> Vec<Effect> {
        self.now += millis;
        self.model.shared.last_contact = self.now;
        let effects = update(&mut self.model, Msg::Tick(self.now));
        drawn(&mut self.model);
        effects
    }

    fn paste(&mut self, text: &str) {
        let effects = update(&mut self.model, Msg::Paste(text.to_owned().into()));
        assert!(effects.is_empty(), "{effects:?}");
    }

    fn is_deciding(&self) -> bool {
        self.model.review.as_ref().is_some_and(|open| open.decide.is_some())
    }

    /// Opens the first review and delivers its record.
    fn open(&mut self, record: &ReviewRecord) {
        self.press(Key::Enter);
        let id = record.row.activity.id;
        let effects = self.link(Answer::Record(id.to_string(), Box::new(record.clone())));
        if effects.iter().any(|effect| matches!(effect, Effect::Order(Order::Transfers(..)))) {
            let none = EarlierTransfers { rows: Vec::new(), is_partial: false, owners: BTreeMap::new() };
            self.link(Answer::Transfers(id, Box::new(none)));
        }
    }

    /// Draws the console in a theme.
    fn drawn(&self, theme: Theme) -> TestBackend {
        let (columns, rows) = self.model.shared.size;
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        terminal.draw(|frame| view(&self.model, theme, frame)).unwrap();
        terminal.backend().clone()
    }

    fn shown(&self) -> String {
        let text: Vec<String> = self
            .drawn(Theme::uncoloured())
            .to_string()
            .lines()
            .map(|line| {
                line.split("\" Hidden").next().unwrap_or_default().trim_matches('"').trim_end().to_owned()
            })
            .collect();
        text.join("\n")
    }
}

fn snapshot(name: &str, text: &str) {
    insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!(name, text);
    });
}

const SIZES: [(u16, u16); 4] = [(120, 36), (80, 24), (60, 20), (40, 12)];

/// Returns two waiting activities, of high and of low risk.
fn two_proposals() -> (Fixture, [ReviewRecord; 2]) {
    let (fixture, record) = threshold_proposal();
    let tag = fixture.propose(
        0,
        "ACTIVITY_TYPE_CREATE_USER_TAG",
        "createUserTagIntent",
        &serde_json::json!({"userTagName": "a\u{202e}b \u{65e5}\u{672c}\u{8a9e}"}),
    );
    (fixture, [record, tag])
}

#[test]
fn draws_every_screen_at_every_size() {
    let (fixture, records) = two_proposals();
    for size in SIZES {
        let mut console = TestConsole::new(&fixture, &records, size);
        console.link(Answer::Organization(Arc::new(fixture.with_all_records())));
        let activities = records.iter().map(|record| record.row.clone()).collect();
        console.link(Answer::Activities(None, ActivityPage { activities, next: None, waiting: None }));
        console.link(Answer::Messages(Fixture::id(), None, Fixture::messages()));
        for tab in SCREENS {
            let effects = console.press(tab.show.keys[0]);
            if tab.title == "Activities" {
                let rows = records.iter().map(|record| record.row.clone()).collect();
                console.history(&effects, rows, None);
            }
            if tab.title == "Health" {
                console.figures(60);
            }
            if tab.title == "Webhooks" {
                console.webhooks();
            }
            if tab.title == "Journal" {
                console.journal();
            }
            let name = format!("{}_{}x{}", tab.title.to_lowercase().replace(' ', "_"), size.0, size.1);
            snapshot(&name, &console.shown());
        }
    }
}

#[test]
fn draws_a_review_at_every_size() {
    let (fixture, records) = two_proposals();
    for size in SIZES {
        let mut console = TestConsole::new(&fixture, &records, size);
        let name = |screen: &str| format!("{screen}_{}x{}", size.0, size.1);
        console.open(&records[0]);
        snapshot(&name("review"), &console.shown());
        console.press(Key::Char('v'));
        snapshot(&name("proof"), &console.shown());
        console.press(Key::Esc);
        console.press(Key::Char('?'));
        snapshot(&name("keys"), &console.shown());
        console.press(Key::Esc);
        for _ in 0..30 {
            console.press(Key::Char(' '));
        }
        assert_eq!(console.model.review.as_ref().unwrap().seen.len(), 6, "{size:?}");
        console.wait(0);
        console.press(Key::Char('a'));
        console.wait(1100);
        console.press(Key::Char('1'));
        snapshot(&name("approve"), &console.shown());
    }
}

#[test]
fn draws_every_section_of_an_organization() {
    let fixture = Fixture::new(3, 2);
    for size in SIZES {
        let mut console = TestConsole::new(&fixture, &[], size);
        console.link(Answer::Organization(Arc::new(fixture.with_all_records())));
        console.press(Key::Char('2'));
        let mut shown = Vec::new();
        for section in 0..SECTIONS.len() {
            if section > 5 {
                shown.push(console.shown());
            }
            if section + 1 == SECTIONS.len() {
                console.press(Key::Char('G'));
                shown.push(console.shown());
            }
            console.press(Key::Right);
        }
        assert!(console.shown().contains("[Users 3]"), "{}", console.shown());
        snapshot(&format!("sections_{}x{}", size.0, size.1), &shown.join("\n"));
    }
}

#[test]
fn header_shows_mode_organization_and_user() {
    let (fixture, record) = threshold_proposal();
    for size in SIZES {
        let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), size);
        for key in [
            Key::Char('2'),
            Key::Char('3'),
            Key::Char('1'),
            Key::Enter,
            Key::Char('v'),
            Key::Esc,
            Key::Char('d'),
            Key::Esc,
            Key::Char('x'),
        ] {
            console.press(key);
            let shown = console.shown();
            let header = shown.lines().next().unwrap();
            assert!(header.contains("DEV") && header.contains("acme") && header.contains("mira"), "{header}");
        }
    }
}

#[test]
fn small_terminals_show_the_required_size() {
    let (fixture, record) = threshold_proposal();
    let mut console = TestConsole::new(&fixture, &[record], (120, 36));
    let before = console.shown();
    update(&mut console.model, Msg::Resize(30, 5));
    assert!(console.shown().contains("needs 40x12"), "{}", console.shown());
    update(&mut console.model, Msg::Resize(1, 1));
    console.shown();
    update(&mut console.model, Msg::Resize(120, 36));
    assert_eq!(console.shown(), before);
}

/// Returns whether an effect would sign or send something.
fn signs_or_sends(effects: &[Effect]) -> bool {
    effects.iter().any(|effect| {
        matches!(effect, Effect::Sign { .. } | Effect::Send(..) | Effect::Order(Order::Preflight(..)))
    })
}

#[test]
fn held_keys_send_nothing() {
    for (fixture, record) in [threshold_proposal(), tag_proposal()] {
        for key in [Key::Enter, Key::Char('a'), Key::Char('y'), Key::Tab, Key::Char('x'), Key::Char('1')] {
            for opened in [false, true] {
                let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 60));
                if opened {
                    console.open(&record);
                    console.press(Key::Char('a'));
                }
                // Key repeat: the first repeat after half a second, then thirty per second for ten seconds.
                console.press_after(key, 500);
                for _ in 0..300 {
                    assert!(!signs_or_sends(&console.press_after(key, 33)), "{key:?}");
                }
                assert!(!signs_or_sends(&console.wait(0)), "{key:?}");
            }
        }
    }
}

#[test]
fn keys_typed_ahead_are_discarded() {
    let (fixture, record) = tag_proposal();
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 60));
    console.open(&record);
    console.press(Key::Char('a'));
    for key in [Key::Char('y'), Key::Tab, Key::Enter] {
        assert!(!signs_or_sends(&console.press_after(key, 0)));
    }
    console.wait(1100);
    assert!(console.shown().contains("[ _ ]"), "{}", console.shown());
    // Keys that arrive together after the field opened count as typed.
    for key in [Key::Char('y'), Key::Tab] {
        assert!(!signs_or_sends(&console.press_after(key, 0)));
    }
    assert!(signs_or_sends(&console.press_after(Key::Enter, 0)));
}

#[test]
fn pasted_lines_change_nothing() {
    let (fixture, record) = tag_proposal();
    let lines = "y\n\ta\nq\n1\n".repeat(1000);
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 60));
    let paste = |console: &mut TestConsole| {
        console.model.notice.clear();
        let before = console.shown();
        assert!(update(&mut console.model, Msg::Paste(lines.clone().into())).is_empty());
        console.model.notice.clear();
        assert_eq!(console.shown(), before);
    };
    paste(&mut console);
    console.open(&record);
    paste(&mut console);
    console.press(Key::Char('a'));
    console.wait(1100);
    paste(&mut console);
}

/// Answers the challenge and signs the vote.
fn sign_vote(console: &mut TestConsole, answer: &[Key]) -> Stamp {
    console.press(Key::Char('a'));
    console.wait(1100);
    let mut effects = Vec::new();
    for key in answer {
        effects = console.press(*key);
    }
    let message = match effects.as_slice() {
        [Effect::Sign { message, .. }] => message.clone(),
        other => unreachable!("{other:?} {}", console.shown()),
    };
    let stamp = Fixture::stamper(0).stamp(message.as_bytes()).unwrap();
    update(&mut console.model, Msg::Signed { message, result: Ok(stamp.clone()) });
    stamp
}

const LOW: [Key; 3] = [Key::Char('y'), Key::Tab, Key::Enter];

#[test]
fn votes_are_sent_after_the_hold_and_a_preflight() {
    let (fixture, record) = tag_proposal();
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 60));
    console.open(&record);
    let stamp = sign_vote(&mut console, &LOW);
    assert!(!signs_or_sends(&console.wait(2900)));
    let effects = console.wait(200);
    assert!(matches!(effects.as_slice(), [Effect::Order(Order::Preflight(..))]), "{effects:?}");
    let effects = console.link(Answer::Preflight(Ok(Box::new(record.clone()))));
    let [Effect::Send(_, Order::Cast(_, vote))] = effects.as_slice() else { unreachable!("{effects:?}") };
    assert_eq!(vote.0.fingerprint, record.row.activity.fingerprint);
    assert_eq!(vote.1, stamp);
    let mut after = record.row.activity.clone();
    after.votes.push(Fixture::vote(
        after.id,
        0,
        quorate_common::activity::Selection::Approved,
        &vote.0.message,
        &vote.1,
        NOW,
    ));
    after.status = Status::Completed;
    console.link(Answer::Cast(Ok(Box::new(after.into()))));
    assert!(
        console.shown().contains("Vote recorded; the record contains your signature [v]. It was executed."),
        "{}",
        console.shown()
    );
}

#[test]
fn esc_during_the_hold_cancels_the_vote() {
    let (fixture, record) = tag_proposal();
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 60));
    console.open(&record);
    sign_vote(&mut console, &LOW);
    console.press(Key::Esc);
    assert!(!signs_or_sends(&console.wait(10_000)));
    assert!(console.shown().contains("nothing was sent"));
}

#[test]
fn changes_since_the_review_stop_the_vote() {
    let (fixture, record) = tag_proposal();
    let stopped = |change: &dyn Fn(&mut ReviewRecord), expected: &str| {
        let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 60));
        console.open(&record);
        sign_vote(&mut console, &LOW);
        console.wait(3100);
        let mut changed = record.clone();
        change(&mut changed);
        assert!(!signs_or_sends(&console.link(Answer::Preflight(Ok(Box::new(changed))))), "{expected}");
        assert!(console.shown().contains(expected), "{expected}: {}", console.shown());
    };
    stopped(
        &|record| "renamed".clone_into(&mut record.organization.users[1].user_name),
        "the state of the organization",
    );
    stopped(&|record| record.row.activity.status = Status::Rejected, "it is now denied by a policy");
    stopped(&|record| fixture.approve(record, 2), "ana voted");
    stopped(
        &|record| {
            record.row.activity.intent = serde_json::json!({"createUserTagIntent": {"userTagName": "x"}});
        },
        "the daemon's intent",
    );
    stopped(&|record| record.row.activity.votes[0].message.push(' '), "the signed bytes");
}

#[test]
fn the_challenge_depends_on_the_risk() {
    let (fixture, record) = threshold_proposal();
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 36));
    console.open(&record);
    console.press(Key::Char('a'));
    assert!(!console.is_deciding() && console.model.notice.contains("unseen"), "{}", console.model.notice);
    for _ in 0..5 {
        console.press(Key::PageDown);
    }
    console.press(Key::Char('a'));
    console.wait(1100);
    assert!(!signs_or_sends(&console.press(Key::Enter)));
    for key in [Key::Char('2'), Key::Enter] {
        assert!(!signs_or_sends(&console.press(key)));
    }
    assert!(console.shown().contains("wrong answer"));
    console.press(Key::Char('1'));
    assert!(signs_or_sends(&console.press(Key::Enter)));
    let sign = serde_json::json!({"signWith": "k", "payload": "x", "encoding": "PAYLOAD_ENCODING_TEXT_UTF8", "hashFunction": "HASH_FUNCTION_SHA256"});
    let record = fixture.propose(1, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", "signRawPayloadIntentV2", &sign);
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 36));
    console.open(&record);
    let digits: Vec<Key> = record.row.activity.fingerprint.hex().chars().skip(60).map(Key::Char).collect();
    sign_vote(&mut console, &[digits.as_slice(), &[Key::Enter]].concat());
}

#[test]
fn blocked_reviews_can_only_be_rejected() {
    let (fixture, mut record) = tag_proposal();
    record.row.activity.intent = serde_json::json!({"createUserTagIntent": {"userTagName": "other"}});
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 60));
    console.open(&record);
    console.press(Key::Char('a'));
    assert!(!console.is_deciding() && console.model.notice.contains("a check failed"));
    let shown = console.shown();
    // The legend at the bottom shows the mark on every review.
    let fails = shown.lines().any(|line| line.contains("[x]") && !line.contains("marks:"));
    assert!(shown.contains("auditors") && shown.contains("other") && fails, "{shown}");
    console.press(Key::Char('x'));
    assert!(console.is_deciding());
}

#[test]
fn decisions_are_disabled_when_old_disconnected_or_closed() {
    let (fixture, record) = tag_proposal();
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 36));
    console.open(&record);
    console.now += 14_000;
    let now = console.now;
    update(&mut console.model, Msg::Tick(now));
    assert!(console.shown().contains("OLD 14s"));
    console.press(Key::Char('a'));
    assert!(!console.is_deciding() && console.model.notice.contains("old"), "{}", console.model.notice);
    console.link(Answer::Lost(LinkError::Down("/run/q.sock".to_owned()), 8));
    let shown = console.shown();
    assert!(
        shown.contains("DISCONNECTED") && shown.contains("retry in 8 s") && shown.contains("auditors"),
        "{shown}"
    );
    console.link(Answer::Connected(console.model.shared.daemon.clone().unwrap()));
    let mut closed = record.clone();
    closed.row.activity.status = Status::Rejected;
    console.model.review.as_mut().unwrap().wants_fresh = false;
    console.link(Answer::Record(closed.row.activity.id.to_string(), Box::new(closed)));
    assert!(console.shown().contains("CLOSED at"), "{}", console.shown());
    console.press(Key::Char('a'));
    assert!(!console.is_deciding());
}

#[test]
fn a_lost_connection_ends_an_unsent_decision() {
    let (fixture, record) = tag_proposal();
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 36));
    console.open(&record);
    sign_vote(&mut console, &LOW);
    console.link(Answer::Lost(LinkError::Lost("gone".to_owned()), 1));
    assert!(!signs_or_sends(&console.wait(5000)));
    assert!(console.shown().contains("Nothing was sent: disconnected"), "{}", console.shown());
}

#[test]
fn connection_errors_are_distinguished() {
    let (fixture, record) = tag_proposal();
    let banner = |answer: Answer| {
        let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (80, 24));
        console.link(answer);
        console.shown()
    };
    assert!(
        banner(Answer::Lost(LinkError::Forbidden("/s".to_owned()), 1))
            .contains("configured group may open /s")
    );
    assert!(banner(Answer::Lost(LinkError::Protocol { daemon: 9 }, 1)).contains("console protocol 9"));
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (80, 24));
    let mut status = console.model.shared.daemon.clone().unwrap();
    status.mode = Mode::Production;
    console.model.shared.identity.dev_only = true;
    console.link(Answer::Connected(status));
    assert!(console.shown().contains("for DEV daemons only"));
}

#[test]
fn selection_stays_on_its_row() {
    let (fixture, record) = threshold_proposal();
    let tag = fixture.propose(
        1,
        "ACTIVITY_TYPE_CREATE_USER_TAG",
        "createUserTagIntent",
        &serde_json::json!({"userTagName": "b"}),
    );
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&tag), (120, 36));
    console.press(Key::Down);
    console.inbox(fixture.organization(), vec![record.row.clone(), tag.row.clone()]);
    assert!(console.shown().lines().any(|line| line.contains("> LOW")), "{}", console.shown());
    let shown = console.shown();
    assert!(
        console.model.notice.contains("new HIGH: Change root quorum") && shown.contains("1 new HIGH"),
        "{shown}"
    );
    let rows: Vec<&str> = shown.lines().filter(|line| line.contains(" 1 of 3 ")).collect();
    assert!(rows[0].contains("* HIGH"), "{shown}");
    console.press(Key::Char('/'));
    for letter in "quorum".chars() {
        console.press(Key::Char(letter));
    }
    assert!(console.shown().contains("/quorum_  1 of 2, Esc clears"), "{}", console.shown());
    // This list has no named filters, and states so instead of matching nothing.
    for letter in " risk:high".chars() {
        console.press(Key::Char(letter));
    }
    assert!(console.shown().contains("risk: is no filter of this list"), "{}", console.shown());
}

#[test]
fn hidden_bytes_cannot_be_approved() {
    let (fixture, record) = card_proposal();
    for size in [(120, 36), (80, 24)] {
        let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), size);
        console.open(&record);
        for _ in 0..5 {
            console.press(Key::Char(' '));
        }
        assert!(!signs_or_sends(&console.press(Key::Char('a'))));
        assert!(!console.is_deciding());
        let shown = console.shown();
        assert!(
            shown.contains("cannot approve: no signed bytes to verify: the daemon hides a card's number\n"),
            "{shown}"
        );
        assert!(!shown.contains("4242"), "{shown}");
        console.press(Key::Char('x'));
        assert!(!console.is_deciding(), "nothing is signed without verified bytes");
        assert!(
            console.shown().contains("cannot reject: the record contains no signed bytes"),
            "{}",
            console.shown()
        );
    }
}

#[test]
fn deleted_organizations_are_reported() {
    let (fixture, record) = threshold_proposal();
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 36));
    let missing = || {
        let error =
            quorate_common::api_error::ApiError::new(quorate_common::api_error::Code::NotFound, "not there");
        crate::link::LinkError::Api(error)
    };
    console.link(Answer::Failed(Subject::Activity, missing()));
    assert!(console.shown().contains("the data on screen is unchanged"), "{}", console.shown());
    console.link(Answer::Failed(Subject::Approvals, missing()));
    let shown = console.shown();
    assert!(shown.contains("organization not found") && !shown.contains("1 of 3"), "{shown}");
    console.press(Key::Char('2'));
    assert!(console.shown().contains("Organization not found."), "{}", console.shown());
    console.link(Answer::Organization(Arc::new(fixture.organization())));
    assert!(console.shown().contains("[Users 5]"), "{}", console.shown());
}

#[test]
fn nothing_is_drawn_while_nothing_changes() {
    let (fixture, record) = threshold_proposal();
    let mut console = TestConsole::new(&fixture, &[record], (120, 36));
    console.model.dirty = false;
    console.wait(200);
    console.model.dirty = false;
    for _ in 0..100 {
        console.wait(200);
        assert!(!console.model.dirty);
        let mut status = Fixture::status();
        status.now_millis += 200;
        console.link(Answer::Status(status));
        assert!(!console.model.dirty, "the daemon's status has the time");
    }
    let mut status = Fixture::status();
    status.store = Some(quorate_common::console::StoreStatus {
        state: quorate_common::console::StoreState::Full,
        since: Timestamp::from_millis(NOW),
        detail: String::new(),
    });
    console.link(Answer::Status(status));
    assert!(console.model.dirty, "a problem of the store is shown");
    assert!(
        console
            .link(Answer::Organizations(
                None,
                None,
                OrganizationPage { organizations: Vec::new(), next: None }
            ))
            .len()
            <= 1
    );
}

#[test]
fn ten_thousand_activities_scroll() {
    let (fixture, record) = threshold_proposal();
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 36));
    let mut effects = console.press(Key::Char('3'));
    for page in 0..100_u64 {
        let rows: Vec<ActivityRow> = (page * 100..page * 100 + 100)
            .map(|index| {
                let mut row = record.row.clone();
                row.activity.id = quorate_common::ids::ActivityId::timed(NOW - index, [7; 10]);
                row
            })
            .collect();
        let next = format!("0.{page}");
        console.history(&effects, rows, (page < 99).then_some(next.as_str()));
        effects = std::mem::take(&mut console.last_effects);
        while effects.is_empty() && page < 99 {
            effects = console.press(Key::PageDown);
        }
    }
    console.press(Key::Char('G'));
    let shown = console.shown();
    assert!(
        shown.lines().filter(|line| line.contains("> ")).count() >= 1 && !shown.contains("more rows below"),
        "{shown}"
    );
    console.press(Key::PageUp);
    assert!(console.shown().contains("more rows below"));
}

#[test]
fn a_wrong_passphrase_can_be_entered_again() {
    let (fixture, record) = tag_proposal();
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 60));
    console.model.shared.identity.needs_passphrase = true;
    console.open(&record);
    console.press(Key::Char('a'));
    console.wait(1100);
    for key in LOW {
        assert!(!signs_or_sends(&console.press(key)));
    }
    assert!(!signs_or_sends(&console.press(Key::Enter)), "an empty passphrase");
    for letter in "wrong horse".chars() {
        console.press(Key::Char(letter));
    }
    let shown = console.shown();
    assert!(shown.contains("Passphrase for key laptop-p256") && !shown.contains("horse"), "{shown}");
    let effects = console.press(Key::Enter);
    let [Effect::Sign { message, .. }] = effects.as_slice() else { unreachable!("{effects:?}") };
    let (message, result) = (message.clone(), Err("wrong passphrase".to_owned()));
    update(&mut console.model, Msg::Signed { message, result });
    assert!(console.shown().contains("[!] wrong passphrase"), "{}", console.shown());
    for letter in "right".chars() {
        console.press(Key::Char(letter));
    }
    // A password manager pastes, with or without the line break behind it.
    console.paste(" horse\rignored");
    assert!(!console.shown().contains("horse"), "{}", console.shown());
    let effects = console.press(Key::Enter);
    assert!(
        matches!(effects.as_slice(), [Effect::Sign { passphrase, .. }] if passphrase.as_str() == "right horse")
    );
}

#[test]
fn untrusted_text_moves_no_cell() {
    let fixture = Fixture::new(3, 2);
    for name in [
        "a\u{202e}b",
        "\u{1b}[31mred",
        "bell\u{7}",
        "z\u{200b}w",
        "\u{65e5}\u{672c}\u{8a9e}\u{1f600}",
        "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
    ] {
        let record = fixture.propose(
            1,
            "ACTIVITY_TYPE_CREATE_USER_TAG",
            "createUserTagIntent",
            &serde_json::json!({"userTagName": name}),
        );
        for size in SIZES {
            let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), size);
            for open in [false, true] {
                if open {
                    console.open(&record);
                }
                let shown = console.shown();
                assert!(!shown.contains(['\u{202e}', '\u{1b}', '\u{7}', '\u{200b}']), "{shown}");
                for line in
                    shown.lines().filter(|line| line.starts_with('\u{2502}') || line.starts_with('\u{250c}'))
                {
                    assert_eq!(crate::text::width(line), usize::from(size.0), "{line}");
                }
            }
        }
    }
}

#[test]
fn keys_are_unambiguous_everywhere() {
    let (fixture, record) = threshold_proposal();
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 36));
    let screens = SCREENS.iter().map(|tab| tab.show.keys[0]);
    for key in screens.chain([Key::Char('1'), Key::Enter]) {
        console.press(key);
        let commands = console.model.commands();
        let keys: Vec<Key> = commands.iter().flat_map(|command| command.keys.iter().copied()).collect();
        for (index, key) in keys.iter().enumerate() {
            assert!(!keys.iter().skip(index + 1).any(|other| other == key), "{key:?}");
        }
    }
}

#[test]
fn an_unlocked_key_is_locked_when_it_is_left_alone() {
    let (fixture, record) = tag_proposal();
    let locked = |effects: &[Effect]| effects.contains(&Effect::Lock);
    let unlocked = || {
        let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 60));
        console.model.shared.identity.needs_passphrase = true;
        assert!(console.shown().contains("laptop-p256 locked"), "{}", console.shown());
        console.press(Key::Char('g'));
        let result = Ok(Fixture::stamper(0).stamp(b"x").unwrap());
        update(&mut console.model, Msg::Signed { message: "x".to_owned(), result });
        assert!(console.shown().contains("laptop-p256 UNLOCKED"), "{}", console.shown());
        console
    };
    // At each size, whatever gives way to it.
    for size in SIZES {
        let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), size);
        let state = |console: &TestConsole| console.shown().lines().next().unwrap_or_default().to_owned();
        assert!(!state(&console).contains("ocked"), "nothing unlocks the key");
        console.model.shared.identity.needs_passphrase = true;
        assert!(state(&console).contains(" locked | "), "{size:?}: {}", state(&console));
        console.model.shared.is_unlocked = true;
        assert!(state(&console).contains(" UNLOCKED | "), "{size:?}: {}", state(&console));
        assert!(
            state(&console).contains("DEV acm") || state(&console).contains("acme"),
            "{size:?}: {}",
            state(&console)
        );
    }
    // Idle: each tick is one second.
    let mut console = unlocked();
    for _ in 0..299 {
        assert!(!locked(&console.wait(1000)));
    }
    console.press(Key::Char('g'));
    for _ in 0..300 {
        assert!(!locked(&console.wait(1000)), "a key was pressed");
    }
    assert!(locked(&console.wait(1000)));
    assert!(console.shown().contains("laptop-p256 locked"), "{}", console.shown());
    assert!(!locked(&console.wait(1000)), "once");
    // Suspended: no tick for a while.
    let mut console = unlocked();
    assert!(!locked(&console.wait(9000)));
    assert!(locked(&console.wait(11_000)));
    assert!(locked(&unlocked().press(Key::Ctrl('l'))));
    let mut console = unlocked();
    assert!(console.press(Key::Ctrl('z')).contains(&Effect::Suspend));
    assert!(console.shown().contains("laptop-p256 locked"));
    // An error of the key may mean that it is locked.
    let mut console = unlocked();
    update(&mut console.model, Msg::Signed { message: "x".to_owned(), result: Err("gone".to_owned()) });
    assert!(console.shown().contains("laptop-p256 locked"));
}

#[test]
fn a_late_signature_of_a_cancelled_decision_is_discarded() {
    let (fixture, record) = tag_proposal();
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 60));
    console.open(&record);
    let decide = |console: &mut TestConsole| {
        console.press(Key::Char('a'));
        console.wait(1100);
        let effects: Vec<Effect> = LOW.iter().flat_map(|key| console.press(*key)).collect();
        match effects.as_slice() {
            [Effect::Sign { message, .. }] => message.clone(),
            other => unreachable!("{other:?} {}", console.shown()),
        }
    };
    let first = decide(&mut console);
    console.press(Key::Esc);
    let second = decide(&mut console);
    assert_ne!(first, second);
    let result = Ok(Fixture::stamper(0).stamp(first.as_bytes()).unwrap());
    update(&mut console.model, Msg::Signed { message: first, result });
    assert!(console.shown().contains("Waiting for the signature"), "{}", console.shown());
}
