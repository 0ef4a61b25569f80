//! A run: seeded moves and votes with answers as the model predicts, restarts in between, and regular
//! comparisons of all query results.

mod backups;
mod checks;
mod deletions;
mod guests;
mod interruptions;
mod proposals;
mod votes;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quorate_tests::caller::{Caller, submit_path};
use quorate_tests::choices::Choices;
use quorate_tests::companion::Companion;
use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::http::Reply;
use quorate_tests::keys::Key;
use quorate_tests::mailbox::Mailbox;
use serde_json::{Value, json};

use super::activities::{Activity, Status, activity_type};
use super::chooser::{Chooser, Keys};
use super::comparison;
use super::moves::{self, Choose, Move};
use super::times::Times;
use super::world::{ApiKey, Organization, User, World};
use backups::Moment;
use interruptions::Interruption;

/// Numbers of moves between comparisons and between restarts.
const MOVES_PER_COMPARISON: usize = 15;
const MOVES_PER_RESTART: usize = 30;
/// Number of moves between tests of the limits, and the move of the first test.
const MOVES_PER_LIMIT_TEST: usize = 60;
const FIRST_LIMIT_TEST: usize = 50;

/// A run on one daemon, or on several that share a store.
pub(super) struct Play {
    daemon: Daemon,
    /// The other daemons, which run on while the first one is stopped.
    companions: Vec<Companion>,
    seed: u64,
    /// Number of moves so far.
    number: usize,
    /// Description of the current move, which is printed on a failure.
    current: String,
    choices: Choices,
    keys: Keys,
    serial: usize,
    world: World,
    mailbox: Option<Arc<Mailbox>>,
    /// Mailed keys by invitation.
    mailed: BTreeMap<String, Key>,
    waiting: Vec<Waiting>,
    times: Times,
    /// Results of all queries after each request, if they are kept.
    moments: Option<Vec<Moment>>,
}

/// An activity that waits for votes.
struct Waiting {
    position: usize,
    /// Index of the activity in the organization.
    index: usize,
    action: Box<dyn Move>,
    proposer: KeyOwner,
}

/// A user and the key that stamps.
#[derive(Clone)]
struct KeyOwner {
    user: String,
    public_key: String,
}

impl Drop for Play {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "failed with SEED={} at move {}, {}\nTo repeat: SEED={} cargo test --test e2e -- model",
                self.seed, self.number, self.current, self.seed
            );
        }
    }
}

impl Play {
    /// Starts a daemon and loads its initial organization into the model. Mail goes to the mailbox, if there
    /// is one.
    pub(super) async fn begin(options: Options, mailbox: Option<Arc<Mailbox>>, seed: u64) -> Self {
        let options = match &mailbox {
            Some(mailbox) => options.with_mail(mailbox.url()),
            None => options,
        };
        let daemon = Daemon::start(options).await;
        let companions = Vec::new();
        let listed = daemon.root(0).fetch("get_api_keys", json!({})).await;
        let mut keys = Keys::default();
        for index in 0..daemon.credentials().root_users.len() {
            keys.keep(daemon.root_key(index));
        }
        let organizations = vec![initial_organization(&daemon, &listed["apiKeys"])];
        Self {
            world: World { organizations, sends_mail: mailbox.is_some(), ..World::default() },
            mailbox,
            mailed: BTreeMap::new(),
            daemon,
            companions,
            seed,
            number: 0,
            current: String::new(),
            choices: Choices::of_seed(seed),
            keys,
            serial: 0,
            waiting: Vec::new(),
            times: Times::default(),
            moments: None,
        }
    }

    /// Lets this many other daemons share the store. Each request goes to any of them.
    pub(super) async fn share(mut self, companions: usize) -> Self {
        for _ in 0..companions {
            self.companions.push(Companion::join(&mut self.daemon).await);
        }
        self
    }

    /// Runs this many moves.
    pub(super) async fn run(mut self, moves: usize) {
        self.compare().await;
        for number in 1..=moves {
            self.number = number;
            match number {
                _ if number % MOVES_PER_LIMIT_TEST == FIRST_LIMIT_TEST => self.exceed_limits().await,
                _ if number % MOVES_PER_RESTART == 0 => self.restart(number / MOVES_PER_RESTART).await,
                _ => self.make_move().await,
            }
            if number % MOVES_PER_COMPARISON == 0 {
                self.compare().await;
            }
        }
        self.compare().await;
        comparison::assert_no_card(&self.daemon.log());
        self.sum_up();
    }

    /// Prints the coverage.
    fn sum_up(&self) {
        let children = self.world.organizations.len() - 1 + self.world.deleted.len();
        let activities: Vec<&Activity> =
            self.world.organizations.iter().flat_map(|one| &one.activities).collect();
        let done = activities.iter().filter(|activity| activity.status == Status::Completed);
        let kinds: BTreeSet<&str> = done.map(|activity| activity.name).collect();
        eprintln!(
            "seed {}: {} activities, {} kinds done, {children} sub-organizations, all as predicted",
            self.seed,
            activities.len(),
            kinds.len()
        );
    }

    async fn make_move(&mut self) {
        if !self.waiting.is_empty() && self.choices.one_in(4) {
            let which = self.choices.below(self.waiting.len());
            self.vote(which, true, None).await;
        } else if self.choices.one_in(25) {
            self.repeat().await;
        } else if self.choices.one_in(40) {
            self.act_in_child().await;
        } else if !(self.choices.one_in(16) && self.accept(None).await) {
            let position = self.choose_organization();
            self.propose(position, moves::choose, None).await;
        }
    }

