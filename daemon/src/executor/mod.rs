//! The executor: runs a request through the core on any thread and then through the committer, and again if
//! the organization changed in between. Organizations never wait for each other.

mod announced;
mod answers;
mod backups;
mod committer;
mod effects;
mod exchange;
pub mod group;
mod key_cache;
mod last_uses;
mod log;
mod notice;
mod oauth2;
mod organization_locks;
mod shared;
mod snapshots;
mod store_state;
mod terms;
#[cfg(test)]
pub(crate) mod testing;
mod tracking;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use quorate_common::api_error::{ApiError, Code};
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::OrganizationId;
use quorate_core::authn::Credentials;
use quorate_core::budget::Budget;
use quorate_core::error::{Corrupt, RequestError};
use quorate_core::kinds::Operation;
use quorate_core::model::layout::{self, Key};
use quorate_core::pipeline::{self, Attempt, Commit};
use quorate_core::world::{Page, Runtime};

use crate::backoff;
use crate::clock;
use crate::fail_points;
use crate::store::{Batch, Register, Row};
use committer::Deciding;
pub use committer::{CommitError, Committer};
use effects::Effects;
pub use log::{AppendError, Appended};
pub use oauth2::Oauth2;
use organization_locks::OrganizationLocks;
pub use shared::{PhoneCheck, Shared, WebhookCheck, WorldSettings};
pub use store_state::{Condition, Figures, StoreState};
pub use terms::TermError;
use tracking::{Loaded, TrackingWorld};

/// Maximum number of attempts at a request before the caller must retry.
const ATTEMPTS: u32 = 32;
/// The same for a submitted request on a shared store. Each attempt that fails has lost against a request that was executed at
/// another daemon, which knows its own change sooner.
const SHARED_ATTEMPTS: u32 = 128;
/// Longest rest before a further attempt, in milliseconds, for each attempt so far, up to [`RESTS`]. A longer rest would lose
/// more often.
const REST: u64 = 2;
const RESTS: u32 = 4;

/// Answer to changes of a store that was restored and not released.
const HELD: &str =
    "the store was restored from a backup and accepts no changes until its operator has released it";

/// Runs requests through the core and the committer.
pub struct Executor {
    shared: Arc<Shared>,
    committer: Committer,
    organization_locks: OrganizationLocks,
}

impl Executor {
    /// Creates an executor and starts its committer.
    pub fn start(shared: Arc<Shared>) -> Self {
        let heard = Arc::downgrade(&shared);
        shared.barrier.store().on_notice(Box::new(move |notice| {
            if let Some(shared) = heard.upgrade() {
                shared.hear(notice);
            }
        }));
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
        self.store_state().condition == Condition::Ready
    }

    /// Runs a submitted request to its end. Its changes are durable when this returns.
    ///
    /// # Errors
    /// Returns the error of the request, or [`Code::Unavailable`] if it cannot be committed.
    pub async fn submit(
        &self,
        operation: &'static Operation,
        credentials: &Credentials,
        body: &Bytes,
    ) -> Result<Vec<u8>, ApiError> {
        self.check_released()?;
        let mut organization_guard = None;
        let mut retried_corrupt = false;
        let mut loaded = Loaded::default();
        // Most bodies are new. Where reads are slow, the commit checks that.
        let mut new = self.is_shared().then(|| Fingerprint::of(body));
        let most = if self.is_shared() { SHARED_ATTEMPTS } else { ATTEMPTS };
        for attempts in 0..most {
            self.rest(attempts).await;
            let deciding = self.committer.deciding();
            let budget = Budget::of_submission(&self.shared.limits);
            let world = TrackingWorld::on_cached(&self.shared, budget, &loaded).with_new(new);
            let mut attempt = Self::decide(&world, operation, credentials, body);
            let dependencies = world.dependencies();
            if let Some(missing) = world.missing() {
                drop(deciding);
                self.load(missing, &dependencies, &mut loaded).await?;
                continue;
            }
            if must_be_read(world.unread(), &mut attempt) {
                new = None;
                continue;
            }
            if attempt.corrupt.is_some() && !retried_corrupt {
                drop(deciding);
                retried_corrupt = true;
                self.wait_for_removal(&dependencies).await?;
                continue;
            }
            fail_points::reach("attempt.decided");
            let Some(mut commit) = attempt.commit else {
                if self.is_current(&dependencies, attempt.corrupt.as_ref())? {
                    self.shared.last_uses.note(attempt.used.as_ref());
                    return self.persist_expiry(attempt.answer);
                }
                continue;
            };
            let first = commit.expect.first().map(|(organization, _)| *organization);
            self.expect_all(&mut commit, &dependencies);
            let registered = registered(operation, &commit);
            let changes = !commit.after.is_empty() || !commit.set.is_empty();
            if let (None, Some(organization), true) = (&organization_guard, first, changes)
                && self.organization_locks.is_locked(organization)
            {
                // Requests that wait for the lock came first and would lose against all later ones.
                drop(deciding);
                organization_guard = Some(self.organization_locks.lock(organization).await);
                continue;
            }
            let pending = self.queue_commit(commit, Vec::new(), Some(deciding))?;
            match pending.await {
                Ok(()) => {
                    fail_points::reach("attempt.committed");
                    self.shared.last_uses.note(attempt.used.as_ref());
                    log_registered(registered, credentials);
                    return attempt.answer;
                }
                Err(CommitError::Clash) => {
                    new = None;
                    self.evict_outdated(&dependencies);
                    fail_points::reach("attempt.clash");
                    if let (None, Some(organization)) = (&organization_guard, first) {
                        organization_guard = Some(self.organization_locks.lock(organization).await);
                    }
                }
                Err(error) => return Err(commit_api_error(error)),
            }
        }
        Err(unavailable())
    }

