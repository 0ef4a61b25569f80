//! The executor: runs a request through the core on any thread and then through the committer, and again if
//! the organization changed in between. Organizations never wait for each other.

mod answers;
mod committer;
pub mod group;
mod key_cache;
mod organization_locks;
mod relied;
mod snapshots;
#[cfg(test)]
pub(crate) mod testing;

use std::cell::Cell;
use std::sync::Arc;

use bytes::Bytes;
use quorate_chain::curve::{Message, SecretKey, Signature};
use quorate_common::api_error::{ApiError, Code};
use quorate_common::ids::{OrganizationId, SmartContractInterfaceId};
use quorate_core::authn::Credentials;
use quorate_core::budget::Budget;
use quorate_core::error::{Corrupt, RequestError};
use quorate_core::interfaces::Interface;
use quorate_core::limits::Limits;
use quorate_core::model::Organization;
use quorate_core::model::layout::{self, IndexKey, Key};
use quorate_core::model::write::Write;
use quorate_core::pipeline::{self, Attempt, Commit};
use quorate_core::policy::DenyErrors;
use quorate_core::signing::Signer;
use quorate_core::world::{Keyring, Library, QuorumKey, Records, Runtime, World};

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
use key_cache::KeyCache;
use organization_locks::OrganizationLocks;
use relied::Relying;
use snapshots::Snapshots;

/// Maximum number of cached signers; their memory is bounded as well.
const SIGNERS: usize = 4096;
/// Memory of a cached signer besides its name, in bytes.
const SIGNER_BYTES: usize = 1024;
/// Maximum number of cached smart contract interfaces; their memory is bounded as well.
const INTERFACES: usize = 256;
/// Maximum number of expensive queries that are answered at the same time.
const READERS: usize = 8;
/// Maximum number of waiting queries of one organization, including its sub-organizations.
const WAITING_READERS: usize = 64;
/// Maximum number of snapshots that are read from the store at the same time.
const LOADERS: usize = 4;
/// Maximum number of attempts at a request before the caller must retry.
const ATTEMPTS: u32 = 32;

/// Runs requests through the core and the committer.
pub struct Executor {
    shared: Arc<Shared>,
    committer: Committer,
    organization_locks: OrganizationLocks,
}

/// Recently used values, by key.
type Cache<T> = std::sync::Mutex<TwoGenerations<Key, Arc<T>>>;

/// Checks the URL of a webhook; the error is the reason for which it must not be set.
pub type WebhookCheck = Box<dyn Fn(&str) -> Result<(), &'static str> + Send + Sync>;

/// Settings that the core reads through [`World`].
pub struct WorldSettings {
    /// Check for URLs of webhooks.
    pub webhooks: WebhookCheck,
    /// Whether mail can be sent.
    pub mail: bool,
    /// Whether any client may create an organization.
    pub allow_organizations: bool,
    /// Effect of deny policies whose evaluation fails.
    pub deny_errors: DenyErrors,
}

/// State that the executor and the committer share.
pub struct Shared {
    barrier: Barrier,
    guard: Guard,
    identity: Identity,
    snapshots: Snapshots,
    signers: Cache<Signer>,
    keys: KeyCache,
    interfaces: Cache<Interface>,
    /// Threads for expensive queries.
    readers: Readers,
    /// Threads that read uncached snapshots.
    loaders: Readers,
    /// Budget of the daemon's own work.
    unmetered: Budget,
    limits: Limits,
    settings: WorldSettings,
    /// Change feed of the console.
    pub feed: Feed,
    /// Committed webhook deliveries.
    pub deliveries: Arrivals,
    /// Notified when mail was committed.
    pub mail: tokio::sync::Notify,
    /// Notified when a deletion left tombstones to remove.
    pub tombstones: tokio::sync::Notify,
    /// Notified when the store starts or stops accepting writes.
    pub store_state: tokio::sync::Notify,
}

