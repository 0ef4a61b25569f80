//! How the console reads waiting activities: in pages, with their number, and individually by id.

use quorate_common::activity::Status;
use quorate_common::console::ActivityPage;
use quorate_common::ids::ActivityId;
use quorate_core::operator::{self, ActivityQuery};
use serde_json::{Value, json};

use crate::fixture::{Fixture, NOW};

fn propose(fixture: &mut Fixture, number: u64) -> ActivityId {
    let root = fixture.roots[0].clone();
    let name = json!({"userTagName": format!("tag {number}"), "userIds": []});
    let id = fixture.id;
    let created = fixture.submit(&root, id, "ACTIVITY_TYPE_CREATE_USER_TAG", &name, NOW + number);
    let created: Value = created.expect("the activity waits");
    created["activity"]["id"].as_str().expect("an id").parse().expect("an id")
}

fn read(fixture: &Fixture, query: &ActivityQuery) -> ActivityPage {
    operator::activities(&fixture.memory, fixture.id, query, NOW + 1000).expect("a page")
}

fn ids(page: &ActivityPage) -> Vec<ActivityId> {
    page.activities.iter().map(|row| row.activity.id).collect()
}

#[test]
fn waiting_activities_are_counted_and_paged_completely() {
    let mut fixture = Fixture::new(2);
    let mut waiting: Vec<ActivityId> = (0..5).map(|number| propose(&mut fixture, number)).collect();
    waiting.reverse();
    let mut query =
        ActivityQuery { statuses: vec![Status::ConsensusNeeded], limit: 2, ..ActivityQuery::default() };
    let mut found = Vec::new();
    loop {
        let page = read(&fixture, &query);
        let expected = query.after.is_none().then_some(waiting.len() as u64 + 1);
        assert_eq!(
            page.waiting, expected,
            "the first page contains the count, including the one in the fixture"
        );
        found.extend(ids(&page));
        query.after = page.next;
        if query.after.is_none() {
            break;
        }
    }
    assert_eq!(found.len(), waiting.len() + 1);
    found.retain(|id| waiting.contains(id));
    assert_eq!(found, waiting);
    let all = ActivityQuery { limit: 2, ..ActivityQuery::default() };
    assert_eq!(read(&fixture, &all).waiting, None, "other lists are not counted");
}

#[test]
fn activities_are_read_by_id() {
    let mut fixture = Fixture::new(2);
    let created: Vec<ActivityId> = (0..3).map(|number| propose(&mut fixture, number)).collect();
    let unknown = ActivityId::from_bytes([9; 16]);
    let query =
        ActivityQuery { ids: vec![created[0], unknown, created[2], created[0]], ..ActivityQuery::default() };
    let page = read(&fixture, &query);
    assert_eq!(ids(&page), [created[2], created[0]], "newest first, without duplicates and unknown ids");
    assert_eq!((page.next, page.waiting), (None, None));
}