    /// Checks that the store accepts changes, which a restored one does once it is released.
    fn check_released(&self) -> Result<(), ApiError> {
        let is_held = self.shared.is_held().map_err(|error| RequestError::from(error).api_error())?;
        if is_held { Err(ApiError::new(Code::Unavailable, HELD)) } else { Ok(()) }
    }

    /// Commits a change that is not an activity, such as a new organization or a completed webhook delivery.
    ///
    /// # Errors
    /// Returns [`CommitError`] if the change was not committed, or if that is unknown.
    pub async fn commit(&self, commit: Commit) -> Result<(), CommitError> {
        self.commit_if(commit, Vec::new()).await
    }

    /// Commits as [`Self::commit`] does, if registers also have these values.
    ///
    /// # Errors
    /// Returns [`CommitError`] if the change was not committed, or if that is unknown.
    pub async fn commit_if(&self, commit: Commit, also: Vec<Register>) -> Result<(), CommitError> {
        let pending = self.queue_commit(commit, also, None).map_err(|_| CommitError::Unavailable)?;
        pending.await
    }

    /// Returns the present values of registers.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn registers(&self, keys: &[Key]) -> Result<Vec<u64>, Corrupt> {
        let store = self.shared.barrier.store();
        keys.iter().map(|key| store.register(key).map_err(|error| Corrupt::from(&error))).collect()
    }

    /// Sets registers if they have the expected values.
    ///
    /// # Errors
    /// Returns [`CommitError`] if they were not set, or if that is unknown.
    pub async fn set_registers(&self, expect: Vec<Register>, set: Vec<Register>) -> Result<(), CommitError> {
        let batch = Batch { expect, set, ..Batch::default() };
        self.committer.commit(batch, Effects::default(), None).await
    }

    /// Commits the mark of a new group of this daemon, and nothing else.
    ///
    /// # Errors
    /// Returns [`CommitError`] if it was not committed, or if that is unknown.
    pub async fn commit_mark(&self) -> Result<(), CommitError> {
        let renewal = self.shared.guard.renewal(&self.shared.barrier);
        let batch = renewal.map_err(|_| CommitError::Unavailable)?;
        self.committer.commit(batch, Effects::default(), None).await
    }

    /// Returns rows as they are stored.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn stored(&self, page: Page<'_>) -> Result<Vec<Row>, Corrupt> {
        self.shared.barrier.store().rows(page).map_err(|error| Corrupt::from(&error))
    }

    /// Returns whether other daemons may use the store.
    pub fn is_shared(&self) -> bool {
        self.shared.barrier.store().is_remote()
    }

    /// Returns a short name of this daemon among those that share the store.
    pub(crate) fn daemon_tag(&self) -> u32 {
        let [first, second, third, fourth, ..] = self.shared.guard.daemon();
        u32::from_be_bytes([first, second, third, fourth])
    }

    /// Waits until the group that is being committed is durable. A record that an attempt missed may just have been removed,
    /// and the next attempt shows whether it was.
    async fn wait_for_removal(&self, dependencies: &[(OrganizationId, u64)]) -> Result<(), ApiError> {
        self.evict(dependencies);
        self.commit(Commit::default()).await.map_err(commit_api_error)
    }

    /// Makes a commit on a shared store depend on each organization that the decision relied on. Another daemon may have
    /// changed any of them.
    fn expect_all(&self, commit: &mut Commit, dependencies: &[(OrganizationId, u64)]) {
        if self.is_shared() {
            let further = dependencies.iter().filter(|one| !commit.expect.contains(one)).copied();
            let further: BTreeSet<_> = further.collect();
            commit.expect.extend(further);
        }
    }

    /// Rests before a further attempt on a shared store. Organizations are locked against rivals of this daemon only.
    async fn rest(&self, attempts: u32) {
        if attempts > 1 && self.is_shared() {
            let most = u64::from(attempts.min(RESTS)).saturating_mul(REST);
            tokio::time::sleep(backoff::random(most)).await;
        }
    }

    fn decide(
        world: &TrackingWorld<'_>,
        operation: &'static Operation,
        credentials: &Credentials,
        body: &Bytes,
    ) -> Attempt {
        fail_points::reach("attempt.decide");
        let failed = Cell::new(false);
        let mut entropy = |buffer: &mut [u8]| {
            if getrandom::fill(buffer).is_err() {
                failed.set(true);
            }
        };
        let (now, order) = clock::ordered();
        let mut runtime = Runtime { now, order, entropy: &mut entropy };
        let attempt = pipeline::submit(world, &mut runtime, operation, credentials, body);
        if failed.get() {
            return Attempt::error(&Corrupt::Invariant("the random source failed").into());
        }
        attempt
    }

    /// Encrypts a commit and queues it. The future completes when the commit is durable.
    fn queue_commit(
        &self,
        commit: Commit,
        also: Vec<Register>,
        deciding: Option<Deciding>,
    ) -> Result<impl Future<Output = Result<(), CommitError>> + use<>, ApiError> {
        fail_points::reach("attempt.seal");
        let Commit { expect, must_not_exist, must_be_empty, mut writes, after, set, change_events, used } =
            commit;
        let versions = after.iter().map(|after| (after.id(), after.head.version));
        let register = |(id, version)| (layout::version(id), version);
        let set = versions.chain(set).map(register).collect();
        let effects = Effects::of(&mut writes, after, change_events, used);
        let writes = self.shared.barrier.seal(writes).map_err(|corrupt| {
            log(Some(&corrupt));
            RequestError::from(corrupt).api_error()
        })?;
        fail_points::reach("attempt.sealed");
        let batch = Batch {
            expect: expect.into_iter().map(register).chain(also).collect(),
            must_not_exist,
            must_be_empty,
            set,
            writes,
            ..Batch::default()
        };
        let pending = self.committer.commit(batch, effects, deciding);
        fail_points::reach("attempt.queued");
        Ok(pending)
    }
}

/// Makes the commit of an attempt depend on keys that were not read. Without a commit, they must be read.
fn must_be_read(unread: Vec<Key>, attempt: &mut Attempt) -> bool {
    match &mut attempt.commit {
        Some(commit) => {
            commit.must_not_exist.extend(unread);
            false
        }
        None => !unread.is_empty(),
    }
}

/// Returns the organization that the commit of a request creates, if a registrant creates it.
fn registered(operation: &Operation, commit: &Commit) -> Option<OrganizationId> {
    let created = commit.after.last().filter(|_| operation.creates_organizations())?;
    Some(created.id())
}

fn log_registered(organization: Option<OrganizationId>, credentials: &Credentials) {
    if let Some(organization) = organization {
        let client = credentials.source.map(tracing::field::display);
        tracing::info!(%organization, client, "an organization was registered");
    }
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
        CommitError::Journal => ApiError::new(
            Code::Unavailable,
            "the journal of the service cannot be written, nothing was changed; try again once its operator has mended that",
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
