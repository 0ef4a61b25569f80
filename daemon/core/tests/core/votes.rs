//! Votes against a plain model: sets of people, times and a threshold. Random histories of proposals, votes,
//! repeated bodies, changes of the quorum, deletions and clock jumps; after each step the stored state is what
//! the model says, and these hold:
//!
//! - what ran, ran once;
//! - a status moves along the permitted arrows only, and an ended activity never changes;
//! - what ran by consent has enough approvals by distinct, living members within the window, counted from the
//!   stored stamps alone, each of which verifies;
//! - a body that was a vote once is never a vote of the same person again, and none is once it is too old;
//! - the root quorum can always be met, also when every key that expires has expired.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use quorate_common::activity::{Selection, Status, VOTE_WINDOW_MILLIS};
use quorate_common::fault::Code;
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::UserId;
use quorate_common::stamp::StampKey;
use quorate_core::limits::{BODY_AGE_MILLIS, BODY_AHEAD_MILLIS, Limits};
use quorate_core::model::record::Record;
use quorate_core::model::{ActivityRecord, Millis, Organization, User};
use quorate_core::{founding, records};
use serde_json::{Value, json};

use crate::house::{NOW, Person, Shown, new_user, operation, public_key};
use crate::memory::Memory;

/// How many people there are at the start; the first three are the root quorum.
const PEOPLE: usize = 4;

/// One thing that happens. Numbers name people and activities, counted round.
#[derive(Debug, Clone)]
enum Step {
    Propose {
        by: usize,
        what: Wish,
    },
    Approve {
        by: usize,
        which: usize,
    },
    Reject {
        by: usize,
        which: usize,
    },
    /// The very bytes of a proposal, sent by anybody.
    Repeat {
        by: usize,
        which: usize,
    },
    /// The clock moves, back or forth.
    Clock {
        minutes: i64,
    },
}

/// What is proposed, in numbers of people.
#[derive(Debug, Clone)]
enum Wish {
    AddUser,
    /// A user whose only key expires after so many minutes.
    AddGuest(u16),
    DeleteUser(usize),
    Quorum {
        threshold: i32,
        members: Vec<usize>,
    },
}

