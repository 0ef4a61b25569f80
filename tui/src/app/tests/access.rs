//! Tests of the screens of credentials and messages.

use super::*;
use crate::screens::request::Effect;

/// Opens the screen with every kind of credential.
fn console(size: (u16, u16)) -> TestConsole {
    let fixture = Fixture::new(3, 2);
    let mut console = TestConsole::new(&fixture, &[], size);
    console.link(Answer::Organization(Arc::new(fixture.with_all_records())));
    console.press(Key::Char('5'));
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
    let notice = "[!] the read-only session cannot be revoked alone; it ends when its user is deleted";
    assert!(console.shown().contains(notice), "{}", console.shown());
}

#[test]
fn the_selected_session_stays_selected_and_the_filter_ends_with_the_screen() {
    let mut console = console((120, 36));
    console.press(Key::Char('s'));
    let shown = console.shown();
    assert!(shown.contains("only sessions  2 of 8, Esc shows all"), "{shown}");
    assert!(shown.contains("> jo             read-only session"), "{shown}");
    console.press(Key::Char('s'));
    let shown = console.shown();
    assert!(
        shown.contains("> jo             read-only session") && shown.contains("API key P256"),
        "{shown}"
    );
    // The screen is left and opened again, in both ways: it shows everything, and `s` only sessions.
    for keys in [['1', '5'], ['1', '-']] {
        console.press(Key::Char('s'));
        for key in keys {
            console.press(Key::Char(key));
        }
        let shown = console.shown();
        assert!(shown.contains("API key P256") && !shown.contains("only sessions"), "{shown}");
        assert!(shown.contains("> jo             read-only session"), "{shown}");
        console.press(Key::Char('s'));
        assert!(console.shown().contains("only sessions"), "{}", console.shown());
        console.press(Key::Esc);
        assert!(!console.shown().contains("only sessions"), "{}", console.shown());
    }
    // A new row above it does not change what is selected.
    let mut organization = Fixture::new(3, 2).with_all_records();
    let mut session = organization.users[1].api_keys[1].clone();
    session.api_key_id = quorate_common::ids::ApiKeyId::from_bytes([0x55; 16]);
    organization.users[0].api_keys.push(session);
    organization.head.version += 1;
    console.link(Answer::Organization(Arc::new(organization)));
    let shown = console.shown();
    assert!(shown.contains("> jo             read-only session"), "{shown}");
}

#[test]
fn nothing_in_a_sub_organization_is_revoked_from_outside() {
    let fixture = Fixture::new(3, 2);
    let mut console = TestConsole::new(&fixture, &[], (120, 36));
    console.model.shared.identity.is_of_other = true;
    let mut organization = fixture.with_all_records();
    organization.head.parent_organization_id = Some(quorate_common::ids::OrganizationId::from_bytes([7; 16]));
    organization.users.remove(0);
    console.link(Answer::Organization(Arc::new(organization)));
    console.press(Key::Char('5'));
    types(&mut console, "jo login");
    let shown = console.shown();
    assert!(shown.contains("revoke    only a user of this organization can revoke it"), "{shown}");
    console.press(Key::Char('D'));
    assert!(console.model.review.is_none());
    let shown = console.shown();
    assert!(shown.contains("only a user of this organization can revoke the session by login"), "{shown}");
}

#[test]
fn the_only_credential_of_a_user_is_not_deleted() {
    let mut console = console((120, 36));
    types(&mut console, "ana key");
    console.press(Key::Char('D'));
    let review = &console.model.review.as_ref().unwrap().review;
    assert_eq!(review.risk, crate::kinds::Level::High);
    assert!(review.blocked() && review.approval_error().is_some());
    let shown = console.shown();
    assert!(shown.contains("user missing valid credential"), "{shown}");
    console.press(Key::Char('a'));
    assert!(console.model.review.as_ref().unwrap().decide.is_none(), "no ceremony begins");
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
    types(&mut console, "bounced");
    let shown = console.shown();
    assert!(shown.contains("> noor") && shown.contains("[!] bounced"), "{shown}");
    assert!(shown.contains("550 5.1.1 no such user"), "{shown}");
    console.press(Key::Esc);
    types(&mut console, "lee invitation");
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
