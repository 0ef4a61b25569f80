//! How the console reads waiting activities: in pages, with their number, and individually by id.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quorate_common::activity::Status;
use quorate_common::console::{ActivityPage, HistoryOrder, InboxPage, OrganizationInbox};
use quorate_common::ids::{ActivityId, OrganizationId};
use quorate_core::budget::{Budget, Cancellation};
use quorate_core::limits::Limits;
use quorate_core::operator::{self, ActivityQuery, HistoryQuery};
use quorate_core::waiting_index;
use quorate_core::world::World as _;
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
fn what_waits_in_the_organization_itself_comes_first() {
    let mut fixture = Fixture::new(2);
    let root = fixture.id;
    // Ids of organizations are random, so some of these precede that of the parent.
    for number in 0..8 {
        let people = child(&mut fixture, &format!("child {number}"));
        propose_tag(&mut fixture, &people[0], number);
    }
    let own = whole_inbox(&fixture, root, 100)[&root].len();
    for limit in [1, 2, 3, own, own + 1, 100] {
        let (mut order, mut cursors): (Vec<OrganizationId>, Vec<String>) = (Vec::new(), Vec::new());
        loop {
            let page = inbox(&fixture, root, cursors.last().map(String::as_str), limit);
            let of_one = |one: &OrganizationInbox| {
                std::iter::repeat_n(one.organization.head.organization_id, one.activities.len())
            };
            order.extend(page.organizations.iter().flat_map(of_one));
            let Some(next) = page.next else { break };
            cursors.push(next);
        }
        assert_eq!(order.len(), own + 8, "{limit} at once");
        assert!(order[..own].iter().all(|id| *id == root), "{limit} at once: {order:?}");
        assert!(order[own..].is_sorted() && !order[own..].contains(&root), "{limit} at once: {order:?}");
        assert!(cursors.is_sorted(), "consoles require cursors that increase: {cursors:?}");
    }
}

#[test]
fn a_page_of_the_inbox_costs_nothing_for_what_does_not_wait() {
    let mut fixture = Fixture::new(2);
    let people = child(&mut fixture, "one");
    propose_tag(&mut fixture, &people[0], 1);
    let rows = |fixture: &mut Fixture| {
        let budget = Arc::new(Budget::of_query(&Limits::default(), Cancellation::default()));
        let before = std::mem::replace(&mut fixture.memory.budget, Arc::clone(&budget));
        assert_eq!(inbox(fixture, fixture.id, None, 1).organizations.len(), 1);
        fixture.memory.budget = before;
        budget.rows_taken()
    };
    let few = rows(&mut fixture);
    for number in 0..20 {
        child(&mut fixture, &format!("quiet {number}"));
    }
    assert_eq!(rows(&mut fixture), few, "neither ended activities nor quiet organizations are read");
    // What waits on later pages is counted by its keys.
    for number in 0..20 {
        propose_tag(&mut fixture, &people[0], 100 + number);
    }
    assert_eq!(rows(&mut fixture), few + 20);
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
    let is_index = |key: &[u8]| key.first() == Some(&b'l') && key.get(17) == Some(&14);
    let index: Vec<_> = rows.keys().filter(|key| is_index(key)).cloned().collect();
    for key in &index {
        fixture.memory.set_row(key, None);
    }
    assert!(whole_inbox(&fixture, root, 100).is_empty());
    assert!(!inbox(&fixture, root, None, 100).is_complete);
    let mut after = None;
    // An organization that changed since the step was computed makes it fail.
    let step =
        waiting_index::step(&fixture.memory, None, 64).expect("the store is readable").expect("a step");
    let late = propose_tag(&mut fixture, &people[0], 2);
    assert!(!fixture.memory.try_commit(step.commit));
    while let Some(step) = waiting_index::step(&fixture.memory, after.as_deref(), 1).expect("readable") {
        fixture.memory.commit(step.commit);
        after = step.next;
    }
    assert!(inbox(&fixture, root, None, 100).is_complete);
    let mut expected = complete;
    expected.get_mut(&people[0].home).expect("the organization").push(id_of(&late));
    assert_eq!(whole_inbox(&fixture, root, 100), expected);
}

