//! A run: moves and votes chosen by a seed, each answer as the model predicts, restarts in between, and all that
//! can be asked compared now and then.

mod checks;
mod departures;
mod guests;
mod interruptions;
mod proposals;
mod votes;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quorate_tests::caller::{Caller, submit_path};
use quorate_tests::choices::Choices;
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
use interruptions::Interruption;

/// How many moves there are between two comparisons, and between two restarts.
const MOVES_PER_COMPARISON: usize = 15;
const MOVES_PER_RESTART: usize = 30;
/// How many moves there are between two crowds, and when the first one comes.
const MOVES_PER_CROWD: usize = 60;
const FIRST_CROWD: usize = 50;

/// A run on a daemon.
pub(super) struct Play {
    daemon: Daemon,
    seed: u64,
    /// How many moves there were.
    number: usize,
    /// What is being tried, for whoever has to read a failure.
    current: String,
    choices: Choices,
    keys: Keys,
    serial: usize,
    world: World,
    mailbox: Option<Arc<Mailbox>>,
    /// Keys that were mailed, by invitation.
    mailed: BTreeMap<String, Key>,
    waiting: Vec<Waiting>,
    times: Times,
}

/// An activity that waits for votes.
struct Waiting {
    place: usize,
    /// Which activity of the organization.
    index: usize,
    deed: Box<dyn Move>,
    asker: Asker,
}

/// Who stamps.
#[derive(Clone)]
struct Asker {
    user: String,
    public_key: String,
}

impl Drop for Play {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "failed with SEED={} at move {}, {}\nTo repeat: SEED={} cargo test --test stories -- model",
                self.seed, self.number, self.current, self.seed
            );
        }
    }
}

impl Play {
    /// Starts a daemon and takes over what it begins with. Mail goes to the mailbox, if there is one.
    pub(super) async fn begin(options: Options, mailbox: Option<Arc<Mailbox>>, seed: u64) -> Self {
        let options = match &mailbox {
            Some(mailbox) => options.with_mail(mailbox.url()),
            None => options,
        };
        let daemon = Daemon::start(options).await;
        let listed = daemon.root(0).ask("get_api_keys", json!({})).await;
        let mut keys = Keys::default();
        for index in 0..daemon.credentials().root_users.len() {
            keys.keep(daemon.root_key(index));
        }
        let organizations = vec![founded(&daemon, &listed["apiKeys"])];
        Self {
            world: World { organizations, sends_mail: mailbox.is_some(), ..World::default() },
            mailbox,
            mailed: BTreeMap::new(),
            daemon,
            seed,
            number: 0,
            current: String::new(),
            choices: Choices::of_seed(seed),
            keys,
            serial: 0,
            waiting: Vec::new(),
            times: Times::default(),
        }
    }

    /// Plays so many moves.
    pub(super) async fn run(mut self, moves: usize) {
        self.compare().await;
        for number in 1..=moves {
            self.number = number;
            match number {
                _ if number % MOVES_PER_CROWD == FIRST_CROWD => self.crowd().await,
                _ if number % MOVES_PER_RESTART == 0 => self.restart(number / MOVES_PER_RESTART).await,
                _ => self.take_turn().await,
            }
            if number % MOVES_PER_COMPARISON == 0 {
                self.compare().await;
            }
        }
        self.compare().await;
        comparison::holds_no_card(&self.daemon.log());
        self.sum_up();
    }

    /// Says what was covered.
    fn sum_up(&self) {
        let children = self.world.organizations.len() - 1 + self.world.departed.len();
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

    async fn take_turn(&mut self) {
        if !self.waiting.is_empty() && self.choices.one_in(4) {
            let which = self.choices.below(self.waiting.len());
            self.vote(which, true, None).await;
        } else if self.choices.one_in(25) {
            self.repeat().await;
        } else if self.choices.one_in(40) {
            self.trespass().await;
        } else if !(self.choices.one_in(16) && self.accept(None).await) {
            let place = self.place();
            self.ask(place, moves::choose, None).await;
        }
    }

    /// Organizations with enough people who can stamp.
    fn playable(&self) -> Vec<usize> {
        let all = self.world.organizations.iter().enumerate();
        let able = all.filter(|(_, organization)| organization.voters().len() >= organization.threshold);
        able.map(|(place, _)| place).collect()
    }

    /// Mostly the parent, often one of its first children.
    fn place(&mut self) -> usize {
        let playable = self.playable();
        match self.choices.below(5) {
            0 | 1 => playable[self.choices.below(playable.len().min(4))],
            _ => playable[0],
        }
    }

    fn choose(&mut self, place: usize, choose: Choose) -> Box<dyn Move> {
        let (world, choices) = (&self.world, &mut self.choices);
        choose(&mut Chooser { world, place, choices, keys: &mut self.keys, serial: &mut self.serial })
    }

    /// A member of the root quorum, the user whose credentials it is about, or seldom anybody else who can stamp.
    fn asker(&mut self, place: usize, owner: Option<&str>) -> Asker {
        let organization = &self.world.organizations[place];
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

    fn one_of(&mut self, candidates: &[(String, Vec<String>)]) -> Asker {
        let (user, public_keys) = &candidates[self.choices.below(candidates.len())];
        let public_key = public_keys[self.choices.below(public_keys.len())].clone();
        Asker { user: user.clone(), public_key }
    }

    fn caller(&mut self, place: usize, asker: &Asker) -> Caller {
        let door = if self.choices.one_in(4) { self.daemon.socket() } else { self.daemon.http() };
        let mailed = self.mailed.values().find(|key| key.public_key() == asker.public_key);
        let key = mailed.cloned().unwrap_or_else(|| self.keys.of(&asker.public_key));
        Caller::new(door, &self.world.organizations[place].id, key)
    }

    /// Sends a body of this type, perhaps once more after an interruption.
    async fn send(
        &mut self,
        place: usize,
        asker: &Asker,
        name: &str,
        body: &[u8],
        interruption: Option<Interruption>,
    ) -> Reply {
        let path = submit_path(&activity_type(name));
        let caller = self.caller(place, asker);
        let first = match interruption {
            Some(interruption) => self.interrupted(&caller, &path, body, interruption).await,
            None => return caller.send(&path, body).await,
        };
        let reply = self.again(place, asker, &path, body).await;
        if let Ok(first) = first {
            if departures::is_the_end(&first) {
                return first;
            }
            assert_eq!(first.status, reply.status, "acknowledged, then otherwise{first}{reply}");
            assert_eq!(first.json()["activity"], reply.json()["activity"], "acknowledged, then otherwise");
        }
        reply
    }

    /// Sends a body once more, after a restart: by the one who sent it, or by others, if that was the end of the key.
    async fn again(&mut self, place: usize, asker: &Asker, path: &str, body: &[u8]) -> Reply {
        let mut reply = self.caller(place, asker).send(path, body).await;
        for (user, public_keys) in self.world.organizations[place].voters() {
            for public_key in public_keys {
                if reply.status == 401 {
                    let other = Asker { user: user.clone(), public_key };
                    reply = self.caller(place, &other).send(path, body).await;
                }
            }
        }
        reply
    }
}

/// The organization that the daemon begins with.
fn founded(daemon: &Daemon, api_keys: &Value) -> Organization {
    let credentials = daemon.credentials();
    let users = credentials.root_users.iter().map(|root| {
        let mut listed = api_keys.as_array().expect("a list of keys").iter();
        let key =
            listed.find(|key| key["apiKeyId"] == root.api_key_id.as_str()).expect("a key that is listed");
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
