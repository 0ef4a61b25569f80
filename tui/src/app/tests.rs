//! Screens at several sizes, and what keys do not do.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use quorate_common::activity::Status;
use quorate_common::console::{ActivityPage, ActivityRow, Mode, OrganizationPage, ReviewRecord};
use quorate_common::wire::Timestamp;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::*;
use crate::link::{Answer, InboxPage};
use crate::testing::{NOW, Stage, hiding, lowering, tagging};
use crate::theme::Theme;

mod chains;
mod decisions;
mod drafting;
mod policies;

/// A console in front of made-up answers.
struct Desk {
    model: Model,
    now: u64,
}

impl Desk {
    fn new(stage: &Stage, records: &[ReviewRecord], size: (u16, u16)) -> Self {
        let identity = Identity {
            viewer: Viewer { organization: Some(Stage::id()), user: Some(Stage::user(0)) },
            public_key: Some(Stage::stamper(0).public_key().to_owned()),
            key_name: Some("laptop-p256".to_owned()),
            socket: "/run/quorate/quorated.sock".to_owned(),
            ..Identity::default()
        };
        let mut roster = Roster::default();
        roster.see(&stage.organization(), NOW - 10 * 86_400_000);
        let mut desk = Self { model: Model::new(identity, roster, size, NOW), now: NOW };
        desk.link(Answer::Connected(DaemonStatus {
            protocol: 1,
            version: "0.1.0".to_owned(),
            mode: Mode::Dev,
            started_at: Timestamp::of_millis(NOW),
            now_millis: NOW,
            process_id: 1,
            base_url: None,
            quorum_public_key: String::new(),
            keys_locked: true,
            strict_deny_errors: false,
            store: None,
        }));
        desk.inbox(stage.organization(), records.iter().map(|record| record.row.clone()).collect());
        desk
    }

    fn link(&mut self, answer: Answer) -> Vec<Effect> {
        let effects = update(&mut self.model, Msg::Link(answer));
        drawn(&mut self.model);
        effects
    }

    /// Delivers the organization and all that waits in it.
    fn inbox(&mut self, organization: OrganizationDetail, rows: Vec<ActivityRow>) -> Vec<Effect> {
        let mut effects = self.link(Answer::Changed(quorate_common::console::Change::Reset));
        effects.extend(self.link(Answer::Organization(Box::new(organization))));
        let reading = self.model.approvals.inbox.generation();
        let waiting = Some(rows.len() as u64);
        effects.extend(self.link(Answer::Inbox(InboxPage { reading, is_last: true, waiting, rows })));
        effects
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
        self.model.heard = self.now;
        let effects = update(&mut self.model, Msg::Tick(self.now));
        drawn(&mut self.model);
        effects
    }

    /// Opens the first review and has its record delivered.
    fn open(&mut self, record: &ReviewRecord) {
        self.press(Key::Enter);
        self.link(Answer::Record(record.row.activity.id.to_string(), Box::new(record.clone())));
    }