/// Returns how the records differ from the index.
fn differences(fixture: &Fixture) -> Vec<String> {
    let rows = fixture.memory.all_rows();
    let of_one = |key| {
        waiting_index::difference(fixture.memory.records(), fixture.memory.index(), key).expect("readable")
    };
    rows.keys().filter_map(|key| of_one(key)).collect()
}

#[test]
fn what_an_earlier_version_left_out_is_found_and_indexed_again() {
    let mut fixture = Fixture::new(2);
    let [people, deleted] = ["one", "two"].map(|name| child(&mut fixture, name));
    let waiting: Vec<Value> = (0..3).map(|number| propose_tag(&mut fixture, &people[0], number)).collect();
    let lost = propose_tag(&mut fixture, &deleted[0], 5);
    // Builds the index as after the start.
    let build = |fixture: &mut Fixture| {
        let mut after = None;
        while let Some(step) = waiting_index::step(&fixture.memory, after.as_deref(), 1).expect("readable") {
            fixture.memory.commit(step.commit);
            after = step.next;
        }
    };
    build(&mut fixture);
    assert_eq!(differences(&fixture), Vec::<String>::new());
    // An earlier version records activities, votes and deletions without the index.
    let is_index = |key: &[u8]| key.first() == Some(&b'l') && key.get(17) == Some(&14);
    let before = fixture.memory.all_rows();
    let target = |activity: &Value| json!({"fingerprint": activity["fingerprint"]});
    let added = propose_tag(&mut fixture, &people[0], 20);
    submit(&mut fixture, &people[1], "APPROVE_ACTIVITY", &target(&waiting[0]), 21);
    submit(&mut fixture, &people[1], "REJECT_ACTIVITY", &target(&waiting[1]), 22);
    let deletion = json!({"deleteWithoutExport": true});
    let deletion = submit(&mut fixture, &deleted[0], "DELETE_SUB_ORGANIZATION", &deletion, 23);
    submit(&mut fixture, &deleted[1], "APPROVE_ACTIVITY", &target(&deletion), 24);
    for key in fixture.memory.all_rows().into_keys().filter(|key| is_index(key)) {
        fixture.memory.set_row(&key, None);
    }
    for (key, value) in before.into_iter().filter(|(key, _)| is_index(key)) {
        fixture.memory.set_row(&key, Some(value));
    }
    let found = differences(&fixture);
    let of = |activity: &Value, words: &str| {
        let id = id_of(activity).to_string();
        found.iter().filter(|line| line.contains(&id) && line.contains(words)).count()
    };
    let (missing, superfluous) = ("does not list it", "it does not wait for votes there");
    assert_eq!(of(&added, missing), 1, "{found:#?}");
    for activity in [&waiting[0], &waiting[1], &lost] {
        assert_eq!(of(activity, superfluous), 1, "{found:#?}");
    }
    assert_eq!(found.len(), 4, "{found:#?}");

    let index = fixture.memory.index().clone();
    fixture.memory.commit(waiting_index::restart(&index));
    let root = fixture.id;
    assert!(!inbox(&fixture, root, None, 100).is_complete);
    build(&mut fixture);
    assert_eq!(differences(&fixture), Vec::<String>::new());
    let read = inbox(&fixture, root, None, 100);
    assert!(read.is_complete);
    assert_eq!(whole_inbox(&fixture, root, 100)[&people[0].home], [id_of(&waiting[2]), id_of(&added)]);
}

