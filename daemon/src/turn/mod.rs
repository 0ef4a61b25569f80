//! Turns: a request through the core on any thread, then through the committer, again if somebody else was
//! faster. Organizations never wait for each other.

mod answers;
mod committer;
pub mod gather;
mod opened_keys;
mod relied;
mod snapshots;
#[cfg(test)]
pub(crate) mod testing;
mod turnstiles;

use std::cell::Cell;
use std::sync::Arc;

use bytes::Bytes;
use quorate_chain::curve::{Message, SecretKey, Signature};
use quorate_common::fault::{Code, Fault};
use quorate_common::ids::{OrganizationId, SmartContractInterfaceId};
use quorate_core::authn::Credentials;
use quorate_core::budget::Budget;
use quorate_core::interfaces::Interface;
use quorate_core::limits::Limits;
use quorate_core::model::Organization;
use quorate_core::model::layout::{self, IndexKey, Key};
use quorate_core::model::write::Write;
use quorate_core::pipeline::{self, Commit, Turn};
use quorate_core::policy::DenyErrors;
use quorate_core::refusal::{Corrupt, Refusal};
use quorate_core::signing::Signer;
use quorate_core::world::{Keyring, Library, Moment, QuorumKey, Records, World};

use crate::barrier::Barrier;
use crate::cache::TwoGenerations;
use crate::clock::{self, now};
use crate::fail_points;
use crate::feed::Feed;
use crate::guard::Guard;
use crate::identity::Identity;
use crate::outbox::arrivals::{self, Arrivals};
use crate::readers::Readers;
use crate::store::Batch;
pub use committer::{CommitError, Committer, Figures, StoreState};
use committer::{Deciding, Effects};
use opened_keys::OpenedKeys;
use relied::Relying;
use snapshots::Snapshots;
use turnstiles::Turnstiles;

/// How many names of signers are kept in memory, if their bytes allow it.
const SIGNERS: usize = 4096;
/// What a signer takes in memory beside its name, in bytes.
const SIGNER_BYTES: usize = 1024;
/// How many interfaces of smart contracts are kept in memory, if their bytes allow it.
const INTERFACES: usize = 256;
/// How many queries that read much are answered at the same time.
const READERS: usize = 8;
/// How many queries of one organization, with its sub-organizations, may wait for a place.
const WAITING_READERS: usize = 64;
/// How many snapshots are read from the store at the same time.
const LOADERS: usize = 4;
/// How often a turn is run again before the caller is told to come back.
const ATTEMPTS: u32 = 32;

/// Takes requests through the core.
pub struct Turns {
    shared: Arc<Shared>,
    committer: Committer,
    turnstiles: Turnstiles,
}

/// Values that were used lately, by key.
type Kept<T> = std::sync::Mutex<TwoGenerations<Key, Arc<T>>>;

/// Says of a URL why it may not be set for a webhook.
pub type WebhookCheck = Box<dyn Fn(&str) -> Result<(), &'static str> + Send + Sync>;

/// What the daemon can do to the world outside.
pub struct Outside {
    /// Says of a URL why it may not be set for a webhook.
    pub webhooks: WebhookCheck,
    /// Whether mail can be sent.
    pub mail: bool,
    /// Whether anybody may found an organization.
    pub founders: bool,
    /// What becomes of denying policies that fail.
    pub deny_errors: DenyErrors,
}

/// What turns and the committer both use.
pub struct Shared {
    barrier: Barrier,
    guard: Guard,
    identity: Identity,
    snapshots: Snapshots,
    signers: Kept<Signer>,
    keys: OpenedKeys,
    interfaces: Kept<Interface>,
    /// Places for queries that read much.
    readers: Readers,
    /// Places for reading snapshots that are not at hand.
    loaders: Readers,
    /// Of what the daemon does by itself.
    unmetered: Budget,
    limits: Limits,
    outside: Outside,
    /// Tells the console what changed.
    pub feed: Feed,
    /// Webhook deliveries that were committed.
    pub notices: Arrivals,
    /// Rings when mail was committed.
    pub mails: tokio::sync::Notify,
    /// Rings when something was deleted of which more has to be removed.
    pub leftovers: tokio::sync::Notify,
    /// Notified when the store takes writes again, or no more.
    pub store_state: tokio::sync::Notify,
}