    fn shown(&self) -> String {
        let (columns, rows) = self.model.size;
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        terminal.draw(|frame| view(&self.model, Theme::new(false), frame)).unwrap();
        let text: Vec<String> = terminal
            .backend()
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

#[test]
fn every_screen_at_every_size() {
    let (stage, record) = lowering();
    let tag = stage.propose(
        0,
        "ACTIVITY_TYPE_CREATE_USER_TAG",
        "createUserTagIntent",
        &serde_json::json!({"userTagName": "a\u{202e}b \u{65e5}\u{672c}\u{8a9e}"}),
    );
    for size in SIZES {
        let mut desk = Desk::new(&stage, &[record.clone(), tag.clone()], size);
        let name = |screen: &str| format!("{screen}_{}x{}", size.0, size.1);
        snapshot(&name("approvals"), &desk.shown());
        desk.press(Key::Char('2'));
        snapshot(&name("organizations"), &desk.shown());
        desk.press(Key::Char('3'));
        desk.link(Answer::Activities(
            None,
            ActivityPage {
                activities: vec![ActivityRow { ..record.row.clone() }, tag.row.clone()],
                next: None,
                waiting: None,
            },
        ));
        snapshot(&name("activities"), &desk.shown());
        desk.press(Key::Char('1'));
        desk.open(&record);
        snapshot(&name("review"), &desk.shown());
        desk.press(Key::Char('v'));
        snapshot(&name("proof"), &desk.shown());
        desk.press(Key::Esc);
        desk.press(Key::Char('?'));
        snapshot(&name("keys"), &desk.shown());
        desk.press(Key::Esc);
        for _ in 0..30 {
            desk.press(Key::Char(' '));
        }
        assert_eq!(desk.model.review.as_ref().unwrap().seen.len(), 6, "{size:?}");
        desk.wait(0);
        desk.press(Key::Char('a'));
        desk.wait(1100);
        desk.press(Key::Char('1'));
        snapshot(&name("approve"), &desk.shown());
    }
}

#[test]
fn every_kind_of_thing_in_an_organization() {
    let stage = Stage::new(3, 2);
    for size in SIZES {
        let mut desk = Desk::new(&stage, &[], size);
        desk.link(Answer::Organization(Box::new(stage.furnished())));
        desk.press(Key::Char('2'));
        let mut shown = Vec::new();
        for section in 0..11 {
            if section > 5 {
                shown.push(desk.shown());
            }
            if section == 10 {
                desk.press(Key::Char('G'));
                shown.push(desk.shown());
            }
            desk.press(Key::Right);
        }
        assert!(desk.shown().contains("[Users 3]"), "{}", desk.shown());
        snapshot(&format!("things_{}x{}", size.0, size.1), &shown.join("\n"));
    }
}

#[test]
fn mode_organization_and_user_are_always_there() {
    let (stage, record) = lowering();
    for size in SIZES {
        let mut desk = Desk::new(&stage, std::slice::from_ref(&record), size);
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
            desk.press(key);
            let shown = desk.shown();
            let header = shown.lines().next().unwrap();
            assert!(header.contains("DEV") && header.contains("acme") && header.contains("mira"), "{header}");
        }
    }
}

#[test]
fn says_the_size_it_needs_and_recovers() {
    let (stage, record) = lowering();
    let mut desk = Desk::new(&stage, &[record], (120, 36));
    let before = desk.shown();
    update(&mut desk.model, Msg::Resize(30, 5));
    assert!(desk.shown().contains("needs 40x12"), "{}", desk.shown());
    update(&mut desk.model, Msg::Resize(1, 1));
    desk.shown();
    update(&mut desk.model, Msg::Resize(120, 36));
    assert_eq!(desk.shown(), before);
}

/// Whether any effect would let something leave.
fn leaves(effects: &[Effect]) -> bool {
    effects.iter().any(|effect| {
        matches!(effect, Effect::Sign { .. } | Effect::Order(Order::Cast(..) | Order::Preflight(..)))
    })
}

#[test]
fn held_keys_send_nothing() {
    for (stage, record) in [lowering(), tagging()] {
        for key in [Key::Enter, Key::Char('a'), Key::Char('y'), Key::Tab, Key::Char('x'), Key::Char('1')] {
            for opened in [false, true] {
                let mut desk = Desk::new(&stage, std::slice::from_ref(&record), (120, 60));
                if opened {
                    desk.open(&record);
                    desk.press(Key::Char('a'));
                }
                // First repeat after half a second, then thirty a second for ten seconds.
                desk.press_after(key, 500);
                for _ in 0..300 {
                    assert!(!leaves(&desk.press_after(key, 33)), "{key:?}");
                }
                assert!(!leaves(&desk.wait(0)), "{key:?}");
            }
        }
    }
}

#[test]
fn keys_typed_ahead_are_thrown_away() {
    let (stage, record) = tagging();
    let mut desk = Desk::new(&stage, std::slice::from_ref(&record), (120, 60));
    desk.open(&record);
    desk.press(Key::Char('a'));
    for key in [Key::Char('y'), Key::Tab, Key::Enter] {
        assert!(!leaves(&desk.press_after(key, 0)));
    }
    desk.wait(1100);
    assert!(desk.shown().contains("[ _ ]"), "{}", desk.shown());
    // What is typed in one go once the field is open is typed.
    for key in [Key::Char('y'), Key::Tab] {
        assert!(!leaves(&desk.press_after(key, 0)));
    }
    assert!(leaves(&desk.press_after(Key::Enter, 0)));
}

#[test]
fn pasted_lines_change_nothing() {
    let (stage, record) = tagging();
    let lines = "y\n\ta\nq\n1\n".repeat(1000);
    let mut desk = Desk::new(&stage, std::slice::from_ref(&record), (120, 60));
    let paste = |desk: &mut Desk| {
        desk.model.notice.clear();
        let before = desk.shown();
        assert!(update(&mut desk.model, Msg::Paste(lines.clone())).is_empty());
        desk.model.notice.clear();
        assert_eq!(desk.shown(), before);
    };
    paste(&mut desk);
    desk.open(&record);
    paste(&mut desk);
    desk.press(Key::Char('a'));
    desk.wait(1100);
    paste(&mut desk);
}

/// Goes through to the signed vote.
fn until_hold(desk: &mut Desk, answer: &[Key]) -> Stamp {
    desk.press(Key::Char('a'));
    desk.wait(1100);
    let mut effects = Vec::new();
    for key in answer {
        effects = desk.press(*key);
    }
    let message = match effects.as_slice() {
        [Effect::Sign { message, .. }] => message.clone(),
        other => unreachable!("{other:?} {}", desk.shown()),
    };
    let stamp = Stage::stamper(0).stamp(message.as_bytes()).unwrap();
    update(&mut desk.model, Msg::Signed(Ok(stamp.clone())));
    stamp
}

const LOW: [Key; 3] = [Key::Char('y'), Key::Tab, Key::Enter];

#[test]
fn a_vote_leaves_after_the_hold_and_a_second_look_only() {
    let (stage, record) = tagging();
    let mut desk = Desk::new(&stage, std::slice::from_ref(&record), (120, 60));
    desk.open(&record);
    let stamp = until_hold(&mut desk, &LOW);
    assert!(!leaves(&desk.wait(2900)));
    let effects = desk.wait(200);
    assert!(matches!(effects.as_slice(), [Effect::Order(Order::Preflight(..))]), "{effects:?}");
    let effects = desk.link(Answer::Preflight(Ok(Box::new(record.clone()))));
    let [Effect::Order(Order::Cast(_, vote))] = effects.as_slice() else { unreachable!("{effects:?}") };
    assert_eq!(vote.0.fingerprint, record.row.activity.fingerprint);
    assert_eq!(vote.1, stamp);
    let mut after = record.row.activity.clone();
    after.votes.push(Stage::vote(
        after.id,
        0,
        quorate_common::activity::Selection::Approved,
        &vote.0.message,
        &vote.1,
        NOW,
    ));
    after.status = Status::Completed;
    desk.link(Answer::Cast(Ok(Box::new(after))));
    assert!(
        desk.shown().contains("Vote recorded, with my signature in the record [v]. It was executed."),
        "{}",
        desk.shown()
    );
}

#[test]
fn receipts_tell_apart_what_happened() {
    let (stage, record) = tagging();
    let receipt = |change: &dyn Fn(&mut quorate_common::activity::Activity), own: bool| {
        let mut desk = Desk::new(&stage, std::slice::from_ref(&record), (120, 60));
        desk.open(&record);
        until_hold(&mut desk, &LOW);
        desk.wait(3100);
        let effects = desk.link(Answer::Preflight(Ok(Box::new(record.clone()))));
        let [Effect::Order(Order::Cast(_, vote))] = effects.as_slice() else { unreachable!("{effects:?}") };
        let mut after = record.row.activity.clone();
        if own {
            after.votes.push(Stage::vote(
                after.id,
                0,
                quorate_common::activity::Selection::Approved,
                &vote.0.message,
                &vote.1,
                NOW,
            ));
        }
        change(&mut after);
        desk.link(Answer::Cast(Ok(Box::new(after))));
        desk.shown()
    };
    assert!(receipt(&|_| {}, true).contains("It waits for others: ana"));
    assert!(receipt(&|after| after.status = Status::Failed, true).contains("executed and FAILED"));
    assert!(receipt(&|after| after.status = Status::Completed, false).contains("[x] Sent, but"));
    assert!(receipt(&|after| after.votes[1].signature = "00".to_owned(), true).contains("[x] Sent, but"));
}

#[test]
fn esc_in_the_hold_sends_nothing() {
    let (stage, record) = tagging();
    let mut desk = Desk::new(&stage, std::slice::from_ref(&record), (120, 60));
    desk.open(&record);
    until_hold(&mut desk, &LOW);
    desk.press(Key::Esc);
    assert!(!leaves(&desk.wait(10_000)));
    assert!(desk.shown().contains("nothing was sent"));
}

#[test]
fn what_moved_stops_the_vote() {
    let (stage, record) = tagging();
    let stopped = |change: &dyn Fn(&mut ReviewRecord), told: &str| {
        let mut desk = Desk::new(&stage, std::slice::from_ref(&record), (120, 60));
        desk.open(&record);
        until_hold(&mut desk, &LOW);
        desk.wait(3100);
        let mut moved = record.clone();
        change(&mut moved);
        assert!(!leaves(&desk.link(Answer::Preflight(Ok(Box::new(moved))))), "{told}");
        assert!(desk.shown().contains(told), "{told}: {}", desk.shown());
    };
    stopped(
        &|record| "renamed".clone_into(&mut record.organization.users[1].user_name),
        "the state of the organization",
    );
    stopped(&|record| record.row.activity.status = Status::Rejected, "it is now rejected");
    stopped(&|record| stage.approve(record, 2), "ana voted");
    stopped(
        &|record| {
            record.row.activity.intent = serde_json::json!({"createUserTagIntent": {"userTagName": "x"}});
        },
        "the daemon's intent",
    );
    stopped(&|record| record.row.activity.votes[0].message.push(' '), "the signed bytes");
}

#[test]
fn the_challenge_grows_with_the_risk() {
    let (stage, record) = lowering();
    let mut desk = Desk::new(&stage, std::slice::from_ref(&record), (120, 36));
    desk.open(&record);
    desk.press(Key::Char('a'));
    assert!(
        desk.model.decide.is_none() && desk.model.notice.contains("not seen yet"),
        "{}",
        desk.model.notice
    );
    for _ in 0..5 {
        desk.press(Key::PageDown);
    }
    desk.press(Key::Char('a'));
    desk.wait(1100);
    assert!(!leaves(&desk.press(Key::Enter)));
    for key in [Key::Char('2'), Key::Enter] {
        assert!(!leaves(&desk.press(key)));
    }
    assert!(desk.shown().contains("that is not it"));
    desk.press(Key::Char('1'));
    assert!(leaves(&desk.press(Key::Enter)));
    let sign = serde_json::json!({"signWith": "k", "payload": "x", "encoding": "PAYLOAD_ENCODING_TEXT_UTF8", "hashFunction": "HASH_FUNCTION_SHA256"});
    let record = stage.propose(1, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", "signRawPayloadIntentV2", &sign);
    let mut desk = Desk::new(&stage, std::slice::from_ref(&record), (120, 36));
    desk.open(&record);
    let digits: Vec<Key> = record.row.activity.fingerprint.hex().chars().skip(60).map(Key::Char).collect();
    until_hold(&mut desk, &[digits.as_slice(), &[Key::Enter]].concat());
}

#[test]
fn a_blocked_review_can_be_rejected_only() {
    let (stage, mut record) = tagging();
    record.row.activity.intent = serde_json::json!({"createUserTagIntent": {"userTagName": "other"}});
    let mut desk = Desk::new(&stage, std::slice::from_ref(&record), (120, 60));
    desk.open(&record);
    desk.press(Key::Char('a'));
    assert!(desk.model.decide.is_none() && desk.model.notice.contains("a check failed"));
    let shown = desk.shown();
    // The legend below shows the mark on every review.
    let fails = shown.lines().any(|line| line.contains("[x]") && !line.contains("marks:"));
    assert!(shown.contains("auditors") && shown.contains("other") && fails, "{shown}");
    desk.press(Key::Char('x'));
    assert!(desk.model.decide.is_some());
}

#[test]
fn old_lost_and_closed_switch_decisions_off() {
    let (stage, record) = tagging();
    let mut desk = Desk::new(&stage, std::slice::from_ref(&record), (120, 36));
    desk.open(&record);
    desk.now += 14_000;
    let now = desk.now;
    update(&mut desk.model, Msg::Tick(now));
    assert!(desk.shown().contains("OLD 14s"));
    desk.press(Key::Char('a'));
    assert!(desk.model.decide.is_none() && desk.model.notice.contains("old"), "{}", desk.model.notice);
    desk.link(Answer::Lost(LinkFlaw::Down("/run/q.sock".to_owned()), 8));
    let shown = desk.shown();
    assert!(
        shown.contains("DISCONNECTED") && shown.contains("retry in 8 s") && shown.contains("auditors"),
        "{shown}"
    );
    desk.link(Answer::Connected(desk.model.daemon.clone().unwrap()));
    let mut closed = record.clone();
    closed.row.activity.status = Status::Rejected;
    desk.model.review.as_mut().unwrap().wants_fresh = false;
    desk.link(Answer::Record(closed.row.activity.id.to_string(), Box::new(closed)));
    assert!(desk.shown().contains("CLOSED at"), "{}", desk.shown());
    desk.press(Key::Char('a'));
    assert!(desk.model.decide.is_none());
}

#[test]
fn a_daemon_that_goes_away_ends_the_decision_unless_it_was_sent() {
    let (stage, record) = tagging();
    let mut desk = Desk::new(&stage, std::slice::from_ref(&record), (120, 36));
    desk.open(&record);
    until_hold(&mut desk, &LOW);
    desk.link(Answer::Lost(LinkFlaw::Lost("gone".to_owned()), 1));
    assert!(!leaves(&desk.wait(5000)));
    assert!(desk.shown().contains("Nothing was sent: disconnected"), "{}", desk.shown());
}

#[test]
fn refusals_have_their_own_words() {
    let (stage, record) = tagging();
    let banner = |answer: Answer| {
        let mut desk = Desk::new(&stage, std::slice::from_ref(&record), (80, 24));
        desk.link(answer);
        desk.shown()
    };
    assert!(banner(Answer::Lost(LinkFlaw::Forbidden("/s".to_owned()), 1)).contains("you may not open /s"));
    assert!(banner(Answer::Lost(LinkFlaw::Protocol { daemon: 9 }, 1)).contains("console protocol 9"));
    let mut desk = Desk::new(&stage, std::slice::from_ref(&record), (80, 24));
    let mut status = desk.model.daemon.clone().unwrap();
    status.mode = Mode::Production;
    desk.model.identity.dev_only = true;
    desk.link(Answer::Connected(status));
    assert!(desk.shown().contains("for DEV daemons only"));
}

#[test]
fn selection_stays_on_its_row() {
    let (stage, record) = lowering();
    let tag = stage.propose(
        1,
        "ACTIVITY_TYPE_CREATE_USER_TAG",
        "createUserTagIntent",
        &serde_json::json!({"userTagName": "b"}),
    );
    let mut desk = Desk::new(&stage, std::slice::from_ref(&tag), (120, 36));
    desk.press(Key::Down);
    desk.inbox(stage.organization(), vec![record.row.clone(), tag.row.clone()]);
    assert!(desk.shown().lines().any(|line| line.contains("> LOW")), "{}", desk.shown());
    let shown = desk.shown();
    assert!(
        desk.model.notice.contains("new HIGH: Change root quorum") && shown.contains("1 new HIGH"),
        "{shown}"
    );
    let rows: Vec<&str> = shown.lines().filter(|line| line.contains(" 1 of 3 ")).collect();
    assert!(rows[0].contains("* HIGH"), "{shown}");
    desk.press(Key::Char('/'));
    for letter in "quorum".chars() {
        desk.press(Key::Char(letter));
    }
    assert!(desk.shown().contains("/quorum_  1 of 2, Esc clears"), "{}", desk.shown());
}

#[test]
fn what_the_daemon_hides_is_not_approved() {
    let (stage, record) = hiding();
    for size in [(120, 36), (80, 24)] {
        let mut desk = Desk::new(&stage, std::slice::from_ref(&record), size);
        desk.open(&record);
        for _ in 0..5 {
            desk.press(Key::Char(' '));
        }
        assert!(!leaves(&desk.press(Key::Char('a'))));
        assert!(desk.model.decide.is_none());
        let shown = desk.shown();
        assert!(
            shown.contains("a is off: the daemon hides a card's number, so nothing proves what was signed\n"),
            "{shown}"
        );
        assert!(!shown.contains("4242"), "{shown}");
        desk.press(Key::Char('x'));
        assert!(desk.model.decide.is_none(), "what the daemon alone says is not signed");
        assert!(desk.shown().contains("x is off: the record holds no signed bytes"), "{}", desk.shown());
    }
}

#[test]
fn an_organization_that_is_gone_is_told_so() {
    let (stage, record) = lowering();
    let mut desk = Desk::new(&stage, std::slice::from_ref(&record), (120, 36));
    let missing = || {
        let fault = quorate_common::fault::Fault::new(quorate_common::fault::Code::NotFound, "not there");
        crate::link::LinkFlaw::Refused(fault)
    };
    desk.link(Answer::Failed("the activity", missing()));
    assert!(desk.shown().contains("what is shown stays as it was"), "{}", desk.shown());
    desk.link(Answer::Failed("approvals", missing()));
    let shown = desk.shown();
    assert!(shown.contains("the organization is not there") && !shown.contains("1 of 3"), "{shown}");
    desk.press(Key::Char('2'));
    assert!(desk.shown().contains("The organization is not there any more."), "{}", desk.shown());
    desk.link(Answer::Organization(Box::new(stage.organization())));
    assert!(desk.shown().contains("[Users 5]"), "{}", desk.shown());
}

#[test]
fn nothing_is_drawn_while_nothing_changes() {
    let (stage, record) = lowering();
    let mut desk = Desk::new(&stage, &[record], (120, 36));
    desk.model.dirty = false;
    desk.wait(200);
    desk.model.dirty = false;
    for _ in 0..100 {
        desk.wait(200);
        assert!(!desk.model.dirty);
    }
    assert!(
        desk.link(Answer::Organizations(
            None,
            None,
            OrganizationPage { organizations: Vec::new(), next: None }
        ))
        .len()
            <= 1
    );
}

#[test]
fn ten_thousand_rows_scroll_at_once() {
    let (stage, record) = lowering();
    let mut desk = Desk::new(&stage, std::slice::from_ref(&record), (120, 36));
    desk.press(Key::Char('3'));
    let rows: Vec<ActivityRow> = (0..10_000u64)
        .map(|index| {
            let mut row = record.row.clone();
            row.activity.id = quorate_common::ids::ActivityId::timed(NOW - index, [7; 10]);
            row
        })
        .collect();
    desk.link(Answer::Activities(None, ActivityPage { activities: rows, next: None, waiting: None }));
    desk.press(Key::Char('G'));
    let shown = desk.shown();
    assert!(
        shown.lines().filter(|line| line.contains("> ")).count() >= 1 && !shown.contains("more rows below"),
        "{shown}"
    );
    desk.press(Key::PageUp);
    assert!(desk.shown().contains("more rows below"));
}

#[test]
fn a_wrong_passphrase_can_be_given_again() {
    let (stage, record) = tagging();
    let mut desk = Desk::new(&stage, std::slice::from_ref(&record), (120, 60));
    desk.model.identity.needs_passphrase = true;
    desk.open(&record);
    desk.press(Key::Char('a'));
    desk.wait(1100);
    for key in LOW {
        assert!(!leaves(&desk.press(key)));
    }
    assert!(!leaves(&desk.press(Key::Enter)), "an empty passphrase");
    for letter in "wrong horse".chars() {
        desk.press(Key::Char(letter));
    }
    let shown = desk.shown();
    assert!(shown.contains("Passphrase of the key laptop-p256") && !shown.contains("horse"), "{shown}");
    assert!(update(&mut desk.model, Msg::Paste("pasted".to_owned())).is_empty());
    assert!(leaves(&desk.press(Key::Enter)));
    update(&mut desk.model, Msg::Signed(Err("wrong passphrase".to_owned())));
    assert!(desk.shown().contains("[!] wrong passphrase"), "{}", desk.shown());
    for letter in "right horse".chars() {
        desk.press(Key::Char(letter));
    }
    let effects = desk.press(Key::Enter);
    assert!(
        matches!(effects.as_slice(), [Effect::Sign { passphrase, .. }] if passphrase.as_str() == "right horse")
    );
}

#[test]
fn text_of_others_moves_no_cell() {
    let stage = Stage::new(3, 2);
    for name in [
        "a\u{202e}b",
        "\u{1b}[31mred",
        "bell\u{7}",
        "z\u{200b}w",
        "\u{65e5}\u{672c}\u{8a9e}\u{1f600}",
        "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
    ] {
        let record = stage.propose(
            1,
            "ACTIVITY_TYPE_CREATE_USER_TAG",
            "createUserTagIntent",
            &serde_json::json!({"userTagName": name}),
        );
        for size in SIZES {
            let mut desk = Desk::new(&stage, std::slice::from_ref(&record), size);
            for open in [false, true] {
                if open {
                    desk.open(&record);
                }
                let shown = desk.shown();
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
