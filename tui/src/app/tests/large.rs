//! A large inbox: what each size shows of it, how it is searched, and the way through it.

use quorate_common::ids::OrganizationId;
use serde_json::json;

use super::*;

const TAG: &str = "ACTIVITY_TYPE_CREATE_USER_TAG";

/// Returns this many waiting tags that a user proposed, named after a word.
fn tags(fixture: &Fixture, proposer: usize, word: &str, count: usize) -> Vec<ActivityRow> {
    let of_one = |number: usize| {
        let parameters = json!({"userTagName": format!("{word} {number:03}"), "userIds": []});
        let mut row = fixture.propose(proposer, TAG, "createUserTagIntent", &parameters).row;
        row.activity.created_at = Timestamp::from_millis(NOW - 600_000 + number as u64 * 1000);
        row
    };
    (0..count).map(of_one).collect()
}

/// Returns a console with this many activities that wait for the viewer, and for others.
fn console(size: (u16, u16), mine: usize, others: usize) -> TestConsole {
    let fixture = Fixture::new(3, 2);
    let rows = [tags(&fixture, 1, "mine", mine), tags(&fixture, 0, "theirs", others)].concat();
    let mut console = TestConsole::new(&fixture, &[], size);
    console.inbox(fixture.organization(), rows);
    console
}

fn selected(console: &TestConsole) -> String {
    let shown = console.shown();
    shown.lines().find(|line| line.contains("\u{2502} > ")).unwrap_or_default().to_owned()
}

#[test]
fn both_groups_show_activities_at_every_size_and_what_is_below_is_counted_in_activities() {
    for size in SIZES {
        let console = console(size, 40, 30);
        let shown = console.shown();
        assert!(shown.contains("mine ") && shown.contains("theirs "), "{size:?}:\n{shown}");
        if size.1 < 20 {
            // Two rows per activity: one of 40 is shown above the hint.
            assert!(shown.contains("39 more below: PgDn"), "{shown}");
            let first = shown.lines().position(|line| line.contains("theirs 000")).unwrap();
            assert!(
                shown.lines().nth(first - 1).unwrap().contains("LOW"),
                "an item begins with its first row: {shown}"
            );
        }
        snapshot(&format!("large_inbox_{}x{}", size.0, size.1), &shown);
    }
}

#[test]
fn tabs_keep_their_names_while_there_is_room() {
    let shown = console((120, 36), 939, 1).shown();
    let tabs = shown.lines().nth(1).unwrap();
    for name in
        ["[1 Approvals 939]", "4 Policies", "5 Access", "7 Health", "8 Webhooks", "9 Journal", "0 Known keys"]
    {
        assert!(tabs.contains(name), "{name}: {tabs}");
    }
}

#[test]
fn the_ends_of_a_group_are_reached_before_those_of_the_list() {
    let mut console = console((80, 24), 40, 30);
    for (key, expected) in [
        ('G', "mine 039"),
        ('G', "theirs 029"),
        ('G', "theirs 029"),
        ('g', "theirs 000"),
        ('g', "mine 000"),
        ('g', "mine 000"),
    ] {
        console.press(Key::Char(key));
        assert!(selected(&console).contains(expected), "{key} {expected}: {}", console.shown());
    }
}

#[test]
fn an_empty_inbox_names_the_key_that_proposes() {
    let shown = console((80, 24), 0, 0).shown().replace(['\u{2502}', '\n'], " ");
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("Press p to propose something, 3 for all activities."), "{shown}");
}

#[test]
fn risk_then_whom_it_waits_for_then_the_own_organization_then_age() {
    let fixture = Fixture::new(3, 2);
    let mut console = TestConsole::new(&fixture, &[], (120, 36));
    let below = sub_organization(&fixture, 0x77, "client");
    let high = |proposer: usize| {
        let members: Vec<_> = (0..3).map(Fixture::user).collect();
        let parameters = json!({"threshold": 1, "userIds": members});
        fixture
            .propose(proposer, "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", "updateRootQuorumIntent", &parameters)
            .row
    };
    let mut old = tags(&fixture, 1, "old", 1);
    old[0].activity.created_at = Timestamp::from_millis(NOW - 3_600_000);
    let own = [tags(&fixture, 1, "new", 1), old, vec![high(0), high(1)]].concat();
    let mut theirs = tags(&fixture, 1, "client", 1);
    theirs[0].activity.organization_id = below.head.organization_id;
    theirs[0].activity.created_at = Timestamp::from_millis(NOW - 7_200_000);
    console.link(Answer::Changed(quorate_common::console::Change::Reset));
    console.link(Answer::Organization(Arc::new(fixture.organization())));
    console.inbox_page(vec![(fixture.organization(), own), (below, theirs)], Some(5), true);
    let rows = console.model.shared.inbox.rows().iter();
    let order: Vec<String> =
        rows.map(|row| format!("{} {} {}", row.risk.word(), row.is_mine, row.organization_name)).collect();
    let own = "acme-treasury";
    let expected = [
        format!("HIGH true {own}"),
        format!("HIGH false {own}"),
        format!("LOW true {own}"),
        format!("LOW true {own}"),
        "LOW true client".to_owned(),
    ];
    assert_eq!(order.iter().filter(|row| !row.ends_with("client")).count(), 4);
    assert_eq!(order[..4], expected[..4]);
    assert!(order[4].ends_with("client"), "{order:?}");
    assert!(console.model.shared.inbox.rows()[2].brief.contains("old"));
}