impl Shared {
    /// Shares this barrier and the daemon's own keys.
    pub fn new(barrier: Barrier, guard: Guard, identity: Identity, limits: Limits, outside: Outside) -> Self {
        Self {
            barrier,
            guard,
            identity,
            snapshots: Snapshots::new(limits.cache_bytes / 4 * 3),
            signers: Kept::new(TwoGenerations::weighed(SIGNERS, limits.cache_bytes / 8)),
            keys: OpenedKeys::new(),
            interfaces: Kept::new(TwoGenerations::weighed(INTERFACES, limits.cache_bytes / 8)),
            readers: Readers::new(READERS, limits.readers_per_organization, WAITING_READERS),
            loaders: Readers::new(LOADERS, 1, usize::MAX),
            unmetered: Budget::unmetered(),
            limits,
            outside,
            feed: Feed::default(),
            notices: Arrivals::default(),
            mails: tokio::sync::Notify::new(),
            leftovers: tokio::sync::Notify::new(),
            store_state: tokio::sync::Notify::new(),
        }
    }
}

impl Shared {
    /// Whether no opened key can come into the swap.
    pub fn keys_are_locked(&self) -> bool {
        self.keys.are_locked() && self.identity.is_locked()
    }
}

impl World for Shared {
    fn organization(&self, id: OrganizationId) -> Result<Option<Arc<Organization>>, Corrupt> {
        self.snapshots.organization(&self.barrier, id)
    }

    fn version(&self, id: OrganizationId) -> Result<u64, Corrupt> {
        version(&self.barrier, id)
    }

    fn records(&self) -> &dyn Records {
        &self.barrier
    }

    fn keyring(&self) -> &dyn Keyring {
        self
    }

    fn quorum_key(&self) -> &dyn QuorumKey {
        &self.identity
    }

    fn library(&self) -> &dyn Library {
        self
    }

    fn index(&self) -> &IndexKey {
        self.barrier.vault().index()
    }

    fn budget(&self) -> &Budget {
        &self.unmetered
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn webhook_allowed(&self, url: &str) -> Result<(), &'static str> {
        (self.outside.webhooks)(url)
    }

    fn sends_mail(&self) -> bool {
        self.outside.mail
    }

    fn takes_founders(&self) -> bool {
        self.outside.founders
    }

    fn deny_errors(&self) -> DenyErrors {
        self.outside.deny_errors
    }
}

impl Keyring for Shared {
    fn signer(
        &self,
        name: Key,
        resolve: &mut dyn FnMut() -> Result<Signer, Refusal>,
    ) -> Result<Arc<Signer>, Refusal> {
        let bytes = name.len().saturating_add(SIGNER_BYTES);
        at_hand(&self.signers, name, resolve, |_| bytes)
    }

    fn sign(
        &self,
        place: &[u8],
        load: &mut dyn FnMut() -> Result<SecretKey, Refusal>,
        message: &Message,
    ) -> Result<Signature, Refusal> {
        self.keys.sign(place, load, message)
    }
}

impl Library for Shared {
    fn interface(
        &self,
        id: SmartContractInterfaceId,
        read: &mut dyn FnMut() -> Result<Interface, Refusal>,
    ) -> Result<Arc<Interface>, Refusal> {
        at_hand(&self.interfaces, id.as_bytes().to_vec(), read, Interface::bytes)
    }
}

impl Shared {
    /// Drops all that was cached of the store.
    fn forget_cached(&self) {
        self.snapshots.clear();
        self.keys.forget_all(&[]);
    }

    /// Tells those who show it that the store takes writes again, or no more.
    fn state_changed(&self) {
        self.store_state.notify_one();
    }

    /// Wakes all that works off what is stored.
    fn wake_all(&self) {
        self.notices.notify_one();
        self.mails.notify_one();
        self.leftovers.notify_one();
    }

    /// Remembers the time, so that what expired by it stays expired, whatever clock the next start finds.
    pub fn keep_time(&self) {
        // A guard file that cannot be written is reported by the next commit.
        if let Err(error) = self.guard.keep_time(&self.barrier, now()) {
            tracing::debug!(cause = %error, "the time cannot be kept");
        }
    }

