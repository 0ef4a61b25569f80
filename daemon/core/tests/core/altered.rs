//! The head of an organization seals its activities that wait for votes. If someone with access to the disk
//! restores, removes or changes such a record, every request that reads it fails, and nothing is recorded.

use quorate_common::activity::Status;
use quorate_common::api_error::ApiError;
use quorate_common::ids::ActivityId;
use quorate_core::consistency;
use quorate_core::error::{Corrupt, RequestError};
use quorate_core::model::{Organization, layout};
use quorate_core::operator::{self, ActivityQuery};
use quorate_core::records;
use quorate_core::world::World;
use serde_json::json;

use crate::fixture::{Fixture, NOW, Person};
use crate::memory::Memory;

const APPROVE: &str = "ACTIVITY_TYPE_APPROVE_ACTIVITY";
const REJECT: &str = "ACTIVITY_TYPE_REJECT_ACTIVITY";

/// An activity that needs three approvals, at three times: with one vote, with two, and after a rejection.
struct Scenario {
    fixture: Fixture,
    id: ActivityId,
    body: Vec<u8>,
    one_vote: Memory,
    two_votes: Memory,
    rejected: Memory,
}

impl Scenario {
    fn new() -> Self {
        let mut fixture = Fixture::new(2);
        let policy = json!({"policyName": "three", "effect": "EFFECT_ALLOW", "notes": "",
            "condition": "activity.kind == 'CREATE_USER_TAG'", "consensus": "approvers.count() >= 3"});
        fixture.execute("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy);
        let (user, spare, root) = (fixture.user.clone(), fixture.spare.clone(), fixture.roots[0].clone());
        let tag = json!({"userTagName": "three", "userIds": []});
        let body = fixture.body(fixture.id, "ACTIVITY_TYPE_CREATE_USER_TAG", &tag, NOW);
        let created = fixture.send(&user, "create_user_tag", &body, NOW).expect("the activity waits");
        let text = |name: &str| created["activity"][name].as_str().expect("a text").to_owned();
        let target = json!({"fingerprint": text("fingerprint")});
        let one_vote = fixture.memory.clone();
        let votes = |fixture: &mut Fixture, person: &Person, vote: &str| {
            fixture.submit(person, fixture.id, vote, &target, NOW).expect("the vote is accepted");
            fixture.memory.clone()
        };
        let two_votes = votes(&mut fixture, &spare, APPROVE);
        let rejected = votes(&mut fixture, &root, REJECT);
        let id = text("id").parse().expect("an id");
        Self { fixture, id, body, one_vote, two_votes, rejected }
    }

    fn record(&self) -> Vec<u8> {
        layout::activity(self.fixture.id, self.id)
    }

    /// Returns the key of the index entry of the waiting activity.
    fn entry(&self) -> Vec<u8> {
        let keys = self.two_votes.rows(b't').map(|(key, _)| key);
        let waiting = layout::activities_of_status(self.fixture.id, Status::ConsensusNeeded);
        let mut keys = keys.filter(|key| key.starts_with(&waiting));
        keys.find(|key| layout::activity_id(key) == Some(self.id)).expect("the activity waits").to_vec()
    }

    /// Reads the activity in every possible way. Returns the internal error of each, if there is one.
    fn read_all_ways(&mut self, memory: &Memory) -> Vec<(&'static str, Option<Corrupt>)> {
        let id = self.fixture.id;
        let (spare, root) = (self.fixture.spare.clone(), self.fixture.roots[1].clone());
        let fingerprint = quorate_common::fingerprint::Fingerprint::of(&self.body);
        let target = json!({"fingerprint": fingerprint});
        let mut memory = memory.clone();
        let mut errors = Vec::new();
        let votes = [("approve_activity", APPROVE), ("reject_activity", REJECT)];
        let mut bodies: Vec<_> = votes
            .map(|(operation, kind)| (operation, self.fixture.body(id, kind, &target, NOW)))
            .into_iter()
            .collect();
        bodies.push(("create_user_tag", self.body.clone()));
        for (operation, body) in bodies {
            for person in [&spare, &root] {
                let attempt = memory.attempt(operation, &person.stamps(&body), &body, NOW);
                assert!(
                    attempt.corrupt.is_none() || attempt.commit.is_none(),
                    "{operation} recorded something"
                );
                errors.push((operation, attempt.corrupt));
            }
        }
        let get = json!({"organizationId": id, "activityId": self.id});
        let page = json!({"limit": "100"});
        let all = json!({"organizationId": id, "paginationOptions": page});
        let waiting = json!({"organizationId": id, "paginationOptions": page,
            "filterByStatus": ["ACTIVITY_STATUS_CONSENSUS_NEEDED"]});
        for (name, body) in [
            ("get_activity", get.clone()),
            ("get_policy_evaluations", get),
            ("list_activities", all),
            ("list_activities", waiting),
        ] {
            let body = body.to_string().into_bytes();
            let attempt = memory.attempt_query(name, &spare.stamps(&body), &body, NOW);
            // A list that does not reach the activity cannot detect anything.
            let is_shown = attempt.answer.map_or_else(
                |_| true,
                |answer| String::from_utf8(answer).expect("JSON").contains(&self.id.to_string()),
            );
            if is_shown {
                errors.push((name, attempt.corrupt));
            }
        }
        let corrupt = |error: RequestError| match error {
            RequestError::Corrupt(corrupt) => Some(corrupt),
            _ => None,
        };
        for reference in [self.id.to_string(), fingerprint.to_string()] {
            let review = operator::review(&memory, id, &reference, None, NOW);
            errors.push(("review", review.err().and_then(corrupt)));
        }
        let by_id = ActivityQuery { ids: vec![self.id], limit: 10, ..ActivityQuery::default() };
        let page = operator::activities(&memory, id, &by_id, NOW);
        errors.push(("page", page.err().and_then(corrupt)));
        errors
    }

    fn assert_detected(&mut self, memory: &Memory, what: &str) {
        let altered = Some(Corrupt::Altered(self.fixture.id));
        for (name, corrupt) in self.read_all_ways(memory) {
            assert_eq!(corrupt, altered, "{what}: {name}");
        }
        assert!(!self.problems(memory).is_empty(), "{what}: the store check reports nothing");
    }

    /// Returns the problems that a check of the whole store reports.
    fn problems(&self, memory: &Memory) -> Vec<String> {
        let rows = memory.all_rows();
        let checked = rows.iter().map(|(key, value)| consistency::problem(memory, key, value));
        let mut problems: Vec<String> =
            checked.filter_map(|problem| problem.expect("the store is readable")).collect();
        if let Err(Corrupt::Altered(id)) = records::organization(memory, self.fixture.id) {
            let surplus = consistency::surplus(memory, id).ok().flatten();
            problems.push(format!("organization {id}, surplus {surplus:?}"));
        }
        problems
    }
}

/// Returns the store at one time, with these rows as they were at another time.
fn altered(now: &Memory, from: &Memory, keys: &[Vec<u8>]) -> Memory {
    let mut memory = now.clone();
    for key in keys {
        memory.set_row(key, from.all_rows().get(key).cloned());
    }
    memory
}

#[test]
fn intact_activities_are_readable() {
    let mut scenario = Scenario::new();
    for memory in [scenario.one_vote.clone(), scenario.two_votes.clone(), scenario.rejected.clone()] {
        for (name, corrupt) in scenario.read_all_ways(&memory) {
            assert_eq!(corrupt, None, "{name}");
        }
        assert_eq!(scenario.problems(&memory), Vec::<String>::new());
    }
}

#[test]
fn restored_or_removed_records_are_detected() {
    let mut scenario = Scenario::new();
    let (record, entry) = (scenario.record(), scenario.entry());
    let (one, two, rejected) =
        (scenario.one_vote.clone(), scenario.two_votes.clone(), scenario.rejected.clone());
    let both = [record.clone(), entry.clone()];
    let (record, entry) = ([record], [entry]);
    for (what, now, from, keys) in [
        ("rejected, its record restored", &rejected, &two, record.as_slice()),
        ("rejected, record and index entry restored", &rejected, &two, &both),
        ("rejected, with fewer votes", &rejected, &one, &both),
        ("rejected, its index entry restored", &rejected, &two, &entry),
        ("waiting, with fewer votes", &two, &one, &record),
        ("waiting, with the index entry of fewer votes", &two, &one, &entry),
        ("waiting, with fewer votes and their index entry", &two, &one, &both),
        ("waiting, with more votes", &one, &two, &record),
        ("waiting, with more votes and their index entry", &one, &two, &both),
        ("waiting, its record as it was rejected", &two, &rejected, &record),
        ("waiting, its record removed", &two, &Memory::default(), &record),
        ("waiting, its index entry removed", &two, &Memory::default(), &entry),
        ("waiting, both removed", &two, &Memory::default(), &both),
    ] {
        scenario.assert_detected(&altered(now, from, keys), what);
    }
}

#[test]
fn store_check_reports_a_restored_activity() {
    let scenario = Scenario::new();
    let memory = altered(&scenario.rejected, &scenario.two_votes, &[scenario.record(), scenario.entry()]);
    let problems = scenario.problems(&memory).join("\n");
    let (activity, organization) = (scenario.id, scenario.fixture.id);
    for name in [
        format!(
            "activity {activity} of organization {organization}: an index entry lists it with status REJECTED, \
             but its record has CONSENSUS_NEEDED"
        ),
        format!("organization {organization}, surplus Some({activity:?})"),
    ] {
        assert!(problems.contains(&name), "{name}\n{problems}");
    }
}

#[test]
fn activities_of_version_0_1_are_protected_after_the_next_change() {
    let mut scenario = Scenario::new();
    let (record, entry) = ([scenario.record()], scenario.entry());
    scenario.two_votes.remove_digests();
    for (name, corrupt) in scenario.read_all_ways(&scenario.two_votes.clone()) {
        assert_eq!(corrupt, None, "{name}");
    }
    assert_eq!(scenario.problems(&scenario.two_votes), Vec::<String>::new());
    // Any change of the organization.
    let mut changed = Fixture::new(2);
    changed.memory = scenario.two_votes.clone();
    changed.execute("ACTIVITY_TYPE_CREATE_WALLET", &json!({"walletName": "next", "accounts": []}));
    let changed = changed.memory;
    assert!(changed.all_rows()[&entry].is_empty(), "the entry is as version 0.1 wrote it");
    for (name, corrupt) in scenario.read_all_ways(&changed) {
        assert_eq!(corrupt, None, "{name}");
    }
    scenario.assert_detected(&altered(&changed, &scenario.one_vote, &record), "with fewer votes");
    scenario.assert_detected(&altered(&changed, &Memory::default(), &record), "removed");
    scenario.assert_detected(&altered(&changed, &Memory::default(), &[entry]), "its index entry removed");
}

#[test]
fn concurrent_changes_are_not_reported_as_alterations() {
    let scenario = Scenario::new();
    let snapshot = |memory: &Memory| -> Organization { memory.stored(scenario.fixture.id) };
    let old = snapshot(&scenario.two_votes);
    // Once there is a newer snapshot, it decides.
    let newer = records::activity(&scenario.rejected, &old, scenario.id).expect("the record is readable");
    assert_eq!(newer.expect("the record exists").status, Status::Rejected);
    // Until then the attempt must be repeated.
    let mut behind = scenario.rejected.clone();
    behind.cached = Some(old.clone().into());
    let outdated = Corrupt::Outdated(scenario.fixture.id, old.head.version);
    assert_eq!(records::activity(&behind, &old, scenario.id).map(drop), Err(outdated.clone()));
    let error: ApiError = RequestError::from(outdated).api_error();
    assert_eq!(error.message, "internal server error");
    assert!(behind.version(scenario.fixture.id).expect("a version") > old.head.version);
}
