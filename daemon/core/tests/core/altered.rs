//! Activities that wait for votes are what the head of their organization was sealed with. One that was put back, removed
//! or changed by someone with the disk is no consent: whatever reads it is refused, and nothing is recorded.

use quorate_common::activity::Status;
use quorate_common::fault::Fault;
use quorate_common::ids::ActivityId;
use quorate_core::consistency;
use quorate_core::model::{Organization, layout};
use quorate_core::operator::{self, ActivityQuery};
use quorate_core::queries;
use quorate_core::records;
use quorate_core::refusal::{Corrupt, Refusal};
use quorate_core::world::World;
use serde_json::json;

use crate::house::{House, NOW, Person};
use crate::memory::Memory;

const APPROVE: &str = "ACTIVITY_TYPE_APPROVE_ACTIVITY";
const REJECT: &str = "ACTIVITY_TYPE_REJECT_ACTIVITY";

/// An activity of a house in which three must agree, at three times: with one vote, with two, and after a rejection.
struct Case {
    house: House,
    id: ActivityId,
    body: Vec<u8>,
    one_vote: Memory,
    two_votes: Memory,
    rejected: Memory,
}

impl Case {
    fn new() -> Self {
        let mut house = House::found(2);
        let policy = json!({"policyName": "three", "effect": "EFFECT_ALLOW", "notes": "",
            "condition": "activity.kind == 'CREATE_USER_TAG'", "consensus": "approvers.count() >= 3"});
        house.agreed("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy);
        let (user, spare, root) = (house.user.clone(), house.spare.clone(), house.roots[0].clone());
        let tag = json!({"userTagName": "three", "userIds": []});
        let body = house.body(house.id, "ACTIVITY_TYPE_CREATE_USER_TAG", &tag, NOW);
        let made = house.send(&user, "create_user_tag", &body, NOW).expect("it waits");
        let text = |name: &str| made["activity"][name].as_str().expect("a text").to_owned();
        let target = json!({"fingerprint": text("fingerprint")});
        let one_vote = house.memory.clone();
        let votes = |house: &mut House, person: &Person, vote: &str| {
            house.submit(person, house.id, vote, &target, NOW).expect("the vote counts");
            house.memory.clone()
        };
        let two_votes = votes(&mut house, &spare, APPROVE);
        let rejected = votes(&mut house, &root, REJECT);
        let id = text("id").parse().expect("an id");
        Self { house, id, body, one_vote, two_votes, rejected }
    }

    fn record(&self) -> Vec<u8> {
        layout::activity(self.house.id, self.id)
    }

    /// The index entry by which the activity waits.
    fn entry(&self) -> Vec<u8> {
        let keys = self.two_votes.rows(b't').map(|(key, _)| key);
        let waiting = layout::activities_of_status(self.house.id, Status::ConsensusNeeded);
        let mut keys = keys.filter(|key| key.starts_with(&waiting));
        keys.find(|key| layout::activity_id(key) == Some(self.id)).expect("it waits").to_vec()
    }

    /// What each way of reading the activity comes to: the fault of the daemon, if it met one.
    fn read(&mut self, memory: &Memory) -> Vec<(&'static str, Option<Corrupt>)> {
        let id = self.house.id;
        let (spare, root) = (self.house.spare.clone(), self.house.roots[1].clone());
        let fingerprint = quorate_common::fingerprint::Fingerprint::of(&self.body);
        let target = json!({"fingerprint": fingerprint});
        let mut memory = memory.clone();
        let mut read = Vec::new();
        let votes = [("approve_activity", APPROVE), ("reject_activity", REJECT)];
        let mut bodies: Vec<_> = votes
            .map(|(operation, kind)| (operation, self.house.body(id, kind, &target, NOW)))
            .into_iter()
            .collect();
        bodies.push(("create_user_tag", self.body.clone()));
        for (operation, body) in bodies {
            for person in [&spare, &root] {
                let turn = memory.turn(operation, &person.stamps(&body), &body, NOW);
                assert!(turn.corrupt.is_none() || turn.commit.is_none(), "{operation} recorded something");
                read.push((operation, turn.corrupt));
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
            let turn = queries::query(&memory, NOW, name, &spare.stamps(&body), &body);
            // A list that does not come to the activity shows nothing of it.
            let shown = turn.answer.map_or_else(
                |_| true,
                |answer| String::from_utf8(answer).expect("JSON").contains(&self.id.to_string()),
            );
            if shown {
                read.push((name, turn.corrupt));
            }
        }
        let corrupt = |refusal: Refusal| match refusal {
            Refusal::Corrupt(corrupt) => Some(corrupt),
            _ => None,
        };
        for reference in [self.id.to_string(), fingerprint.to_string()] {
            let review = operator::review(&memory, id, &reference, NOW);
            read.push(("review", review.err().and_then(corrupt)));
        }
        let named = ActivityQuery { ids: vec![self.id], limit: 10, ..ActivityQuery::default() };
        let page = operator::activities(&memory, id, &named, NOW);
        read.push(("page", page.err().and_then(corrupt)));
        read
    }

    fn is_noticed(&mut self, memory: &Memory, what: &str) {
        let altered = Some(Corrupt::Altered(self.house.id));
        for (name, corrupt) in self.read(memory) {
            assert_eq!(corrupt, altered, "{what}: {name}");
        }
        assert!(!self.problems(memory).is_empty(), "{what}: a check of the store names nothing");
    }

    /// What a check of the whole store says of the activity.
    fn problems(&self, memory: &Memory) -> Vec<String> {
        let rows = memory.everything();
        let found = rows.iter().map(|(key, value)| consistency::problem(memory, key, value));
        let mut problems: Vec<String> =
            found.filter_map(|problem| problem.expect("it is readable")).collect();
        if let Err(Corrupt::Altered(id)) = records::organization(memory, self.house.id) {
            let surplus = consistency::surplus(memory, id).ok().flatten();
            problems.push(format!("organization {id}, surplus {surplus:?}"));
        }
        problems
    }
}

/// The store at one time, with these rows as they were at another.
fn altered(now: &Memory, from: &Memory, keys: &[Vec<u8>]) -> Memory {
    let mut memory = now.clone();
    for key in keys {
        memory.put_back(key, from.everything().get(key).cloned());
    }
    memory
}

#[test]
fn what_was_stored_is_served() {
    let mut case = Case::new();
    for memory in [case.one_vote.clone(), case.two_votes.clone(), case.rejected.clone()] {
        for (name, corrupt) in case.read(&memory) {
            assert_eq!(corrupt, None, "{name}");
        }
        assert_eq!(case.problems(&memory), Vec::<String>::new());
    }
}

#[test]
fn no_consent_comes_of_what_was_put_back() {
    let mut case = Case::new();
    let (record, entry) = (case.record(), case.entry());
    let (one, two, rejected) = (case.one_vote.clone(), case.two_votes.clone(), case.rejected.clone());
    let both = [record.clone(), entry.clone()];
    let (record, entry) = ([record], [entry]);
    for (what, now, from, keys) in [
        ("rejected, its record put back", &rejected, &two, record.as_slice()),
        ("rejected, record and index entry put back", &rejected, &two, &both),
        ("rejected, with fewer votes", &rejected, &one, &both),
        ("rejected, its index entry put back", &rejected, &two, &entry),
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
        case.is_noticed(&altered(now, from, keys), what);
    }
}

#[test]
fn a_check_names_the_activity_that_was_put_back() {
    let case = Case::new();
    let memory = altered(&case.rejected, &case.two_votes, &[case.record(), case.entry()]);
    let problems = case.problems(&memory).join("\n");
    let (activity, organization) = (case.id, case.house.id);
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
fn activities_of_version_0_1_are_covered_from_the_next_change_on() {
    let mut case = Case::new();
    let (record, entry) = ([case.record()], case.entry());
    case.two_votes.forget_digests();
    for (name, corrupt) in case.read(&case.two_votes.clone()) {
        assert_eq!(corrupt, None, "{name}");
    }
    assert_eq!(case.problems(&case.two_votes), Vec::<String>::new());
    // Anything that changes the organization.
    let mut changed = House::found(2);
    changed.memory = case.two_votes.clone();
    changed.agreed("ACTIVITY_TYPE_CREATE_WALLET", &json!({"walletName": "next", "accounts": []}));
    let changed = changed.memory;
    assert!(changed.everything()[&entry].is_empty(), "the entry is as version 0.1 wrote it");
    for (name, corrupt) in case.read(&changed) {
        assert_eq!(corrupt, None, "{name}");
    }
    case.is_noticed(&altered(&changed, &case.one_vote, &record), "with fewer votes");
    case.is_noticed(&altered(&changed, &Memory::default(), &record), "removed");
    case.is_noticed(&altered(&changed, &Memory::default(), &[entry]), "its index entry removed");
}

#[test]
fn an_activity_that_moved_on_is_no_alteration() {
    let case = Case::new();
    let snapshot = |memory: &Memory| -> Organization { memory.stored(case.house.id) };
    let old = snapshot(&case.two_votes);
    // The newer snapshot decides once there is one.
    let found = records::activity(&case.rejected, &old, case.id).expect("it moved on");
    assert_eq!(found.expect("it is there").status, Status::Rejected);
    // Until then the turn is to be repeated.
    let mut behind = case.rejected.clone();
    behind.cached = Some(old.clone().into());
    let outdated = Corrupt::Outdated(case.house.id, old.head.version);
    assert_eq!(records::activity(&behind, &old, case.id).map(drop), Err(outdated.clone()));
    let fault: Fault = Refusal::from(outdated).fault();
    assert_eq!(fault.message, "internal server error");
    assert!(behind.version(case.house.id).expect("a version") > old.head.version);
}