/// Reads all pages of the activities that match.
fn whole_history(fixture: &Fixture, query: &HistoryQuery) -> Vec<Value> {
    let mut query = HistoryQuery { after: None, ..copied(query) };
    let mut found = Vec::new();
    loop {
        let page = operator::history(&fixture.memory, fixture.id, &query, NOW + 1000).expect("a page");
        assert!(page.activities.len() <= query.limit);
        found.extend(page.activities.iter().map(|row| json!(row.activity)));
        query.after = page.next;
        if query.after.is_none() {
            return found;
        }
    }
}

fn ids_of(activities: &[Value]) -> Vec<ActivityId> {
    activities.iter().map(id_of).collect()
}

fn copied(query: &HistoryQuery) -> HistoryQuery {
    HistoryQuery {
        statuses: query.statuses.clone(),
        types: query.types.clone(),
        proposers: query.proposers.clone(),
        words: query.words.clone(),
        after: query.after.clone(),
        ..*query
    }
}

#[test]
fn history_is_filtered_and_ordered() {
    let mut fixture = Fixture::new(2);
    for number in 0..7 {
        propose(&mut fixture, number);
    }
    let (voter, id) = (fixture.roots[0].clone(), fixture.id);
    let target = json!({"fingerprint": fixture.waiting});
    fixture.submit(&voter, id, "ACTIVITY_TYPE_APPROVE_ACTIVITY", &target, NOW + 8).expect("the vote counts");
    let mut all: Vec<Value> = Vec::new();
    let mut query = ActivityQuery { limit: 100, ..ActivityQuery::default() };
    loop {
        let page = read(&fixture, &query);
        all.extend(page.activities.iter().map(|row| json!(row.activity)));
        query.after = page.next;
        if query.after.is_none() {
            break;
        }
    }
    let is_vote = |activity: &Value| {
        let kind = activity["type"].as_str().unwrap_or_default();
        kind == "ACTIVITY_TYPE_APPROVE_ACTIVITY" || kind == "ACTIVITY_TYPE_REJECT_ACTIVITY"
    };
    assert!(all.iter().any(is_vote), "the organization has votes");
    let without: Vec<Value> = all.iter().filter(|one| !is_vote(one)).cloned().collect();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for limit in [1, 3, 100] {
        let query = HistoryQuery { limit, ..HistoryQuery::default() };
        assert_eq!(ids_of(&whole_history(&fixture, &query)), ids_of(&without), "newest first, without votes");
        // From the other end.
        let mut oldest = whole_history(&fixture, &HistoryQuery { reverse: true, ..copied(&query) });
        oldest.reverse();
        assert_eq!(ids_of(&oldest), ids_of(&without));
        for order in [HistoryOrder::Status, HistoryOrder::Type] {
            let sorted = whole_history(&fixture, &HistoryQuery { order, ..copied(&query) });
            let member = if order == HistoryOrder::Status { "status" } else { "type" };
            let groups: Vec<String> = sorted.iter().map(|one| text(&one[member])).collect();
            let mut runs = groups.clone();
            runs.dedup();
            let distinct: BTreeSet<&String> = groups.iter().collect();
            assert_eq!(runs.len(), distinct.len(), "{order:?}: each group is in one place");
            for group in distinct {
                let of = |list: &[Value]| -> Vec<String> {
                    list.iter()
                        .filter(|one| text(&one[member]) == *group)
                        .map(|one| text(&one["id"]))
                        .collect()
                };
                assert_eq!(of(&sorted), of(&without), "newest first in {group}");
            }
            let mut reversed =
                whole_history(&fixture, &HistoryQuery { order, reverse: true, ..copied(&query) });
            reversed.reverse();
            assert_eq!(ids_of(&reversed), ids_of(&sorted));
        }
        // Each filter, against the list of everything.
        let waiting = HistoryQuery { statuses: vec![Status::ConsensusNeeded], ..copied(&query) };
        let expected: Vec<Value> = without
            .iter()
            .filter(|one| one["status"] == "ACTIVITY_STATUS_CONSENSUS_NEEDED")
            .cloned()
            .collect();
        assert_eq!(ids_of(&whole_history(&fixture, &waiting)), ids_of(&expected));
        let by_text = HistoryQuery { words: vec!["tag".to_owned(), "4\"".to_owned()], ..copied(&query) };
        let found = whole_history(&fixture, &by_text);
        let has_words =
            |one: &Value| ["tag", "4\""].iter().all(|word| one.to_string().to_lowercase().contains(word));
        assert!(found.len() < without.len() && found.iter().all(has_words));
        let is_tag = |one: &Value| one["intent"]["createUserTagIntent"]["userTagName"] == "tag 4";
        assert_eq!(found.iter().filter(|one| is_tag(one)).count(), 1);
        let by_id = HistoryQuery { words: vec![text(&without[2]["id"])[..18].to_owned()], ..copied(&query) };
        assert!(whole_history(&fixture, &by_id).contains(&without[2]));
        let second = fixture.roots[1].user;
        let by_second = HistoryQuery { proposers: vec![second], ..copied(&query) };
        let found = whole_history(&fixture, &by_second);
        assert!(!found.is_empty() && found.len() < without.len());
        assert!(found.iter().all(|one| one["votes"][0]["userId"] == second.to_string()));
        // Votes are listed if their type is named.
        let ballots =
            HistoryQuery { types: vec!["ACTIVITY_TYPE_APPROVE_ACTIVITY".to_owned()], ..copied(&query) };
        assert!(whole_history(&fixture, &ballots).iter().all(is_vote));
        assert!(!whole_history(&fixture, &ballots).is_empty());
        let before = HistoryQuery { before: Some(NOW + 3), ..copied(&query) };
        let found = whole_history(&fixture, &before);
        assert_eq!(ids_of(&found), ids_of(&without[without.len() - found.len()..]));
        assert_eq!(without.len() - found.len(), 4, "tags 3 to 6 are younger");
        let mut oldest = whole_history(&fixture, &HistoryQuery { reverse: true, ..copied(&before) });
        oldest.reverse();
        assert_eq!(ids_of(&oldest), ids_of(&found));
    }
    let refused = |query: &HistoryQuery| operator::history(&fixture.memory, fixture.id, query, NOW).is_err();
    assert!(refused(&HistoryQuery { words: vec!["x".repeat(300)], ..HistoryQuery::default() }));
    assert!(refused(&HistoryQuery { types: vec!["NOTHING".to_owned()], ..HistoryQuery::default() }));
    for cursor in ["", ".", "0", "0.x", "99999999."] {
        assert!(
            refused(&HistoryQuery { after: Some(cursor.to_owned()), ..HistoryQuery::default() }),
            "{cursor}"
        );
    }
}

#[test]
fn one_page_of_history_examines_a_bounded_number_of_activities() {
    let mut fixture = Fixture::new(1);
    let first = propose(&mut fixture, 0);
    let (root, id) = (fixture.roots[0].clone(), fixture.id);
    for number in 1..700 {
        let payload = json!({"signWith": fixture.private_key, "payload": format!("other {number}"),
            "encoding": "PAYLOAD_ENCODING_TEXT_UTF8", "hashFunction": "HASH_FUNCTION_SHA256"});
        let kind = "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2";
        fixture.submit(&root, id, kind, &payload, NOW + number).expect("the payload is signed");
    }
    let query = HistoryQuery {
        words: vec!["\"tag".to_owned(), "0\"".to_owned()],
        limit: 10,
        ..HistoryQuery::default()
    };
    let page = operator::history(&fixture.memory, id, &query, NOW + 1000).expect("a page");
    assert!(page.activities.iter().all(|row| row.activity.id != first));
    assert!(page.next.is_some() && page.reached.is_some(), "the search goes on");
    let found = whole_history(&fixture, &query);
    assert!(found.iter().any(|one| one["id"] == first.to_string()), "and finds the oldest");
}