fn wish() -> impl Strategy<Value = Wish> {
    let threshold = prop_oneof![1 => -1..1i32, 9 => 1..4i32];
    prop_oneof![
        3 => Just(Wish::AddUser),
        2 => (1..2000u16).prop_map(Wish::AddGuest),
        2 => (0..6usize).prop_map(Wish::DeleteUser),
        3 => (threshold, prop::collection::vec(0..6usize, 0..6))
            .prop_map(|(threshold, members)| Wish::Quorum { threshold, members }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    // The first people are asked most: they are the root quorum for a start.
    let who = || prop_oneof![5 => 0..3usize, 2 => 3..8usize];
    let pair = || (who(), 0..16usize);
    prop_oneof![
        4 => (who(), wish()).prop_map(|(by, what)| Step::Propose { by, what }),
        6 => pair().prop_map(|(by, which)| Step::Approve { by, which }),
        1 => pair().prop_map(|(by, which)| Step::Reject { by, which }),
        2 => pair().prop_map(|(by, which)| Step::Repeat { by, which }),
        1 => (-120..1800i64).prop_map(|minutes| Step::Clock { minutes }),
    ]
}

/// What a proposal does, once it is about people.
#[derive(Debug, Clone)]
enum Deed {
    AddUser { number: u32, minutes: Option<u16> },
    DeleteUser(usize),
    Quorum { threshold: i32, members: Vec<usize> },
}

/// An activity as the model sees it.
#[derive(Debug, Clone)]
struct Case {
    body: Vec<u8>,
    activity_type: &'static str,
    proposer: usize,
    deed: Deed,
    approvals: Vec<(usize, Millis)>,
    /// Who voted by sending the very body.
    senders: BTreeSet<usize>,
    status: Status,
    proposed: Millis,
    waited: bool,
}

/// The model and the thing itself.
struct History {
    memory: Memory,
    home: quorate_common::ids::OrganizationId,
    now: Millis,
    serial: u64,
    people: Vec<Person>,
    living: BTreeSet<usize>,
    /// When the only key of a person expires.
    ends: BTreeMap<usize, Millis>,
    members: BTreeSet<usize>,
    threshold: usize,
    cases: Vec<Case>,
    seen: BTreeMap<String, Status>,
}

impl History {
    fn begin() -> Self {
        let mut memory = Memory::default();
        let users = (0..3).map(|number| new_user(&format!("person {number}"), number)).collect();
        let founded = memory.with_moment(NOW, |world, moment| {
            let name = quorate_common::bounded::Label::parse("club".to_owned()).expect("a label");
            let index = quorate_core::world::World::index(world);
            founding::organization(name, users, 2, &Limits::default(), index, moment)
        });
        let founded = founded.unwrap_or_else(|refusal| panic!("{refusal:?}"));
        memory.commit(founded.commit);
        let home = founded.id;
        let people = founded.root_users.iter().zip(0..).map(|(user, number)| Person {
            home,
            user: user.id,
            keys: Vec::new(),
            number,
            shows: Shown::Stamp,
            authenticator: None,
            provider: None,
        });
        let mut history = Self {
            memory,
            home,
            now: NOW,
            serial: 0,
            people: people.collect(),
            living: (0..3).collect(),
            ends: BTreeMap::new(),
            members: (0..3).collect(),
            threshold: 2,
            cases: Vec::new(),
            seen: BTreeMap::new(),
        };
        history.take(&Step::Propose { by: 0, what: Wish::AddUser });
        history.take(&Step::Approve { by: 1, which: 0 });
        assert_eq!(history.people.len(), PEOPLE);
        history
    }

    fn take(&mut self, step: &Step) {
        let before = self.organization();
        let quorum = (self.members.clone(), self.threshold);
        match step {
            Step::Clock { minutes } => self.now = self.now.saturating_add_signed(minutes * 60_000),
            Step::Propose { by, what } => self.propose(by % self.people.len(), what),
            Step::Approve { by, which } => self.vote(by % self.people.len(), *which, Selection::Approved),
            Step::Reject { by, which } => self.vote(by % self.people.len(), *which, Selection::Rejected),
            Step::Repeat { by, which } => self.repeat(by % self.people.len(), *which),
        }
        self.agrees_with_the_model();
        self.moves_along_arrows(&before, &quorum);
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
        answer.map_err(|fault| fault.code)
    }

    fn propose(&mut self, by: usize, what: &Wish) {
        let count = self.people.len();
        let (deed, activity_type, parameters) = match what {
            Wish::AddUser | Wish::AddGuest(_) => {
                let minutes = if let Wish::AddGuest(minutes) = what { Some(*minutes) } else { None };
                let number = u32::try_from(100 + self.serial).expect("a small number");
                let mut key = json!({"apiKeyName": "key", "publicKey": public_key(number)});
                if let Some(minutes) = minutes {
                    key["expirationSeconds"] = json!((u32::from(minutes) * 60).to_string());
                }
                let user = json!({"userName": format!("person {number}"), "apiKeys": [key]});
                (
                    Deed::AddUser { number, minutes },
                    "ACTIVITY_TYPE_CREATE_API_ONLY_USERS",
                    json!({"apiOnlyUsers": [user]}),
                )
            }
            Wish::DeleteUser(person) => {
                let person = person % count;
                let parameters = json!({"userIds": [self.people[person].user]});
                (Deed::DeleteUser(person), "ACTIVITY_TYPE_DELETE_USERS", parameters)
            }
            Wish::Quorum { threshold, members } => {
                let members: BTreeSet<usize> = members.iter().map(|person| person % count).collect();
                let members: Vec<usize> = members.into_iter().collect();
                let ids: Vec<UserId> = members.iter().map(|person| self.people[*person].user).collect();
                let parameters = json!({"threshold": threshold, "userIds": ids});
                (
                    Deed::Quorum { threshold: *threshold, members },
                    "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM",
                    parameters,
                )
            }
        };
        let body = self.body(activity_type, &parameters);
        let answer = self.send(by, activity_type, &body).map(drop);
        let mut case = Case {
            body,
            activity_type,
            proposer: by,
            deed,
            approvals: vec![(by, self.now)],
            senders: BTreeSet::from([by]),
            status: Status::ConsensusNeeded,
            proposed: self.now,
            waited: false,
        };
        let flaw = self.flaw(&case.deed);
        let expected = if !self.can_stamp(by) {
            Err(Code::Unauthenticated)
        } else if let Some(code @ Code::InvalidArgument) = flaw {
            Err(code)
        } else {
            let is_met = self.consent(&case) >= self.threshold;
            let outcome = match flaw {
                _ if !is_met && !self.members.contains(&by) => Err(Code::PermissionDenied),
                Some(code) => Err(code),
                None => Ok(()),
            };
            case.status = match outcome {
                Err(Code::PermissionDenied) => Status::Rejected,
                Err(_) => Status::Failed,
                Ok(()) if is_met => self.perform(&case.deed),
                Ok(()) => Status::ConsensusNeeded,
            };
            case.waited = case.status == Status::ConsensusNeeded;
            self.cases.push(case);
            outcome
        };
        assert_eq!(answer, expected, "{what:?} by {by}");
    }

    fn vote(&mut self, by: usize, which: usize, selection: Selection) {
        if self.cases.is_empty() {
            return;
        }
        let which = which % self.cases.len();
        let fingerprint = Fingerprint::of(&self.cases[which].body);
        let activity_type = match selection {
            Selection::Approved => "ACTIVITY_TYPE_APPROVE_ACTIVITY",
            Selection::Rejected => "ACTIVITY_TYPE_REJECT_ACTIVITY",
        };
        let body = self.body(activity_type, &json!({"fingerprint": fingerprint}));
        let answer = self.send(by, activity_type, &body).map(drop);
        let case = self.cases[which].clone();
        let has_a_say = self.members.contains(&by) || case.proposer == by;
        let expected = if !self.can_stamp(by) {
            Err(Code::Unauthenticated)
        } else if !(case.waited || self.is_young(case.proposed)) {
            // Only what waited is found by its fingerprint for ever.
            Err(Code::NotFound)
        } else if !case.status.is_terminal() && !has_a_say {
            Err(Code::PermissionDenied)
        } else {
            Ok(())
        };
        assert_eq!(answer, expected, "{selection:?} by {by} of {which}");
        if expected.is_ok() && !case.status.is_terminal() {
            match selection {
                Selection::Approved => self.approve(by, which),
                Selection::Rejected => self.cases[which].status = Status::Rejected,
            }
        }
    }

    fn repeat(&mut self, by: usize, which: usize) {
        if self.cases.is_empty() {
            return;
        }
        let which = which % self.cases.len();
        let case = self.cases[which].clone();
        let answer = self.send(by, case.activity_type, &case.body).map(drop);
        if !self.can_stamp(by) {
            assert_eq!(answer, Err(Code::Unauthenticated));
        } else if case.status == Status::ConsensusNeeded {
            let is_vote =
                self.members.contains(&by) && !case.senders.contains(&by) && !self.live(&case).contains(&by);
            if is_vote && !self.is_young(case.proposed) {
                assert_eq!(answer, Err(Code::InvalidArgument), "a vote by a body that is out of time");
                return;
            }
            assert_eq!(answer, Ok(()));
            if is_vote {
                self.cases[which].senders.insert(by);
                self.approve(by, which);
            }
        }
    }

    /// Whether requests of a person are taken.
    fn can_stamp(&self, person: usize) -> bool {
        self.living.contains(&person) && self.ends.get(&person).is_none_or(|end| self.now < *end)
    }

    /// One more approval, unless theirs still counts; then what has enough is performed.
    fn approve(&mut self, by: usize, which: usize) {
        if self.live(&self.cases[which]).contains(&by) {
            return;
        }
        let now = self.now;
        self.cases[which].approvals.push((by, now));
        let case = self.cases[which].clone();
        if self.consent(&case) >= self.threshold {
            let status =
                if self.flaw(&case.deed).is_some() { Status::Failed } else { self.perform(&case.deed) };
            self.cases[which].status = status;
        }
    }

    /// Whether a body of this time may be sent now.
    fn is_young(&self, proposed: Millis) -> bool {
        proposed + BODY_AGE_MILLIS >= self.now && self.now + BODY_AHEAD_MILLIS >= proposed
    }

    /// People whose approval of a case counts now.
    fn live(&self, case: &Case) -> BTreeSet<usize> {
        let young = |at: Millis| self.now.saturating_sub(at) < VOTE_WINDOW_MILLIS;
        let counted = case.approvals.iter().filter(|(person, at)| young(*at) && self.living.contains(person));
        counted.map(|(person, _)| *person).collect()
    }

    /// How many members consent to a case now.
    fn consent(&self, case: &Case) -> usize {
        self.live(case).intersection(&self.members).count()
    }

    /// Why a deed cannot be done now.
    fn flaw(&self, deed: &Deed) -> Option<Code> {
        match deed {
            Deed::AddUser { .. } => None,
            Deed::DeleteUser(person) if !self.living.contains(person) => Some(Code::NotFound),
            Deed::DeleteUser(person) => self.members.contains(person).then_some(Code::InvalidArgument),
            Deed::Quorum { threshold, members } => {
                let known = !members.is_empty() && members.iter().all(|member| self.living.contains(member));
                let fits = usize::try_from(*threshold)
                    .is_ok_and(|threshold| (1..=members.len()).contains(&threshold));
                let lasting = members.iter().filter(|member| !self.ends.contains_key(member)).count();
                let is_enough = usize::try_from(*threshold).is_ok_and(|threshold| lasting >= threshold);
                (!known || !fits || !is_enough).then_some(Code::InvalidArgument)
            }
        }
    }

    fn perform(&mut self, deed: &Deed) -> Status {
        match deed {
            Deed::AddUser { number, minutes } => {
                let organization = self.organization();
                let name = format!("person {number}");
                let made = organization.users().find(|user| user.name.as_str() == name);
                let user = made.unwrap_or_else(|| panic!("{name} was to be made")).id;
                self.living.insert(self.people.len());
                if let Some(minutes) = minutes {
                    self.ends.insert(self.people.len(), self.now + u64::from(*minutes) * 60_000);
                }
                self.people.push(Person {
                    home: self.home,
                    user,
                    keys: Vec::new(),
                    number: *number,
                    shows: Shown::Stamp,
                    authenticator: None,
                    provider: None,
                });
            }
            Deed::DeleteUser(person) => drop(self.living.remove(person)),
            Deed::Quorum { threshold, members } => {
                self.threshold = usize::try_from(*threshold).expect("it was checked");
                self.members = members.iter().copied().collect();
            }
        }
        Status::Completed
    }

    fn record(&self, case: &Case) -> ActivityRecord {
        let organization = self.organization();
        let fingerprint = Fingerprint::of(&case.body);
        let taken = records::taken_body(&self.memory, &organization, case.proposed, &fingerprint);
        match taken.expect("it is readable").expect("it is stored") {
            records::Taken::Activity(record) => *record,
            records::Taken::Denied => panic!("an activity is gone: {case:?}"),
        }
    }

    /// The stored state is the model's. What ran, ran once: nobody exists twice or too late.
    fn agrees_with_the_model(&self) {
        let organization = self.organization();
        for case in &self.cases {
            assert_eq!(self.record(case).status, case.status, "{case:?}");
        }
        let users: BTreeSet<UserId> = organization.users().map(|user| user.id).collect();
        let living: BTreeSet<UserId> = self.living.iter().map(|person| self.people[*person].user).collect();
        assert_eq!(users, living, "the people are those of the model");
        let names: BTreeSet<&str> = organization.users().map(|user| user.name.as_str()).collect();
        assert_eq!(names.len(), users.len(), "nobody was made twice");
        let quorum = &organization.head.quorum;
        let members: BTreeSet<UserId> = self.members.iter().map(|person| self.people[*person].user).collect();
        assert_eq!(quorum.members.iter().copied().collect::<BTreeSet<_>>(), members);
        assert_eq!(usize::try_from(quorum.threshold).expect("small"), self.threshold);
        let able = quorum.members.iter().filter_map(|member| organization.user(*member));
        let lasts = |user: &&User| user.api_keys.iter().any(|key| key.expiration_seconds.is_none());
        let able = able.filter(lasts).count();
        assert!(
            (1..=able).contains(&self.threshold),
            "{able} members can meet a threshold of {}",
            self.threshold
        );
    }

    /// Statuses move as permitted, and what came to run in this step had the consent it needed.
    fn moves_along_arrows(&mut self, before: &Organization, quorum: &(BTreeSet<usize>, usize)) {
        let rows: Vec<ActivityRecord> = self
            .memory
            .rows(b'a')
            .map(|(_, bytes)| ActivityRecord::decode(bytes).expect("it decodes"))
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
                (old, new) => panic!("a status moved from {old:?} to {new:?}"),
            }
            if record.status == Status::Completed
                && self.cases.iter().any(|case| Fingerprint::of(&case.body) == record.fingerprint)
            {
                self.had_consent(&record, before, quorum);
            }
        }
    }

    /// Recounts the approvals of an activity from its stored stamps, with the people from before it ran.
    fn had_consent(
        &self,
        record: &ActivityRecord,
        before: &Organization,
        (members, threshold): &(BTreeSet<usize>, usize),
    ) {
        let members: BTreeSet<UserId> = members.iter().map(|person| self.people[*person].user).collect();
        let mut consenting = BTreeSet::new();
        let mut bodies = BTreeSet::new();
        for vote in &record.votes {
            assert!(bodies.insert((vote.user, &vote.message)), "one body is two votes of one person");
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
            let young = self.now.saturating_sub(vote.created) < VOTE_WINDOW_MILLIS;
            if vote.selection == Selection::Approved
                && young
                && owner.is_some()
                && members.contains(&vote.user)
            {
                consenting.insert(vote.user);
            }
        }
        assert!(consenting.len() >= *threshold, "{} of {threshold} consented", consenting.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, max_shrink_iters: 2000, ..ProptestConfig::default() })]

    #[test]
    fn votes_count_as_in_the_model(steps in prop::collection::vec(step(), 1..60)) {
        let mut history = History::begin();
        for step in &steps {
            history.take(step);
        }
    }
}
