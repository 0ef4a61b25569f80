//! Answers that change nothing: to queries and to the console. Each answer has a budget and is cancelled when
//! its client disconnects. It is returned only after the data it relied on is confirmed.

use std::sync::Arc;

use bytes::Bytes;
use quorate_common::api_error::{ApiError, Code};
use quorate_common::catalog::Cost;
use quorate_common::ids::OrganizationId;
use quorate_core::authn::Credentials;
use quorate_core::budget::{Budget, CancelOnDrop, Cancellation};
use quorate_core::error::{Corrupt, RequestError};
use quorate_core::model::layout;
use quorate_core::pipeline::Attempt;
use quorate_core::queries::{self, Admitted, Entry};
use quorate_core::world::World;

use super::tracking::{Dependencies, Loaded, Missing, TrackingWorld};
use super::{ATTEMPTS, Executor, log, unavailable};
use crate::clock::now;
use crate::readers::{Account, NotRun};

/// A computed answer, the organizations that it relied on, and what it lacked.
type Computed = (Attempt, Dependencies, Option<Missing>);

impl Executor {
    /// Answers a query. If the future is dropped, the work ends at its next read.
    ///
    /// # Errors
    /// Returns the error of the query, or [`Code::Unavailable`] if the data kept changing.
    pub async fn query(
        &self,
        entry: &'static Entry,
        credentials: &Credentials,
        body: &Bytes,
    ) -> Result<Vec<u8>, ApiError> {
        let cancellation = Cancellation::default();
        let _cancel = CancelOnDrop(cancellation.clone());
        for _ in 0..ATTEMPTS {
            let (attempt, dependencies, missing) =
                self.attempt(entry, credentials, body, &cancellation).await?;
            if let Some(missing) = missing {
                self.load(missing, &dependencies, &mut Loaded::default()).await?;
                continue;
            }
            if self.is_current(&dependencies, attempt.corrupt.as_ref())? {
                self.shared.last_uses.note(attempt.used.as_ref());
                return self.persist_expiry(attempt.answer);
            }
        }
        Err(unavailable())
    }

    /// Computes an answer that is not yet confirmed. Cheap answers are computed in place, others on a reader
    /// thread. If something is missing, the answer must be discarded.
    async fn attempt(
        &self,
        entry: &'static Entry,
        credentials: &Credentials,
        body: &Bytes,
        cancellation: &Cancellation,
    ) -> Result<Computed, ApiError> {
        let (admitted, dependencies) = self.admit(entry, credentials, body, cancellation).await?;
        let admitted = match admitted {
            Ok(admitted) => admitted,
            Err(error) => return Ok((Attempt::error(&error), dependencies, None)),
        };
        let account = Account { tenant: admitted.tenant(), organization: admitted.organization() };
        let shared = Arc::clone(&self.shared);
        let budget = Budget::of_query(&shared.limits, cancellation.clone());
        let answer = move || {
            let world = TrackingWorld::on(&shared, budget);
            let attempt = admitted.answer(&world);
            (attempt, [dependencies, world.dependencies()].concat(), world.missing())
        };
        Ok(match entry.cost {
            Cost::Small => answer(),
            Cost::Large => self.shared.readers.run(account, answer).await.unwrap_or_else(not_run),
        })
    }

    /// Authenticates a query; also returns the organizations that the result relies on.
    async fn admit(
        &self,
        entry: &'static Entry,
        credentials: &Credentials,
        body: &Bytes,
        cancellation: &Cancellation,
    ) -> Result<(Result<Admitted, RequestError>, Dependencies), ApiError> {
        let mut loaded = Loaded::default();
        for _ in 0..ATTEMPTS {
            let (missing, dependencies) = {
                let budget = Budget::of_query(&self.shared.limits, cancellation.clone());
                let world = TrackingWorld::on_cached(&self.shared, budget, &loaded);
                let admitted = queries::admit(&world, now(), entry, credentials, body);
                match world.missing() {
                    None => return Ok((admitted, world.dependencies())),
                    Some(missing) => (missing, world.dependencies()),
                }
            };
            self.load(missing, &dependencies, &mut loaded).await?;
        }
        Err(unavailable())
    }

    /// Loads what an attempt lacked. `seen` are the organizations that it relied on; the first is the one that the
    /// request names. Snapshots are added to `loaded`, since they may be evicted before the next attempt, and so is the
    /// outcome of an exchange, which cannot be made twice.
    ///
    /// # Errors
    /// If too much is being loaded.
    pub(super) async fn load(
        &self,
        missing: Missing,
        seen: &Dependencies,
        loaded: &mut Loaded,
    ) -> Result<(), ApiError> {
        match missing {
            Missing::Organization(id) => {
                self.load_snapshot(id).await;
                loaded.organizations.push(id);
                Ok(())
            }
            Missing::Issuer(issuer, key_id) => {
                self.shared.issuers.load(&issuer, key_id.as_deref(), self.account(seen)).await
            }
            Missing::Exchange(exchange) => self.exchange(*exchange, seen, self.account(seen), loaded).await,
        }
    }

    /// Returns whom the work for a request is charged to, from the organizations that it relied on.
    fn account(&self, seen: &Dependencies) -> Account {
        let named = seen.first().map_or(layout::NO_PARENT, |(id, _)| *id);
        // An organization that cannot be read has a share of its own.
        let organization = self.shared.organization(named).ok().flatten();
        let tenant = organization.and_then(|one| one.head.parent).unwrap_or(named);
        Account { tenant, organization: named }
    }

    /// Reads a snapshot on another thread, so that requests for many uncached snapshots do not delay others.
    async fn load_snapshot(&self, id: OrganizationId) {
        let shared = Arc::clone(&self.shared);
        // An error here occurs again when the snapshot is read.
        let load = move || drop(shared.organization(id));
        let account = Account { tenant: id, organization: id };
        // If too many reads are waiting, the caller reads the snapshot itself.
        let _ = self.shared.loaders.run(account, load).await;
    }

