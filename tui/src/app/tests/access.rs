//! Tests of the screens of credentials and messages.

use super::*;
use crate::screens::request::Effect;

/// Opens the screen with every kind of credential.
fn console(size: (u16, u16)) -> TestConsole {
    let fixture = Fixture::new(3, 2);
    let mut console = TestConsole::new(&fixture, &[], size);
    console.link(Answer::Organization(Arc::new(fixture.with_all_records())));
    console.press(Key::Char('5'));
    console.link(Answer::Messages(Fixture::id(), None, Fixture::messages()));
    console
}

fn types(console: &mut TestConsole, text: &str) {
    console.press(Key::Char('/'));
    text.chars().for_each(|letter| drop(console.press(Key::Char(letter))));
    console.press(Key::Enter);
}

#[test]
fn the_session_of_a_person_is_found_and_its_deletion_is_drafted() {
    for size in [(120, 36), (80, 24)] {
        let mut console = console(size);
        types(&mut console, "jo login");
        let shown = console.shown();
        assert!(shown.contains("> jo") && shown.contains("session by login"), "{shown}");
        assert!(shown.contains("3m ago") && shown.contains("in 10m"), "{shown}");
        assert!(shown.contains("quorate user revoke 41414141-4141-4141-4141-414141414141"), "{shown}");
        console.press(Key::Char('D'));
        let review = console.model.review.as_ref().unwrap();
        let draft = review.review.draft.as_ref().unwrap();
        assert_eq!(draft.request.activity_type, "ACTIVITY_TYPE_DELETE_API_KEYS");
        let ids = serde_json::json!(["41414141-4141-4141-4141-414141414141"]);
        assert_eq!(draft.request.parameters["apiKeyIds"], ids);
        assert_eq!(draft.request.parameters["userId"], serde_json::json!(Fixture::user(1)));
    }
}

#[test]
fn only_live_sessions_are_shown_on_request() {
    let mut console = console((120, 36));
    console.press(Key::Char('s'));
    let shown = console.shown();
    assert!(shown.contains("read-only session") && shown.contains("session by login"), "{shown}");
    assert!(!shown.contains("session by code") && !shown.contains("API key P256"), "{shown}");
    // A read-only session ends only with its user.
    console.press(Key::Char('D'));
    assert!(console.model.review.is_none());
    assert!(console.shown().contains("it ends when its user is deleted"), "{}", console.shown());
}

#[test]
fn an_unused_key_is_marked_and_found_by_its_mark() {
    for size in SIZES {
        let mut console = console(size);
        types(&mut console, "[!]");
        let shown = console.shown();
        assert!(shown.contains("[!] 120d ago") && shown.contains("API key P256"), "{shown}");
    }
}

#[test]
fn a_passkey_whose_counter_went_back_is_marked_and_explained() {
    for size in SIZES {
        let fixture = Fixture::new(3, 2);
        let mut organization = fixture.with_all_records();
        Fixture::add_copied_passkey(&mut organization);
        let mut console = TestConsole::new(&fixture, &[], size);
        console.link(Answer::Organization(Arc::new(organization)));
        console.press(Key::Char('5'));
        types(&mut console, "[!] passkey");
        let shown = console.shown();
        assert!(shown.contains("[!] passkey"), "{shown}");
        if size.0 >= 120 {
            let text =
                "[!] its counter went back on 2026-11-21 09:14:00 UTC (7 after 9): it may have been copied";
            assert!(shown.contains(text) && shown.contains("Y291bnRz"), "{shown}");
        }
    }
}

#[test]
fn an_invitation_shows_whether_its_mail_arrived() {
    let fixture = Fixture::new(3, 2);
    let mut console = console((120, 36));
    types(&mut console, "invitation");
    assert!(console.shown().contains("mail      delivered"), "{}", console.shown());
    console.press(Key::Char('D'));
    let draft = console.model.review.as_ref().and_then(|open| open.review.draft.as_ref()).unwrap();
    let id = fixture.with_all_records().invitations[0].invitation_id;
    assert_eq!(draft.request.parameters, serde_json::json!({"invitationId": id}));
}

#[test]
fn messages_are_filtered_by_state_and_read_page_by_page() {
    let mut console = console((120, 36));
    let effects = console.press(Key::Char('6'));
    assert_eq!(effects, [Effect::Order(Order::Messages(Fixture::id(), None))]);
    let mut page = Fixture::messages();
    let older = page.events.split_off(3);
    let next = page.events.last().map(|event| event.id);
    console.link(Answer::Messages(
        Fixture::id(),
        None,
        quorate_common::console::MessagePage { next, ..page },
    ));
    assert_eq!(console.press(Key::Char('G')), [Effect::Order(Order::Messages(Fixture::id(), next))]);
    let older = quorate_common::console::MessagePage { events: older, next: None };
    console.link(Answer::Messages(Fixture::id(), next, older.clone()));
    console.link(Answer::Messages(Fixture::id(), next, older));
    assert!(console.shown().contains("Messages: 4;"), "{}", console.shown());
    types(&mut console, "bounced");
    let shown = console.shown();
    assert!(shown.contains("550 5.1.1 no such user") && !shown.contains("ann@acme.example"), "{shown}");
    let effects = console.press(Key::Enter);
    assert!(matches!(effects.as_slice(), [Effect::Order(Order::Record(..))]), "{effects:?}");
}