    /// Returns the positions of organizations with enough users who can stamp.
    fn playable(&self) -> Vec<usize> {
        let all = self.world.organizations.iter().enumerate();
        let satisfiable =
            all.filter(|(_, organization)| organization.voters().len() >= organization.threshold);
        satisfiable.map(|(position, _)| position).collect()
    }

    /// Chooses the parent or, often, one of its first children.
    fn choose_organization(&mut self) -> usize {
        let playable = self.playable();
        match self.choices.below(5) {
            0 | 1 => playable[self.choices.below(playable.len().min(4))],
            _ => playable[0],
        }
    }

    fn choose(&mut self, position: usize, choose: Choose) -> Box<dyn Move> {
        let (world, choices) = (&self.world, &mut self.choices);
        choose(&mut Chooser { world, position, choices, keys: &mut self.keys, serial: &mut self.serial })
    }

    /// Chooses a member of the root quorum, the user whose credentials the move changes or, rarely, any other
    /// user who can stamp.
    fn proposer(&mut self, position: usize, owner: Option<&str>) -> KeyOwner {
        let organization = &self.world.organizations[position];
        let owner = owner.and_then(|id| organization.user(id)).filter(|user| user.can_stamp());
        if let Some(owner) = owner.filter(|_| self.choices.one_in(3)) {
            return self.one_of(&[(owner.id.clone(), owner.public_keys())]);
        }
        let mut candidates = organization.voters();
        if self.choices.one_in(12) {
            let all = organization.users.iter().filter(|user| user.can_stamp());
            candidates = all.map(|user| (user.id.clone(), user.public_keys())).collect();
        }
        self.one_of(&candidates)
    }

    fn one_of(&mut self, candidates: &[(String, Vec<String>)]) -> KeyOwner {
        let (user, public_keys) = &candidates[self.choices.below(candidates.len())];
        let public_key = public_keys[self.choices.below(public_keys.len())].clone();
        KeyOwner { user: user.clone(), public_key }
    }

    fn caller(&mut self, position: usize, proposer: &KeyOwner) -> Caller {
        let companion = match self.companions.len() {
            0 => None,
            count => self.companions.get(self.choices.below(count + 1)),
        };
        let listener = match companion {
            Some(companion) => companion.listener(),
            None if self.choices.one_in(4) => self.daemon.socket(),
            None => self.daemon.http(),
        };
        let mailed = self.mailed.values().find(|key| key.public_key() == proposer.public_key);
        let key = mailed.cloned().unwrap_or_else(|| self.keys.of(&proposer.public_key));
        Caller::new(listener, &self.world.organizations[position].id, key)
    }

    /// Sends a body of this type. After an interruption, sends it again.
    async fn send(
        &mut self,
        position: usize,
        proposer: &KeyOwner,
        name: &str,
        body: &[u8],
        interruption: Option<Interruption>,
    ) -> Reply {
        let path = submit_path(&activity_type(name));
        let caller = self.caller(position, proposer);
        let Some(interruption) = interruption else {
            let reply = caller.send(&path, body).await;
            self.keep_moment().await;
            return reply;
        };
        let first = self.send_and_interrupt(&caller, &path, body, interruption).await;
        let reply = self.resend(position, proposer, &path, body).await;
        if let Ok(first) = first {
            if deletions::ends_organization(&first) {
                return first;
            }
            assert_eq!(first.status, reply.status, "acknowledged, then changed{first}{reply}");
            let shown = |reply: &Reply| without_session(reply.json()["activity"].clone());
            assert_eq!(shown(&first), shown(&reply), "acknowledged, then changed");
        }
        reply
    }

    /// Sends a body again after a restart: from the same user, or from others if the request deleted the key.
    async fn resend(&mut self, position: usize, proposer: &KeyOwner, path: &str, body: &[u8]) -> Reply {
        let mut reply = self.caller(position, proposer).send(path, body).await;
        for (user, public_keys) in self.world.organizations[position].voters() {
            for public_key in public_keys {
                if reply.status == 401 {
                    let other = KeyOwner { user: user.clone(), public_key };
                    reply = self.caller(position, &other).send(path, body).await;
                }
            }
        }
        reply
    }
}

/// Returns an activity without the token of a session, which only the first answer shows.
fn without_session(mut activity: Value) -> Value {
    if let Some(token) = activity.pointer_mut("/result/createReadOnlySessionResult/session") {
        *token = json!("");
    }
    activity
}

/// Returns the initial organization of the daemon.
fn initial_organization(daemon: &Daemon, api_keys: &Value) -> Organization {
    let credentials = daemon.credentials();
    let users = credentials.root_users.iter().map(|root| {
        let mut listed = api_keys.as_array().expect("a list of keys").iter();
        let key = listed.find(|key| key["apiKeyId"] == root.api_key_id.as_str()).expect("a listed key");
        User {
            id: root.user_id.clone(),
            name: root.user_name.clone(),
            email: Some(root.user_email.clone()),
            api_keys: vec![ApiKey {
                id: Some(root.api_key_id.clone()),
                name: key["apiKeyName"].as_str().expect("a name").to_owned(),
                public_key: root.public_key.clone(),
                curve: "P256",
                life_seconds: None,
                allowlist: None,
            }],
            ..User::default()
        }
    });
    Organization {
        id: credentials.organization_id.clone(),
        name: credentials.organization_name.clone(),
        threshold: usize::try_from(credentials.threshold).expect("a small number"),
        members: credentials.root_users.iter().map(|root| root.user_id.clone()).collect(),
        users: users.collect(),
        ..Organization::default()
    }
}
