//! Tests of an organization that was selected by its name.

use quorate_common::console::OrganizationPage;

use super::*;

/// Starts the console with a name of an organization, and lists one that has another name and one that has it.
fn console(name: &str) -> TestConsole {
    let fixture = Fixture::new(3, 2);
    let mut console = TestConsole::new(&fixture, &[], (120, 36));
    let shared = &mut console.model.shared;
    shared.organization_id = None;
    shared.identity.viewer.organization = None;
    shared.identity.organization_name = Some(name.to_owned());
    let named = fixture.organization().head;
    let mut other = named.clone();
    other.organization_id = quorate_common::ids::OrganizationId::from_bytes([7; 16]);
    other.organization_name = "other".to_owned();
    let page = OrganizationPage { organizations: vec![other, named], next: None };
    console.link(Answer::Organizations(None, None, page));
    console
}

#[test]
fn the_organization_that_was_named_is_shown() {
    let name = Fixture::new(3, 2).organization().head.organization_name;
    assert_eq!(console(&name).model.shared.organization_id, Some(Fixture::id()));
}

#[test]
fn no_other_organization_is_shown_than_the_named_one() {
    let console = console("treasurx");
    assert_eq!(console.model.shared.organization_id, None);
    let shown = console.shown();
    assert!(shown.contains("no organization, or more than one, is named \"treasurx\""), "{shown}");
}
