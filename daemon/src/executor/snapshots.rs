//! Snapshots of organizations in memory: the newest durable version of each recently used organization.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use quorate_common::ids::OrganizationId;
use quorate_core::error::Corrupt;
use quorate_core::model::{Organization, layout};
use quorate_core::records;

use crate::barrier::Barrier;
use crate::cache::TwoGenerations;
use crate::fail_points;

/// Maximum number of cached organizations; their memory is bounded as well.
const ORGANIZATIONS: usize = 1024;

/// A cache of snapshots.
pub(super) struct Snapshots(Mutex<Cache>);

struct Cache {
    organizations: TwoGenerations<OrganizationId, Arc<Organization>>,
    /// Organizations that are not served anymore, because their records were altered.
    stopped: HashSet<OrganizationId>,
    /// Number of times that the cache was cleared.
    epoch: u64,
}

impl Snapshots {
    /// Creates a cache of snapshots with at most `bytes` bytes in total.
    pub(super) fn new(bytes: usize) -> Self {
        let organizations = TwoGenerations::weighed(ORGANIZATIONS, bytes);
        Self(Mutex::new(Cache { organizations, stopped: HashSet::new(), epoch: 0 }))
    }

    /// Returns whether the snapshot of an organization is cached.
    pub(super) fn has(&self, id: OrganizationId) -> bool {
        self.lock().organizations.value(&id).is_some()
    }

    /// Returns the snapshot of an organization, which is read from the store if it is not cached.
    ///
    /// # Errors
    /// Returns [`Corrupt::Altered`] if the records of the organization were altered, and an error if they
    /// cannot be read.
    pub(super) fn organization(
        &self,
        barrier: &Barrier,
        id: OrganizationId,
    ) -> Result<Option<Arc<Organization>>, Corrupt> {
        // The snapshot of a deleted organization stays cached for its version, so that no older one replaces
        // it.
        let exists = |one: &Arc<Organization>| one.head.deleted.is_none();
        loop {
            let epoch = {
                let mut cache = self.lock();
                if cache.stopped.contains(&id) {
                    return Err(Corrupt::Altered(id));
                }
                if let Some(organization) = cache.organizations.value(&id) {
                    return Ok(Some(organization).filter(exists));
                }
                cache.epoch
            };
            fail_points::reach("snapshot.read");
            let before = version(barrier, id)?;
            let organization = records::organization(barrier, id);
            // The reads are not one snapshot of the store. If a commit happened in between, they are
            // repeated.
            if version(barrier, id)? != before {
                continue;
            }
            let Some(organization) = organization? else {
                // The head of a deleted organization is kept.
                let was_removed = before != 0 && records::head(barrier, id)?.is_none();
                return if was_removed { Err(Corrupt::Altered(id)) } else { Ok(None) };
            };
            if organization.head.version != before {
                return Err(Corrupt::Altered(id));
            }
            let mut cache = self.lock();
            // A snapshot that was read before the store was reopened may not match the store anymore.
            if cache.epoch == epoch {
                return Ok(Some(cache.newest(Arc::new(organization))).filter(exists));
            }
        }
    }

    /// Replaces an older snapshot.
    pub(super) fn publish(&self, organization: Organization) {
        self.lock().newest(Arc::new(organization));
    }

    /// Removes the snapshot of an organization.
    pub(super) fn evict(&self, id: OrganizationId) {
        self.lock().organizations.forget(&id);
    }

    /// Removes the snapshot of an organization if it has this version or an older one.
    pub(super) fn evict_outdated(&self, id: OrganizationId, version: u64) {
        let mut cache = self.lock();
        if cache.organizations.value(&id).is_some_and(|present| present.head.version <= version) {
            cache.organizations.forget(&id);
        }
    }

    /// Stops serving an organization until the cache is cleared.
    pub(super) fn stop(&self, id: OrganizationId) {
        self.lock().stopped.insert(id);
    }

    /// Removes all snapshots, including those that are being read.
    pub(super) fn clear(&self) {
        let mut cache = self.lock();
        cache.epoch = cache.epoch.wrapping_add(1);
        cache.organizations.retain(|_| false);
        cache.stopped.clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Cache> {
        // A panic while the lock is held leaves the cache in a valid state.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cache {
    fn newest(&mut self, organization: Arc<Organization>) -> Arc<Organization> {
        match self.organizations.value(&organization.id()) {
            Some(present) if present.head.version >= organization.head.version => present,
            _ => {
                let bytes = organization.cached_bytes();
                self.organizations.keep_weighed(organization.id(), Arc::clone(&organization), bytes);
                organization
            }
        }
    }
}

/// Returns the version of an organization in the store.
pub(super) fn version(barrier: &Barrier, id: OrganizationId) -> Result<u64, Corrupt> {
    barrier.store().register(&layout::version(id)).map_err(|error| Corrupt::from(&error))
}