    /// Drops opened keys.
    fn forget(&self, gone: &[Gone]) {
        for gone in gone {
            match gone {
                Gone::One(place) => self.keys.forget(place),
                Gone::Accounts(prefix) => self.keys.forget_all(prefix),
            }
        }
    }
}

/// Opened keys that are useless now, by the places of their private keys and accounts.
enum Gone {
    /// The one of this place.
    One(Key),
    /// All whose places begin so.
    Accounts(Key),
}

impl Gone {
    /// What a write makes useless: a private key that changes may have been disabled.
    fn of(write: &Write) -> Option<Self> {
        let removed = write.value.is_none();
        match (write.key.first(), layout::entity_class(&write.key)) {
            (Some(b'e'), Some(b'k')) => Some(Self::One(write.key.clone())),
            (Some(b'e'), Some(b'w')) if removed => layout::accounts_of_entity(&write.key).map(Self::Accounts),
            (Some(b'n'), _) if removed => Some(Self::One(write.key.clone())),
            _ => None,
        }
    }
}

/// What is kept under this key, made if it is not at hand.
fn at_hand<T>(
    kept: &Kept<T>,
    key: Key,
    make: &mut dyn FnMut() -> Result<T, Refusal>,
    bytes: impl Fn(&T) -> usize,
) -> Result<Arc<T>, Refusal> {
    let poisoned = |_| Refusal::Corrupt(Corrupt::Invariant("what is kept is poisoned"));
    if let Some(value) = kept.lock().map_err(poisoned)?.value(&key) {
        return Ok(value);
    }
    let value = Arc::new(make()?);
    kept.lock().map_err(poisoned)?.keep_weighed(key, Arc::clone(&value), bytes(&value));
    Ok(value)
}

impl Turns {
    /// Turns over this world; starts the committer.
    pub fn start(shared: Arc<Shared>) -> Self {
        let committer = Committer::start(Arc::clone(&shared));
        Self { shared, committer, turnstiles: Turnstiles::default() }
    }