fn sub_organization(fixture: &Fixture, byte: u8, name: &str) -> OrganizationDetail {
    let mut organization = fixture.organization();
    organization.head.organization_id = OrganizationId::from_bytes([byte; 16]);
    organization.head.parent_organization_id = Some(Fixture::id());
    name.clone_into(&mut organization.head.organization_name);
    organization
}

#[test]
fn the_palette_finds_waiting_activities_by_organization_and_risk() {
    let fixture = Fixture::new(3, 2);
    let mut console = TestConsole::new(&fixture, &[], (120, 36));
    let below = sub_organization(&fixture, 0x77, "sub-03");
    let mut rows = tags(&fixture, 1, "quorum of", 1);
    rows[0].activity.organization_id = below.head.organization_id;
    let own = tags(&fixture, 1, "mine", 1);
    console.link(Answer::Changed(quorate_common::console::Change::Reset));
    console.link(Answer::Organization(Arc::new(fixture.organization())));
    console.inbox_page(vec![(fixture.organization(), own), (below, rows)], Some(2), true);
    for words in ["tag sub-03", "sub-03 LOW"] {
        console.press(Key::Char(':'));
        words.chars().for_each(|letter| drop(console.press(Key::Char(letter))));
        let first = selected(&console);
        assert!(
            first.contains("> activity") && first.contains("LOW  ") && first.contains(" in sub-03"),
            "{first}"
        );
        console.press(Key::Esc);
    }
    console.press(Key::Char(':'));
    assert!(selected(&console).contains("Propose an activity"), "places come first: {}", console.shown());
}

#[test]
fn escape_leads_back_to_the_organization_that_was_shown_before() {
    let fixture = Fixture::new(3, 2);
    let mut console = console((120, 36), 1, 0);
    console.press(Key::Esc);
    assert!(console.shown().contains("mine 000"), "nothing was shown before");
    let below = sub_organization(&fixture, 0x77, "sub-03").head;
    console.press(Key::Char('o'));
    below.organization_id.to_string().chars().for_each(|letter| drop(console.press(Key::Char(letter))));
    console.press(Key::Enter);
    assert_eq!(console.model.shared.organization_id, Some(below.organization_id));
    assert!(console.shown().contains("Esc leads back to \"acme-treasury\""), "{}", console.shown());
    // Esc first closes what is open.
    console.press(Key::Char('/'));
    console.press(Key::Char('x'));
    console.press(Key::Enter);
    console.press(Key::Esc);
    assert_eq!(console.model.shared.organization_id, Some(below.organization_id));
    let effects = console.press(Key::Esc);
    assert_eq!(console.model.shared.organization_id, Some(Fixture::id()));
    assert!(
        effects
            .iter()
            .any(|effect| matches!(effect, Effect::Order(Order::Inbox(id, _)) if *id == Fixture::id()))
    );
    assert!(console.model.shared.viewer.user.is_some(), "the user of the options is selected again");
}

#[test]
fn organizations_are_listed_by_name() {
    let fixture = Fixture::new(3, 2);
    let mut console = console((120, 36), 0, 0);
    console.press(Key::Char('o'));
    let heads = [(0x71, "sub-02"), (0x72, "Sub-00"), (0x73, "sub-01")];
    let heads = heads.map(|(byte, name)| sub_organization(&fixture, byte, name).head);
    let page = |organizations| OrganizationPage { organizations, next: None };
    console.link(Answer::Organizations(Some(Fixture::id()), None, page(heads.to_vec())));
    console.link(Answer::Organizations(None, None, page(vec![fixture.organization().head])));
    let listed = |shown: &str| {
        let at = |name: &str| shown.find(name).unwrap_or_else(|| unreachable!("{name}: {shown}"));
        ["acme-treasury 9f", "Sub-00", "sub-01", "sub-02"].map(|name| at(name.split(' ').next().unwrap()))
    };
    let shown = console.shown();
    let list: String = shown.lines().skip(2).collect::<Vec<_>>().join("\n");
    assert!(listed(&list).is_sorted(), "{shown}");
    console.press(Key::Esc);
    console.press(Key::Char('2'));
    let shown = console.shown();
    let tree: String = shown.lines().skip(2).collect::<Vec<_>>().join("\n");
    assert!(listed(&tree).is_sorted(), "{shown}");
}
