//! Votes against a simple model: sets of people, times and a threshold. The histories are random: proposals,
//! votes, repeated bodies, changes of the quorum, deletions and clock jumps. After each step the stored state
//! equals the model, and these invariants hold:
//!
//! - every activity runs at most once;
//! - a status changes only along the permitted transitions, and a terminal status never changes;
//! - an activity that ran by consensus has enough approvals by distinct, existing members within the window,
//!   counted from the stored stamps alone, each of which verifies;
//! - a body counts as a vote of the same person only once, and not at all once it is too old;
//! - the root quorum can always be met, even when every expiring key has expired.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use quorate_common::activity::{Selection, Status, VOTE_WINDOW_MILLIS};
use quorate_common::api_error::Code;
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::UserId;
use quorate_common::stamp::StampKey;
use quorate_core::limits::{BODY_AGE_MILLIS, BODY_AHEAD_MILLIS, Limits};
use quorate_core::model::record::Record;
use quorate_core::model::{ActivityRecord, Millis, Organization, User};
use quorate_core::{creation, records};
use serde_json::{Value, json};

use crate::fixture::{AuthMethod, NOW, Person, new_user, operation, public_key};
use crate::memory::Memory;

/// Number of people at the start; the first three are the root quorum.
const PEOPLE: usize = 4;

/// A step of a history. Numbers select people and activities, modulo their count.
#[derive(Debug, Clone)]
enum Step {
    Propose {
        by: usize,
        what: Proposal,
    },
    Approve {
        by: usize,
        which: usize,
    },
    Reject {
        by: usize,
        which: usize,
    },
    /// Anybody sends exactly the bytes of a proposal.
    Repeat {
        by: usize,
        which: usize,
    },
    /// The clock moves backward or forward.
    Clock {
        minutes: i64,
    },
}

/// A proposal, with numbers that select people.
#[derive(Debug, Clone)]
enum Proposal {
    AddUser,
    /// Adds a user whose only key expires after this number of minutes.
    AddGuest(u16),
    DeleteUser(usize),
    Quorum {
        threshold: i32,
        members: Vec<usize>,
    },
}

