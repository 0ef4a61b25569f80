//! Snapshots of organizations in memory: the newest durable one of each that was used lately.

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
    /// How often all of them were dropped.
    epoch: u64,
}

impl Snapshots {
    /// Keeps snapshots of at most so many bytes together.
    pub(super) fn new(bytes: usize) -> Self {
        Self(Mutex::new(Cache { organizations: TwoGenerations::weighed(ORGANIZATIONS, bytes), epoch: 0 }))
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
                if let Some(organization) = cache.organizations.value(&id) {
                    return Ok(Some(organization).filter(exists));
                }
                cache.epoch
            };
            fail_points::reach("snapshot.read");
            let before = version(barrier, id)?;
            let Some(organization) = records::organization(barrier, id)? else { return Ok(None) };
            // The reads are not one snapshot of the store: if a commit came between, read again.
            if version(barrier, id)? != before {
                continue;
            }
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

    /// Drops all snapshots, also those that are being read.
    pub(super) fn clear(&self) {
        let mut cache = self.lock();
        cache.epoch = cache.epoch.wrapping_add(1);
        cache.organizations.retain(|_| false);
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
                let bytes = organization.bytes();
                self.organizations.keep_weighed(organization.id(), Arc::clone(&organization), bytes);
                organization
            }
        }
    }
}
