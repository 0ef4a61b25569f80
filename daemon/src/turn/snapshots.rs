//! Snapshots of organizations in memory: the newest durable one of each that was used lately.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use quorate_common::ids::OrganizationId;
use quorate_core::model::Organization;
use quorate_core::records;
use quorate_core::refusal::Corrupt;

use super::version;
use crate::barrier::Barrier;
use crate::cache::TwoGenerations;
use crate::fail_points;

/// How many organizations are kept in memory, if their bytes allow it.
const ORGANIZATIONS: usize = 1024;

/// See the module.
pub(super) struct Snapshots(Mutex<Cache>);

struct Cache {
    organizations: TwoGenerations<OrganizationId, Arc<Organization>>,
    /// Organizations that are served no longer, since their records were altered.
    stopped: HashSet<OrganizationId>,
    /// How often all of them were dropped.
    epoch: u64,
}

impl Snapshots {
    /// Keeps snapshots of at most so many bytes together.
    pub(super) fn new(bytes: usize) -> Self {
        let organizations = TwoGenerations::weighed(ORGANIZATIONS, bytes);
        Self(Mutex::new(Cache { organizations, stopped: HashSet::new(), epoch: 0 }))
    }

    /// Whether the snapshot of an organization is cached.
    pub(super) fn has(&self, id: OrganizationId) -> bool {
        self.lock().organizations.value(&id).is_some()
    }

    /// Returns the snapshot of an organization, read from the store if it is not cached.
    pub(super) fn organization(
        &self,
        barrier: &Barrier,
        id: OrganizationId,
    ) -> Result<Option<Arc<Organization>>, Corrupt> {
        // One that was deleted is kept for its version, so that nothing older takes its place.
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
            // The reads are not one snapshot of the store: if a commit came between, read again.
            if version(barrier, id)? != before {
                continue;
            }
            let Some(organization) = organization? else {
                // A head stays when its organization is deleted.
                let was_removed = before != 0 && records::head(barrier, id)?.is_none();
                return if was_removed { Err(Corrupt::Altered(id)) } else { Ok(None) };
            };
            if organization.head.version != before {
                return Err(Corrupt::Altered(id));
            }
            let mut cache = self.lock();
            // What was read before the store was reopened may not be what it holds now.
            if cache.epoch == epoch {
                return Ok(Some(cache.newest(Arc::new(organization))).filter(exists));
            }
        }
    }

    /// Puts a snapshot in the place of an older one.
    pub(super) fn publish(&self, organization: Organization) {
        self.lock().newest(Arc::new(organization));
    }

    /// Drops the snapshot of an organization.
    pub(super) fn evict(&self, id: OrganizationId) {
        self.lock().organizations.forget(&id);
    }

    /// Drops the snapshot of an organization if it is of this version or an older one.
    pub(super) fn evict_outdated(&self, id: OrganizationId, version: u64) {
        let mut cache = self.lock();
        if cache.organizations.value(&id).is_some_and(|present| present.head.version <= version) {
            cache.organizations.forget(&id);
        }
    }

    /// Serves an organization no longer, until all snapshots are dropped.
    pub(super) fn stop(&self, id: OrganizationId) {
        self.lock().stopped.insert(id);
    }

    /// Drops all snapshots, also those that are being read.
    pub(super) fn clear(&self) {
        let mut cache = self.lock();
        cache.epoch = cache.epoch.wrapping_add(1);
        cache.organizations.retain(|_| false);
        cache.stopped.clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Cache> {
        // A panic while the lock is held leaves the cache as good as it was.
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
