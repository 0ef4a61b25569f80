//! What the console reads of waiting activities: all of them in pages, how many there are, and single ones by their ids.

use quorate_common::activity::Status;
use quorate_common::console::ActivityPage;
use quorate_common::ids::ActivityId;
use quorate_core::operator::{self, ActivityQuery};
use serde_json::{Value, json};

use crate::house::{House, NOW};

fn propose(house: &mut House, number: u64) -> ActivityId {
    let root = house.roots[0].clone();
    let name = json!({"userTagName": format!("tag {number}"), "userIds": []});
    let id = house.id;
    let made = house.submit(&root, id, "ACTIVITY_TYPE_CREATE_USER_TAG", &name, NOW + number);
    let made: Value = made.expect("it waits");
    made["activity"]["id"].as_str().expect("an id").parse().expect("an id")
}

fn read(house: &House, query: &ActivityQuery) -> ActivityPage {
    operator::activities(&house.memory, house.id, query, NOW + 1000).expect("a page")
}

fn ids(page: &ActivityPage) -> Vec<ActivityId> {
    page.activities.iter().map(|row| row.activity.id).collect()
}

#[test]
fn what_waits_is_counted_and_read_to_its_end() {
    let mut house = House::found(2);
    let mut waiting: Vec<ActivityId> = (0..5).map(|number| propose(&mut house, number)).collect();
    waiting.reverse();
    let mut query =
        ActivityQuery { statuses: vec![Status::ConsensusNeeded], limit: 2, ..ActivityQuery::default() };
    let mut found = Vec::new();
    loop {
        let page = read(&house, &query);
        let counted = query.after.is_none().then_some(waiting.len() as u64 + 1);
        assert_eq!(
            page.waiting, counted,
            "the first page says how many there are, one of which the house has from the start"
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
    assert_eq!(read(&house, &all).waiting, None, "other lists are not counted");
}

#[test]
fn activities_are_read_by_their_ids() {
    let mut house = House::found(2);
    let made: Vec<ActivityId> = (0..3).map(|number| propose(&mut house, number)).collect();
    let elsewhere = ActivityId::from_bytes([9; 16]);
    let query = ActivityQuery { ids: vec![made[0], elsewhere, made[2], made[0]], ..ActivityQuery::default() };
    let page = read(&house, &query);
    assert_eq!(ids(&page), [made[2], made[0]], "the newest first, each once, and none that is not there");
    assert_eq!((page.next, page.waiting), (None, None));
}
