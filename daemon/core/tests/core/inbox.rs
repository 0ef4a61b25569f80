//! How the console reads waiting activities: in pages, with their number, and individually by id.

use std::collections::{BTreeMap, BTreeSet};

use quorate_common::activity::Status;
use quorate_common::console::{ActivityPage, InboxPage};
use quorate_common::ids::{ActivityId, OrganizationId};
use quorate_core::operator::{self, ActivityQuery};
use quorate_core::waiting_index;
use serde_json::{Value, json};

use crate::fixture::{AuthMethod, Fixture, NOW, Person, public_key};

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

/// Creates a sub-organization of which two root users must approve, and returns them.
fn child(fixture: &mut Fixture, name: &str) -> [Person; 2] {
    let user = |number: u32| {
        json!({"userName": format!("root {number}"), "apiKeys": [{"apiKeyName": "key",
            "publicKey": public_key(number), "curveType": "API_KEY_CURVE_P256"}]})
    };
    let child =
        json!({"subOrganizationName": name, "rootUsers": [user(60), user(61)], "rootQuorumThreshold": 2});
    let created = fixture.execute("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7", &child);
    let created = &created["result"]["createSubOrganizationResultV7"];
    let home = created["subOrganizationId"].as_str().expect("an id").parse().expect("an id");
    [0, 1].map(|index| Person {
        home,
        user: created["rootUserIds"][index].as_str().expect("an id").parse().expect("an id"),
        keys: Vec::new(),
        number: 60 + u32::try_from(index).expect("a small number"),
        auth: AuthMethod::Stamp,
        authenticator: None,
        provider: None,
    })
}

/// Submits an activity of a sub-organization and returns it.
fn submit(fixture: &mut Fixture, person: &Person, kind: &str, parameters: &Value, number: u64) -> Value {
    let kind = format!("ACTIVITY_TYPE_{kind}");
    let answer = fixture.submit(person, person.home, &kind, parameters, NOW + number);
    answer.expect("the request is accepted")["activity"].clone()
}

fn propose_tag(fixture: &mut Fixture, person: &Person, number: u64) -> Value {
    let tag = json!({"userTagName": format!("tag {number}"), "userIds": []});
    submit(fixture, person, "CREATE_USER_TAG", &tag, number)
}

fn inbox(fixture: &Fixture, id: OrganizationId, after: Option<&str>, limit: usize) -> InboxPage {
    operator::inbox(&fixture.memory, id, after, limit, NOW + 1000).expect("a page")
}

/// Reads all pages: the activities by organization, each oldest first.
fn whole_inbox(
    fixture: &Fixture,
    id: OrganizationId,
    limit: usize,
) -> BTreeMap<OrganizationId, Vec<ActivityId>> {
    let mut found: BTreeMap<OrganizationId, Vec<ActivityId>> = BTreeMap::new();
    let (mut after, mut total): (Option<String>, Option<u64>) = (None, None);
    loop {
        let page = inbox(fixture, id, after.as_deref(), limit);
        assert_eq!(page.waiting.is_some(), after.is_none(), "the first page contains the count");
        total = total.or(page.waiting);
        for one in page.organizations {
            let ids = one.activities.iter().map(|row| {
                assert!(row.waiting.is_some());
                assert_eq!(row.activity.organization_id, one.organization.head.organization_id);
                row.activity.id
            });
            found.entry(one.organization.head.organization_id).or_default().extend(ids);
        }
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let count = found.values().map(Vec::len).sum::<usize>();
    assert_eq!(total, Some(count as u64));
    found
}

fn id_of(activity: &Value) -> ActivityId {
    activity["id"].as_str().expect("an id").parse().expect("an id")
}

#[test]
fn an_inbox_contains_what_waits_in_all_sub_organizations() {
    let mut fixture = Fixture::new(2);
    let root = fixture.id;
    let own = whole_inbox(&fixture, root, 100)[&root].clone();
    let [first, second] = ["one", "two"].map(|name| child(&mut fixture, name));
    let waiting: Vec<Value> = (0..5).map(|number| propose_tag(&mut fixture, &first[0], number)).collect();
    let other = propose_tag(&mut fixture, &second[0], 9);
    let ids: Vec<ActivityId> = waiting.iter().map(id_of).collect();
    let expected =
        BTreeMap::from([(root, own), (first[0].home, ids.clone()), (second[0].home, vec![id_of(&other)])]);
    for limit in [1, 2, 3, 100] {
        assert_eq!(whole_inbox(&fixture, root, limit), expected, "{limit} at once");
    }
    let of_first = BTreeMap::from([(first[0].home, ids.clone())]);
    assert_eq!(whole_inbox(&fixture, first[0].home, 2), of_first, "a sub-organization has its own inbox");
    // An executed and a rejected activity leave the list, and a vote that decides nothing does not.
    let target = |activity: &Value| json!({"fingerprint": activity["fingerprint"]});
    submit(&mut fixture, &first[1], "APPROVE_ACTIVITY", &target(&waiting[0]), 20);
    submit(&mut fixture, &first[1], "REJECT_ACTIVITY", &target(&waiting[1]), 21);
    assert_eq!(whole_inbox(&fixture, first[0].home, 2)[&first[0].home], ids[2..]);
    // Neither does a deleted organization stay in it.
    let deletion = json!({"deleteWithoutExport": true});
    let deletion = submit(&mut fixture, &first[0], "DELETE_SUB_ORGANIZATION", &deletion, 22);
    submit(&mut fixture, &first[1], "APPROVE_ACTIVITY", &target(&deletion), 23);
    let left: BTreeSet<OrganizationId> = whole_inbox(&fixture, root, 2).into_keys().collect();
    assert_eq!(left, BTreeSet::from([root, second[0].home]));
    for cursor in ["", ".", "x.y", &root.to_string()] {
        let error = operator::inbox(&fixture.memory, root, Some(cursor), 10, NOW);
        assert!(error.is_err(), "{cursor}");
    }
}

#[test]
fn a_store_of_an_earlier_version_is_indexed_step_by_step() {
    let mut fixture = Fixture::new(2);
    let people = child(&mut fixture, "one");
    propose_tag(&mut fixture, &people[0], 1);
    let root = fixture.id;
    let complete = whole_inbox(&fixture, root, 100);
    assert_eq!(complete.len(), 2);
    let rows = fixture.memory.all_rows();
    let is_index = |key: &[u8]| key.first() == Some(&b'l') && key.get(17) == Some(&11);
    let index: Vec<_> = rows.keys().filter(|key| is_index(key)).cloned().collect();
    index.iter().for_each(|key| fixture.memory.set_row(key, None));
    assert!(whole_inbox(&fixture, root, 100).is_empty());
    assert!(!inbox(&fixture, root, None, 100).is_complete);
    let mut after = None;
    // An organization that changed since the step was computed makes it fail.
    let step = waiting_index::step(&fixture.memory, None).expect("the store is readable").expect("a step");
    let late = propose_tag(&mut fixture, &people[0], 2);
    assert!(!fixture.memory.try_commit(step.commit));
    while let Some(step) = waiting_index::step(&fixture.memory, after.as_deref()).expect("readable") {
        fixture.memory.commit(step.commit);
        after = step.next;
    }
    assert!(inbox(&fixture, root, None, 100).is_complete);
    let mut expected = complete;
    expected.get_mut(&people[0].home).expect("the organization").push(id_of(&late));
    assert_eq!(whole_inbox(&fixture, root, 100), expected);
}