impl Shared {
    /// Creates the shared state.
    pub fn new(
        barrier: Barrier,
        guard: Guard,
        identity: Identity,
        limits: Limits,
        settings: WorldSettings,
    ) -> Self {
        Self {
            barrier,
            guard,
            identity,
            snapshots: Snapshots::new(limits.cache_bytes / 4 * 3),
            signers: Cache::new(TwoGenerations::weighed(SIGNERS, limits.cache_bytes / 8)),
            keys: KeyCache::new(),
            interfaces: Cache::new(TwoGenerations::weighed(INTERFACES, limits.cache_bytes / 8)),
            readers: Readers::new(READERS, limits.readers_per_organization, WAITING_READERS),
            loaders: Readers::new(LOADERS, 1, usize::MAX),
            unmetered: Budget::unmetered(),
            limits,
            settings,
            feed: Feed::default(),
            deliveries: Arrivals::default(),
            mail: tokio::sync::Notify::new(),
            tombstones: tokio::sync::Notify::new(),
            store_state: tokio::sync::Notify::new(),
        }
    }

    /// Returns whether all decrypted keys are locked in memory, so that none can be swapped out.
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
        (self.settings.webhooks)(url)
    }

    fn sends_mail(&self) -> bool {
        self.settings.mail
    }

    fn allows_registration(&self) -> bool {
        self.settings.allow_organizations
    }

    fn deny_errors(&self) -> DenyErrors {
        self.settings.deny_errors
    }
}

impl Keyring for Shared {
    fn signer(
        &self,
        name: Key,
        resolve: &mut dyn FnMut() -> Result<Signer, RequestError>,
    ) -> Result<Arc<Signer>, RequestError> {
        let bytes = name.len().saturating_add(SIGNER_BYTES);
        get_or_load(&self.signers, name, resolve, |_| bytes)
    }

    fn sign(
        &self,
        record: &[u8],
        load: &mut dyn FnMut() -> Result<SecretKey, RequestError>,
        message: &Message,
    ) -> Result<Signature, RequestError> {
        self.keys.sign(record, load, message)
    }
}

impl Library for Shared {
    fn interface(
        &self,
        id: SmartContractInterfaceId,
        read: &mut dyn FnMut() -> Result<Interface, RequestError>,
    ) -> Result<Arc<Interface>, RequestError> {
        get_or_load(&self.interfaces, id.as_bytes().to_vec(), read, Interface::bytes)
    }
}

impl Shared {
    /// Removes everything that was cached from the store.
    fn forget_cached(&self) {
        self.snapshots.clear();
        self.keys.forget_all(&[]);
    }

    /// Notifies the tasks that show the state of the store.
    fn state_changed(&self) {
        self.store_state.notify_one();
    }

    /// Wakes all tasks that work on stored entries.
    fn wake_all(&self) {
        self.deliveries.notify_one();
        self.mail.notify_one();
        self.tombstones.notify_one();
    }

    /// Persists the time, so that whatever has expired stays expired, even if the clock is set back.
    pub fn persist_time(&self) {
        // A guard file that cannot be written is reported by the next commit.
        if let Err(error) = self.guard.persist_time(&self.barrier, now()) {
            tracing::debug!(cause = %error, "the time cannot be persisted");
        }
    }

    /// Removes decrypted keys from the cache.
    fn forget(&self, stale_keys: &[StaleKeys]) {
        for stale in stale_keys {
            match stale {
                StaleKeys::One(record) => self.keys.forget(record),
                StaleKeys::Accounts(prefix) => self.keys.forget_all(prefix),
            }
        }
    }
}

/// Decrypted keys that must not be used anymore, by the record keys of their private keys and accounts.
enum StaleKeys {
    /// The key of this record.
    One(Key),
    /// The keys of all records with this prefix.
    Accounts(Key),
}