fn proposal() -> impl Strategy<Value = Proposal> {
    let threshold = prop_oneof![1 => -1..1i32, 9 => 1..4i32];
    prop_oneof![
        3 => Just(Proposal::AddUser),
        2 => (1..2000u16).prop_map(Proposal::AddGuest),
        2 => (0..6usize).prop_map(Proposal::DeleteUser),
        3 => (threshold, prop::collection::vec(0..6usize, 0..6))
            .prop_map(|(threshold, members)| Proposal::Quorum { threshold, members }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    // The first people act most often: they are the initial root quorum.
    let who = || prop_oneof![5 => 0..3usize, 2 => 3..8usize];
    let pair = || (who(), 0..16usize);
    prop_oneof![
        4 => (who(), proposal()).prop_map(|(by, what)| Step::Propose { by, what }),
        6 => pair().prop_map(|(by, which)| Step::Approve { by, which }),
        1 => pair().prop_map(|(by, which)| Step::Reject { by, which }),
        2 => pair().prop_map(|(by, which)| Step::Repeat { by, which }),
        1 => (-120..1800i64).prop_map(|minutes| Step::Clock { minutes }),
    ]
}

/// The effect of a proposal, with its numbers resolved to people.
#[derive(Debug, Clone)]
enum ModelEffect {
    AddUser { number: u32, minutes: Option<u16> },
    DeleteUser(usize),
    Quorum { threshold: i32, members: Vec<usize> },
}

/// An activity of the model.
#[derive(Debug, Clone)]
struct ModelActivity {
    body: Vec<u8>,
    activity_type: &'static str,
    proposer: usize,
    effect: ModelEffect,
    approvals: Vec<(usize, Millis)>,
    /// People who voted by sending the same body.
    senders: BTreeSet<usize>,
    status: Status,
    proposed: Millis,
    waited: bool,
}

/// The model and the tested core.
struct History {
    memory: Memory,
    home: quorate_common::ids::OrganizationId,
    now: Millis,
    serial: u64,
    people: Vec<Person>,
    existing: BTreeSet<usize>,
    /// Expiry of the only key of a person.
    expirations: BTreeMap<usize, Millis>,
    members: BTreeSet<usize>,
    threshold: usize,
    activities: Vec<ModelActivity>,
    seen: BTreeMap<String, Status>,
}

impl History {
    fn start() -> Self {
        let mut memory = Memory::default();
        let users = (0..3).map(|number| new_user(&format!("person {number}"), number)).collect();
        let new_organization = memory.with_runtime(NOW, |world, runtime| {
            let name = quorate_common::bounded::Label::parse("club".to_owned()).expect("a label");
            let index = quorate_core::world::World::index(world);
            creation::organization(name, users, 2, &Limits::default(), index, runtime)
        });
        let new_organization = new_organization.unwrap_or_else(|error| panic!("{error:?}"));
        memory.commit(new_organization.commit);
        let home = new_organization.id;
        let people = new_organization.root_users.iter().zip(0..).map(|(user, number)| Person {
            home,
            user: user.id,
            keys: Vec::new(),
            number,
            auth: AuthMethod::Stamp,
            authenticator: None,
            provider: None,
        });
        let mut history = Self {
            memory,
            home,
            now: NOW,
            serial: 0,
            people: people.collect(),
            existing: (0..3).collect(),
            expirations: BTreeMap::new(),
            members: (0..3).collect(),
            threshold: 2,
            activities: Vec::new(),
            seen: BTreeMap::new(),
        };
        history.apply(&Step::Propose { by: 0, what: Proposal::AddUser });
        history.apply(&Step::Approve { by: 1, which: 0 });
        assert_eq!(history.people.len(), PEOPLE);
        history
    }

    fn apply(&mut self, step: &Step) {
        let before = self.organization();
        let quorum = (self.members.clone(), self.threshold);
        match step {
            Step::Clock { minutes } => self.now = self.now.saturating_add_signed(minutes * 60_000),
            Step::Propose { by, what } => self.propose(by % self.people.len(), what),
            Step::Approve { by, which } => self.vote(by % self.people.len(), *which, Selection::Approved),
            Step::Reject { by, which } => self.vote(by % self.people.len(), *which, Selection::Rejected),
            Step::Repeat { by, which } => self.repeat(by % self.people.len(), *which),
        }
        self.assert_matches_model();
        self.assert_valid_transitions(&before, &quorum);
    }

    fn organization(&self) -> Organization {
        self.memory.stored(self.home)
    }

    fn body(&mut self, activity_type: &str, parameters: &Value) -> Vec<u8> {
        self.serial += 1;
        let body = json!({"type": activity_type, "timestampMs": self.now.to_string(), "organizationId": self.home,
            "parameters": parameters, "serial": self.serial});
        body.to_string().into_bytes()
    }

    fn send(&mut self, by: usize, activity_type: &str, body: &[u8]) -> Result<Value, Code> {
        let stamps = self.people[by].stamps(body);
        let answer = self.memory.submit(&operation(activity_type), &stamps, body, self.now);
        answer.map_err(|error| error.code)
    }

    fn propose(&mut self, by: usize, what: &Proposal) {
        let count = self.people.len();
        let (effect, activity_type, parameters) = match what {
            Proposal::AddUser | Proposal::AddGuest(_) => {
                let minutes = if let Proposal::AddGuest(minutes) = what { Some(*minutes) } else { None };
                let number = u32::try_from(100 + self.serial).expect("a small number");
                let mut key = json!({"apiKeyName": "key", "publicKey": public_key(number)});
                if let Some(minutes) = minutes {
                    key["expirationSeconds"] = json!((u32::from(minutes) * 60).to_string());
                }
                let user = json!({"userName": format!("person {number}"), "apiKeys": [key]});
                (
                    ModelEffect::AddUser { number, minutes },
                    "ACTIVITY_TYPE_CREATE_API_ONLY_USERS",
                    json!({"apiOnlyUsers": [user]}),
                )
            }
            Proposal::DeleteUser(person) => {
                let person = person % count;
                let parameters = json!({"userIds": [self.people[person].user]});
                (ModelEffect::DeleteUser(person), "ACTIVITY_TYPE_DELETE_USERS", parameters)
            }
            Proposal::Quorum { threshold, members } => {
                let members: BTreeSet<usize> = members.iter().map(|person| person % count).collect();
                let members: Vec<usize> = members.into_iter().collect();
                let ids: Vec<UserId> = members.iter().map(|person| self.people[*person].user).collect();
                let parameters = json!({"threshold": threshold, "userIds": ids});
                (
                    ModelEffect::Quorum { threshold: *threshold, members },
                    "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM",
                    parameters,
                )
            }
        };
        let body = self.body(activity_type, &parameters);
        let answer = self.send(by, activity_type, &body).map(drop);
        let mut activity = ModelActivity {
            body,
            activity_type,
            proposer: by,
            effect,
            approvals: vec![(by, self.now)],
            senders: BTreeSet::from([by]),
            status: Status::ConsensusNeeded,
            proposed: self.now,
            waited: false,
        };
        let expected_error = self.expected_error(&activity.effect);
        let expected = if !self.can_stamp(by) {
            Err(Code::Unauthenticated)
        } else if let Some(code @ Code::InvalidArgument) = expected_error {
            Err(code)
        } else {
            let is_met = self.count_approvals(&activity) >= self.threshold;
            let outcome = match expected_error {
                _ if !is_met && !self.members.contains(&by) => Err(Code::PermissionDenied),
                Some(code) => Err(code),
                None => Ok(()),
            };
            activity.status = match outcome {
                Err(Code::PermissionDenied) => Status::Rejected,
                Err(_) => Status::Failed,
                Ok(()) if is_met => self.perform(&activity.effect),
                Ok(()) => Status::ConsensusNeeded,
            };
            activity.waited = activity.status == Status::ConsensusNeeded;
            self.activities.push(activity);
            outcome
        };
        assert_eq!(answer, expected, "{what:?} by {by}");
    }

    fn vote(&mut self, by: usize, which: usize, selection: Selection) {
        if self.activities.is_empty() {
            return;
        }
        let which = which % self.activities.len();
        let fingerprint = Fingerprint::of(&self.activities[which].body);
        let activity_type = match selection {
            Selection::Approved => "ACTIVITY_TYPE_APPROVE_ACTIVITY",
            Selection::Rejected => "ACTIVITY_TYPE_REJECT_ACTIVITY",
        };
        let body = self.body(activity_type, &json!({"fingerprint": fingerprint}));
        let answer = self.send(by, activity_type, &body).map(drop);
        let activity = self.activities[which].clone();
        let may_vote = self.members.contains(&by) || activity.proposer == by;
        let expected = if !self.can_stamp(by) {
            Err(Code::Unauthenticated)
        } else if !(activity.waited || self.is_recent(activity.proposed)) {
            // Only activities that waited are always found by fingerprint.
            Err(Code::NotFound)
        } else if !activity.status.is_terminal() && !may_vote {
            Err(Code::PermissionDenied)
        } else {
            Ok(())
        };
        assert_eq!(answer, expected, "{selection:?} by {by} of {which}");
        if expected.is_ok() && !activity.status.is_terminal() {
            match selection {
                Selection::Approved => self.approve(by, which),
                Selection::Rejected => self.activities[which].status = Status::Rejected,
            }
        }
    }

    fn repeat(&mut self, by: usize, which: usize) {
        if self.activities.is_empty() {
            return;
        }
        let which = which % self.activities.len();
        let activity = self.activities[which].clone();
        let answer = self.send(by, activity.activity_type, &activity.body).map(drop);
        if !self.can_stamp(by) {
            assert_eq!(answer, Err(Code::Unauthenticated));
        } else if activity.status == Status::ConsensusNeeded {
            let is_vote = self.members.contains(&by)
                && !activity.senders.contains(&by)
                && !self.current_approvers(&activity).contains(&by);
            if is_vote && !self.is_recent(activity.proposed) {
                assert_eq!(answer, Err(Code::InvalidArgument), "a vote by a body that is too old");
                return;
            }
            assert_eq!(answer, Ok(()));
            if is_vote {
                self.activities[which].senders.insert(by);
                self.approve(by, which);
            }
        }
    }

    /// Returns whether the stamps of a person are accepted.
    fn can_stamp(&self, person: usize) -> bool {
        self.existing.contains(&person) && self.expirations.get(&person).is_none_or(|end| self.now < *end)
    }

    /// Adds an approval, unless the person has one that still counts. Then performs the activity if it has
    /// enough.
    fn approve(&mut self, by: usize, which: usize) {
        if self.current_approvers(&self.activities[which]).contains(&by) {
            return;
        }
        let now = self.now;
        self.activities[which].approvals.push((by, now));
        let activity = self.activities[which].clone();
        if self.count_approvals(&activity) >= self.threshold {
            let status = if self.expected_error(&activity.effect).is_some() {
                Status::Failed
            } else {
                self.perform(&activity.effect)
            };
            self.activities[which].status = status;
        }
    }

    /// Returns whether a body with this timestamp may be sent now.
    fn is_recent(&self, proposed: Millis) -> bool {
        proposed + BODY_AGE_MILLIS >= self.now && self.now + BODY_AHEAD_MILLIS >= proposed
    }

    /// Returns the people whose approval of an activity counts now.
    fn current_approvers(&self, activity: &ModelActivity) -> BTreeSet<usize> {
        let recent = |at: Millis| self.now.saturating_sub(at) < VOTE_WINDOW_MILLIS;
        let counted =
            activity.approvals.iter().filter(|(person, at)| recent(*at) && self.existing.contains(person));
        counted.map(|(person, _)| *person).collect()
    }

    /// Returns how many members of the root quorum approve an activity now.
    fn count_approvals(&self, activity: &ModelActivity) -> usize {
        self.current_approvers(activity).intersection(&self.members).count()
    }

    /// Returns the error with which an effect would fail now.
    fn expected_error(&self, effect: &ModelEffect) -> Option<Code> {
        match effect {
            ModelEffect::AddUser { .. } => None,
            ModelEffect::DeleteUser(person) if !self.existing.contains(person) => Some(Code::NotFound),
            ModelEffect::DeleteUser(person) => self.members.contains(person).then_some(Code::InvalidArgument),
            ModelEffect::Quorum { threshold, members } => {
                let known =
                    !members.is_empty() && members.iter().all(|member| self.existing.contains(member));
                let fits = usize::try_from(*threshold)
                    .is_ok_and(|threshold| (1..=members.len()).contains(&threshold));
                let lasting = members.iter().filter(|member| !self.expirations.contains_key(member)).count();
                let is_enough = usize::try_from(*threshold).is_ok_and(|threshold| lasting >= threshold);
                (!known || !fits || !is_enough).then_some(Code::InvalidArgument)
            }
        }
    }

    fn perform(&mut self, effect: &ModelEffect) -> Status {
        match effect {
            ModelEffect::AddUser { number, minutes } => {
                let organization = self.organization();
                let name = format!("person {number}");
                let created = organization.users().find(|user| user.name.as_str() == name);
                let user = created.unwrap_or_else(|| panic!("{name} does not exist")).id;
                self.existing.insert(self.people.len());
                if let Some(minutes) = minutes {
                    self.expirations.insert(self.people.len(), self.now + u64::from(*minutes) * 60_000);
                }
                self.people.push(Person {
                    home: self.home,
                    user,
                    keys: Vec::new(),
                    number: *number,
                    auth: AuthMethod::Stamp,
                    authenticator: None,
                    provider: None,
                });
            }
            ModelEffect::DeleteUser(person) => drop(self.existing.remove(person)),
            ModelEffect::Quorum { threshold, members } => {
                self.threshold = usize::try_from(*threshold).expect("the threshold was checked");
                self.members = members.iter().copied().collect();
            }
        }
        Status::Completed
    }

    fn record(&self, activity: &ModelActivity) -> ActivityRecord {
        let organization = self.organization();
        let fingerprint = Fingerprint::of(&activity.body);
        let known = records::processed_body(
            &self.memory,
            &organization,
            &records::SentBody::new(activity.proposed, fingerprint),
        );
        match known.expect("the store is readable").expect("the body is stored") {
            records::ProcessedBody::Activity(record) => *record,
            records::ProcessedBody::Denied => panic!("an activity is missing: {activity:?}"),
        }
    }

    /// Asserts that the stored state equals the model, and that no user was created twice.
    fn assert_matches_model(&self) {
        let organization = self.organization();
        for activity in &self.activities {
            assert_eq!(self.record(activity).status, activity.status, "{activity:?}");
        }
        let users: BTreeSet<UserId> = organization.users().map(|user| user.id).collect();
        let existing: BTreeSet<UserId> =
            self.existing.iter().map(|person| self.people[*person].user).collect();
        assert_eq!(users, existing, "the users equal those of the model");
        let names: BTreeSet<&str> = organization.users().map(|user| user.name.as_str()).collect();
        assert_eq!(names.len(), users.len(), "a user was created twice");
        let quorum = &organization.head.quorum;
        let members: BTreeSet<UserId> = self.members.iter().map(|person| self.people[*person].user).collect();
        assert_eq!(quorum.members.iter().copied().collect::<BTreeSet<_>>(), members);
        assert_eq!(usize::try_from(quorum.threshold).expect("a small number"), self.threshold);
        let members = quorum.members.iter().filter_map(|member| organization.user(*member));
        let has_lasting_key = |user: &&User| user.api_keys.iter().any(|key| key.expiration_seconds.is_none());
        let lasting = members.filter(has_lasting_key).count();
        assert!(
            (1..=lasting).contains(&self.threshold),
            "{lasting} members can meet a threshold of {}",
            self.threshold
        );
    }

    /// Asserts that statuses changed as permitted, and that activities which ran in this step had enough
    /// approvals.
    fn assert_valid_transitions(&mut self, before: &Organization, quorum: &(BTreeSet<usize>, usize)) {
        let rows: Vec<ActivityRecord> = self
            .memory
            .rows(b'a')
            .map(|(_, bytes)| ActivityRecord::decode(bytes).expect("the record decodes"))
            .collect();
        for record in rows {
            let old = self.seen.insert(record.fingerprint.to_string(), record.status);
            match (old, record.status) {
                (Some(old), new) if old == new => continue,
                (
                    None | Some(Status::ConsensusNeeded),
                    Status::Completed | Status::Failed | Status::Rejected,
                )
                | (None, Status::ConsensusNeeded) => {}
                (old, new) => panic!("a status changed from {old:?} to {new:?}"),
            }
            if record.status == Status::Completed
                && self
                    .activities
                    .iter()
                    .any(|activity| Fingerprint::of(&activity.body) == record.fingerprint)
            {
                self.assert_had_consent(&record, before, quorum);
            }
        }
    }

    /// Recounts the approvals of an activity from its stored stamps, with the users from before it ran.
    fn assert_had_consent(
        &self,
        record: &ActivityRecord,
        before: &Organization,
        (members, threshold): &(BTreeSet<usize>, usize),
    ) {
        let members: BTreeSet<UserId> = members.iter().map(|person| self.people[*person].user).collect();
        let mut consenting = BTreeSet::new();
        let mut bodies = BTreeSet::new();
        for vote in &record.votes {
            assert!(bodies.insert((vote.user, &vote.message)), "one body is two votes of the same person");
            let key = StampKey::parse(vote.scheme.curve().expect("an API key's"), &vote.public_key)
                .expect("a vote has a key");
            assert!(
                key.verify(vote.scheme, vote.message.as_bytes(), &vote.signature),
                "a vote does not verify"
            );
            let message: Value = serde_json::from_str(&vote.message).expect("a vote is a request");
            let is_same = Fingerprint::of(vote.message.as_bytes()) == record.fingerprint;
            let named = message["parameters"]["fingerprint"] == record.fingerprint.to_string();
            assert!(is_same || named, "a vote is for something else");
            let owner = before
                .user(vote.user)
                .filter(|user| user.api_keys.iter().any(|key| key.public_key == vote.public_key));
            let recent = self.now.saturating_sub(vote.created) < VOTE_WINDOW_MILLIS;
            if vote.selection == Selection::Approved
                && recent
                && owner.is_some()
                && members.contains(&vote.user)
            {
                consenting.insert(vote.user);
            }
        }
        assert!(consenting.len() >= *threshold, "{} of {threshold} approved", consenting.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, max_shrink_iters: 2000, ..ProptestConfig::default() })]

    #[test]
    fn votes_match_the_model(steps in prop::collection::vec(step(), 1..60)) {
        let mut history = History::start();
        for step in &steps {
            history.apply(step);
        }
    }
}