    /// What turns look at.
    pub fn world(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Counts of commits and syncs.
    pub fn figures(&self) -> Figures {
        self.committer.figures()
    }

    /// Whether the store takes writes.
    pub fn store_state(&self) -> StoreState {
        self.committer.state()
    }

    /// Whether the store takes writes.
    pub fn takes_writes(&self) -> bool {
        self.store_state() == StoreState::Ready
    }

    /// Takes a submitted request to its end. What it changed is durable when this returns.
    pub async fn submit(
        &self,
        operation: &'static str,
        credentials: &Credentials,
        body: &Bytes,
    ) -> Result<Vec<u8>, Fault> {
        let mut passage = None;
        let mut faulted = false;
        let mut loaded = Vec::new();
        for _ in 0..ATTEMPTS {
            let deciding = self.committer.deciding();
            let budget = Budget::of_submission(&self.shared.limits);
            let world = Relying::on_cached(&self.shared, budget, &loaded);
            let turn = Self::decide(&world, operation, credentials, body);
            if let Some(missing) = world.missing() {
                drop(deciding);
                self.load(missing).await;
                loaded.push(missing);
                continue;
            }
            if turn.corrupt.is_some() && !faulted {
                // What it missed may just have been deleted: behind the group that is being made durable, it is
                // seen whether that was so.
                drop(deciding);
                faulted = true;
                self.commit(Commit::default()).await.map_err(refused)?;
                continue;
            }
            fail_points::reach("turn.decided");
            let Some(commit) = turn.commit else {
                if self.stands(&world.relied(), turn.corrupt.as_ref())? {
                    return self.told(turn.answer);
                }
                continue;
            };
            let first = commit.expect.first().map(|(organization, _)| *organization);
            let changes = !commit.after.is_empty() || !commit.set.is_empty();
            if let (None, Some(organization), true) = (&passage, first, changes)
                && self.turnstiles.is_used(organization)
            {
                // Whoever waits there came before, and would lose against all who come later.
                drop(deciding);
                passage = Some(self.turnstiles.enter(organization).await);
                continue;
            }
            let pending = self.hand_over(commit, Some(deciding))?;
            match pending.await {
                Ok(()) => {
                    fail_points::reach("turn.committed");
                    return turn.answer;
                }
                Err(CommitError::Clash) => {
                    fail_points::reach("turn.clash");
                    if let (None, Some(organization)) = (&passage, first) {
                        passage = Some(self.turnstiles.enter(organization).await);
                    }
                }
                Err(error) => return Err(refused(error)),
            }
        }
        Err(unavailable())
    }

    /// Commits something that is no activity: a founding, a delivered notice.
    pub async fn commit(&self, commit: Commit) -> Result<(), CommitError> {
        let pending = self.hand_over(commit, None).map_err(|_| CommitError::Unavailable)?;
        pending.await
    }

    fn decide(world: &Relying<'_>, operation: &'static str, credentials: &Credentials, body: &Bytes) -> Turn {
        fail_points::reach("turn.decide");
        let broken = Cell::new(false);
        let mut entropy = |buffer: &mut [u8]| {
            if getrandom::fill(buffer).is_err() {
                broken.set(true);
            }
        };
        let (now, order) = clock::ordered();
        let mut moment = Moment { now, order, entropy: &mut entropy };
        let turn = pipeline::submit(world, &mut moment, operation, credentials, body);
        if broken.get() {
            return Turn::refuse(&Corrupt::Invariant("the random source does not answer").into());
        }
        turn
    }

    /// Seals a commit and queues it. The future ends when it is durable.
    fn hand_over(
        &self,
        commit: Commit,
        deciding: Option<Deciding>,
    ) -> Result<impl Future<Output = Result<(), CommitError>> + use<>, Fault> {
        fail_points::reach("turn.seal");
        let Commit { expect, absent, vacant, writes, after, set, news } = commit;
        let writes_some =
            |letter| writes.iter().any(|write| write.key.first() == Some(&letter) && write.value.is_some());
        let [mails, leaves] = [b'y', b'z'].map(writes_some);
        let rings = arrivals::queued(&writes);
        let gone = writes.iter().filter_map(Gone::of).collect();
        let writes = self.shared.barrier.seal(writes).map_err(|corrupt| {
            log(Some(&corrupt));
            Refusal::from(corrupt).fault()
        })?;
        fail_points::reach("turn.sealed");
        let versions = after.iter().map(|after| (after.id(), after.head.version)).chain(set);
        let batch = Batch {
            expect: expect.into_iter().map(|(id, version)| (layout::version(id), version)).collect(),
            absent,
            vacant,
            set: versions.map(|(id, version)| (layout::version(id), version)).collect(),
            writes,
        };
        let pending =
            self.committer.commit(batch, Effects { after, gone, news, rings, mails, leaves }, deciding);
        fail_points::reach("turn.queued");
        Ok(pending)
    }
}

/// The version of an organization as the store has it.
fn version(barrier: &Barrier, id: OrganizationId) -> Result<u64, Corrupt> {
    barrier.store().register(&layout::version(id)).map_err(|error| Corrupt::from(&error))
}

fn unavailable() -> Fault {
    Fault::new(Code::Unavailable, "the service cannot take writes now; try again later")
}

fn refused(error: CommitError) -> Fault {
    match error {
        CommitError::Full => Fault::new(
            Code::Unavailable,
            "the disk of the service is full: nothing was changed; try again when its operator has freed space",
        ),
        CommitError::Altered => Fault::new(
            Code::Unavailable,
            "records of the service were altered or damaged: it takes no changes until its operator has checked them",
        ),
        CommitError::Clash | CommitError::Unavailable => unavailable(),
    }
}

fn log(corrupt: Option<&Corrupt>) {
    // That the store is being reopened is logged once, and not for each request. That an answer would cost too much, or
    // that nobody waits for it, is no fault.
    let is_fault = |corrupt: &&Corrupt| !matches!(corrupt, Corrupt::Unavailable | Corrupt::Stopped(_));
    if let Some(corrupt) = corrupt.filter(is_fault) {
        tracing::error!(cause = %corrupt, "a request met a fault of the daemon");
    }
}