impl StaleKeys {
    /// Returns the keys that a write invalidates. A private key that is changed may have been disabled.
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

/// Returns the cached value of a key, or loads and caches it.
fn get_or_load<T>(
    cache: &Cache<T>,
    key: Key,
    load: &mut dyn FnMut() -> Result<T, RequestError>,
    bytes: impl Fn(&T) -> usize,
) -> Result<Arc<T>, RequestError> {
    let poisoned = |_| RequestError::Corrupt(Corrupt::Invariant("a cache is poisoned"));
    if let Some(value) = cache.lock().map_err(poisoned)?.value(&key) {
        return Ok(value);
    }
    let value = Arc::new(load()?);
    cache.lock().map_err(poisoned)?.keep_weighed(key, Arc::clone(&value), bytes(&value));
    Ok(value)
}

impl Executor {
    /// Creates an executor and starts its committer.
    pub fn start(shared: Arc<Shared>) -> Self {
        let committer = Committer::start(Arc::clone(&shared));
        Self { shared, committer, organization_locks: OrganizationLocks::default() }
    }

    /// Returns the state that requests are decided on.
    pub fn world(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Returns the counters of commits and syncs.
    pub fn figures(&self) -> Figures {
        self.committer.figures()
    }

    /// Returns the state of the store.
    pub fn store_state(&self) -> StoreState {
        self.committer.state()
    }

    /// Returns whether the store accepts writes.
    pub fn accepts_writes(&self) -> bool {
        self.store_state() == StoreState::Ready
    }

    /// Runs a submitted request to its end. Its changes are durable when this returns.
    ///
    /// # Errors
    /// Returns the error of the request, or [`Code::Unavailable`] if it cannot be committed.
    pub async fn submit(
        &self,
        operation: &'static str,
        credentials: &Credentials,
        body: &Bytes,
    ) -> Result<Vec<u8>, ApiError> {
        let mut organization_guard = None;
        let mut retried_corrupt = false;
        let mut loaded = Vec::new();
        for _ in 0..ATTEMPTS {
            let deciding = self.committer.deciding();
            let budget = Budget::of_submission(&self.shared.limits);
            let world = Relying::on_cached(&self.shared, budget, &loaded);
            let attempt = Self::decide(&world, operation, credentials, body);
            if let Some(missing) = world.missing() {
                drop(deciding);
                self.load(missing).await;
                loaded.push(missing);
                continue;
            }
            if attempt.corrupt.is_some() && !retried_corrupt {
                // The missing record may just have been deleted. Once the group that is being committed is
                // durable, the next attempt shows whether it was.
                drop(deciding);
                retried_corrupt = true;
                self.commit(Commit::default()).await.map_err(commit_api_error)?;
                continue;
            }
            fail_points::reach("turn.decided");
            let Some(commit) = attempt.commit else {
                if self.is_current(&world.relied(), attempt.corrupt.as_ref())? {
                    return self.persist_expiry(attempt.answer);
                }
                continue;
            };
            let first = commit.expect.first().map(|(organization, _)| *organization);
            let changes = !commit.after.is_empty() || !commit.set.is_empty();
            if let (None, Some(organization), true) = (&organization_guard, first, changes)
                && self.organization_locks.is_locked(organization)
            {
                // Requests that wait for the lock came first and would lose against all later ones.
                drop(deciding);
                organization_guard = Some(self.organization_locks.lock(organization).await);
                continue;
            }
            let pending = self.queue_commit(commit, Some(deciding))?;
            match pending.await {
                Ok(()) => {
                    fail_points::reach("turn.committed");
                    return attempt.answer;
                }
                Err(CommitError::Clash) => {
                    fail_points::reach("turn.clash");
                    if let (None, Some(organization)) = (&organization_guard, first) {
                        organization_guard = Some(self.organization_locks.lock(organization).await);
                    }
                }
                Err(error) => return Err(commit_api_error(error)),
            }
        }
        Err(unavailable())
    }

    /// Commits a change that is not an activity, such as a new organization or a completed webhook delivery.
    ///
    /// # Errors
    /// Returns [`CommitError`] if the change was not committed, or if that is unknown.
    pub async fn commit(&self, commit: Commit) -> Result<(), CommitError> {
        let pending = self.queue_commit(commit, None).map_err(|_| CommitError::Unavailable)?;
        pending.await
    }

    fn decide(world: &Relying<'_>, name: &'static str, credentials: &Credentials, body: &Bytes) -> Attempt {
        fail_points::reach("turn.decide");
        let failed = Cell::new(false);
        let mut entropy = |buffer: &mut [u8]| {
            if getrandom::fill(buffer).is_err() {
                failed.set(true);
            }
        };
        let (now, order) = clock::ordered();
        let mut runtime = Runtime { now, order, entropy: &mut entropy };
        let attempt = pipeline::submit(world, &mut runtime, name, credentials, body);
        if failed.get() {
            return Attempt::error(&Corrupt::Invariant("the random source failed").into());
        }
        attempt
    }

    /// Encrypts a commit and queues it. The future completes when the commit is durable.
    fn queue_commit(
        &self,
        commit: Commit,
        deciding: Option<Deciding>,
    ) -> Result<impl Future<Output = Result<(), CommitError>> + use<>, ApiError> {
        fail_points::reach("turn.seal");
        let Commit { expect, must_not_exist, must_be_empty, writes, after, set, change_events: events } =
            commit;
        let writes_some =
            |letter| writes.iter().any(|write| write.key.first() == Some(&letter) && write.value.is_some());
        let [has_mail, has_tombstones] = [b'y', b'z'].map(writes_some);
        let deliveries = arrivals::queued(&writes);
        let stale_keys = writes.iter().filter_map(StaleKeys::of).collect();
        let writes = self.shared.barrier.seal(writes).map_err(|corrupt| {
            log(Some(&corrupt));
            RequestError::from(corrupt).api_error()
        })?;
        fail_points::reach("turn.sealed");
        let versions = after.iter().map(|after| (after.id(), after.head.version)).chain(set);
        let batch = Batch {
            expect: expect.into_iter().map(|(id, version)| (layout::version(id), version)).collect(),
            must_not_exist,
            must_be_empty,
            set: versions.map(|(id, version)| (layout::version(id), version)).collect(),
            writes,
        };
        let effects = Effects { after, stale_keys, events, deliveries, has_mail, has_tombstones };
        let pending = self.committer.commit(batch, effects, deciding);
        fail_points::reach("turn.queued");
        Ok(pending)
    }
}

/// Returns the version of an organization in the store.
fn version(barrier: &Barrier, id: OrganizationId) -> Result<u64, Corrupt> {
    barrier.store().register(&layout::version(id)).map_err(|error| Corrupt::from(&error))
}

fn unavailable() -> ApiError {
    ApiError::new(Code::Unavailable, "the service cannot accept writes now; try again later")
}

fn commit_api_error(error: CommitError) -> ApiError {
    match error {
        CommitError::Full => ApiError::new(
            Code::Unavailable,
            "the disk of the service is full, nothing was changed; try again once its operator has freed space",
        ),
        CommitError::Altered => ApiError::new(
            Code::Unavailable,
            "stored records were altered or damaged; no changes are accepted until the operator has checked them",
        ),
        CommitError::Clash | CommitError::Unavailable => unavailable(),
    }
}

fn log(corrupt: Option<&Corrupt>) {
    // The reopening of the store is logged once, not for each request. An answer that would cost too much, or
    // whose client has disconnected, is not an error of the daemon.
    let is_internal = |corrupt: &&Corrupt| !matches!(corrupt, Corrupt::Unavailable | Corrupt::Stopped(_));
    if let Some(corrupt) = corrupt.filter(is_internal) {
        tracing::error!(cause = %corrupt, "a request failed with an internal error");
    }
}