    /// Computes an answer that carries no commit. It is returned if all that it relied on is durable and
    /// unchanged since; otherwise it is computed again. Each attempt has the budget of a query.
    ///
    /// # Errors
    /// Returns the error of `answer`, or [`Code::Unavailable`] if the data kept changing.
    pub fn read<T>(
        &self,
        cancellation: &Cancellation,
        answer: impl Fn(&dyn World) -> Result<T, RequestError>,
    ) -> Result<T, ApiError> {
        for _ in 0..ATTEMPTS {
            let budget = Budget::of_query(&self.shared.limits, cancellation.clone());
            let world = TrackingWorld::on(&self.shared, budget);
            let answer = answer(&world);
            let corrupt = match &answer {
                Err(RequestError::Corrupt(corrupt)) => Some(corrupt),
                _ => None,
            };
            if self.is_current(&world.dependencies(), corrupt)? {
                return answer.map_err(|error| error.api_error());
            }
        }
        Err(unavailable())
    }

    /// Persists the time before an expired credential is rejected, so that it stays rejected.
    pub(super) fn persist_expiry<T>(&self, answer: Result<T, ApiError>) -> Result<T, ApiError> {
        if answer.as_ref().is_err_and(|error| error.has_expired) {
            self.shared.persist_time();
        }
        answer
    }

    /// Returns whether an answer may be returned. It must be computed again if the data it relied on has
    /// changed, or may have been read partly before and partly after a change. An internal error of a current answer is logged, and an altered organization is not served
    /// anymore.
    pub(super) fn is_current(
        &self,
        dependencies: &[(OrganizationId, u64)],
        corrupt: Option<&Corrupt>,
    ) -> Result<bool, ApiError> {
        if let Some(Corrupt::Outdated(id, version)) = corrupt {
            self.shared.snapshots.evict_outdated(*id, *version);
            return Ok(false);
        }
        if !self.confirm(dependencies)? || corrupt.is_some() && !self.are_newest(dependencies)? {
            self.evict(dependencies);
            return Ok(false);
        }
        log(corrupt);
        if let Some(Corrupt::Altered(id)) = corrupt {
            self.shared.snapshots.stop(*id);
        }
        Ok(true)
    }

    /// Removes the snapshots that a decision relied on.
    pub(super) fn evict(&self, dependencies: &[(OrganizationId, u64)]) {
        for (id, _) in dependencies {
            self.shared.snapshots.evict(*id);
        }
    }

    /// Removes the snapshots that were outdated. After a change by this daemon, the newer one is cached already.
    pub(super) fn evict_outdated(&self, dependencies: &[(OrganizationId, u64)]) {
        for (id, version) in dependencies {
            self.shared.snapshots.evict_outdated(*id, *version);
        }
    }

    /// Returns whether the organizations that an answer relied on still have the versions that it used.
    fn confirm(&self, dependencies: &[(OrganizationId, u64)]) -> Result<bool, ApiError> {
        let registers: Vec<_> =
            dependencies.iter().map(|(id, version)| (layout::version(*id), *version)).collect();
        self.shared.barrier.store().confirm(&registers).map_err(|error| unreadable(Corrupt::from(&error)))
    }

    /// Returns whether the snapshots that an answer relied on are the newest ones. An older one may name records that
    /// are deleted already.
    fn are_newest(&self, dependencies: &[(OrganizationId, u64)]) -> Result<bool, ApiError> {
        for (id, version) in dependencies {
            if self.shared.version(*id).map_err(unreadable)? != *version {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Logs why the store cannot be read, and returns the error for the client.
fn unreadable(corrupt: Corrupt) -> ApiError {
    log(Some(&corrupt));
    RequestError::from(corrupt).api_error()
}

/// Returns the answer to a query that was not run.
fn not_run(why: NotRun) -> Computed {
    let attempt = match why {
        NotRun::Panicked => Attempt::error(&Corrupt::Invariant("a reader thread panicked").into()),
        NotRun::Crowded => {
            let message = "too many waiting queries of this organization (limits.readers_per_organization)";
            let error = ApiError::new(Code::ResourceExhausted, message).reason("RATE_LIMIT_EXCEEDED");
            Attempt::of(Err(error))
        }
    };
    (attempt, Dependencies::new(), None)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::super::testing;
    use super::*;
    use crate::store::embedded::Embedded;
    use crate::store::{Batch, Group};

    const ID: OrganizationId = OrganizationId::from_bytes([7; 16]);

    /// Reads a version, after which a change commits if it is this one, and a record is missing.
    fn read(executor: &Executor, torn_at: Option<u64>) -> Result<u64, ApiError> {
        executor.read(&Cancellation::default(), |world| {
            let version = world.version(ID)?;
            if torn_at.is_none_or(|torn| version < torn) {
                let set = vec![(layout::version(ID), version.saturating_add(u64::from(torn_at.is_some())))];
                executor
                    .shared
                    .barrier
                    .store()
                    .commit(&Group::of(Batch { set, ..Batch::default() }))
                    .unwrap();
                return Err(Corrupt::Record("record").into());
            }
            Ok(version)
        })
    }

    #[tokio::test]
    async fn an_answer_that_was_read_around_a_change_is_computed_again() {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(Embedded::open(&folder.path().join("store"), 0).unwrap());
        let executor = Executor::start(testing::shared(folder.path(), store).0);
        assert_eq!(read(&executor, Some(3)), Ok(3));
        let damaged = read(&executor, None).unwrap_err();
        assert_eq!(damaged.code, Code::Internal);
    }
}
