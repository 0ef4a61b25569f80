//! Snapshots of organizations in memory: the newest durable one of each that was used lately.

use std::sync::{Arc, Mutex, PoisonError};

use quorate_common::ids::OrganizationId;
use quorate_core::model::Organization;
use quorate_core::records;
use quorate_core::refusal::Corrupt;

use super::version_key;
use crate::barrier::Barrier;
use crate::cache::TwoGenerations;

/// How many organizations are kept in memory.
const ORGANIZATIONS: usize = 1024;

/// See the module.
pub(super) struct Snapshots(Mutex<TwoGenerations<OrganizationId, Arc<Organization>>>);

impl Default for Snapshots {
    fn default() -> Self {
        Self(Mutex::new(TwoGenerations::new(ORGANIZATIONS)))
    }
}

impl Snapshots {
    /// The snapshot of an organization, read from the store if it is not at hand.
    pub(super) fn organization(
        &self,
        barrier: &Barrier,
        id: OrganizationId,
    ) -> Result<Option<Arc<Organization>>, Corrupt> {
        // One that was deleted is kept for its version, so that nothing older takes its place.
        let there = |one: &Arc<Organization>| one.head.deleted.is_none();
        if let Some(organization) = self.lock().value(&id) {
            return Ok(Some(organization).filter(there));
        }
        let register = version_key(id);
        let version =
            || barrier.store().register(&register).map_err(|error| Corrupt::Store(error.to_string()));
        loop {
            let before = version()?;
            let Some(organization) = records::organization(barrier, id)? else { return Ok(None) };
            // The reads are not one snapshot of the store: if a commit came between, read again.
            if version()? != before {
                continue;
            }
            if organization.head.version != before {
                return Err(Corrupt::Record("organization"));
            }
            let organization = Arc::new(organization);
            return Ok(Some(self.newest(organization)).filter(there));
        }
    }

    /// Puts a snapshot in the place of an older one.
    pub(super) fn publish(&self, organization: Organization) {
        self.newest(Arc::new(organization));
    }

    fn newest(&self, organization: Arc<Organization>) -> Arc<Organization> {
        let mut cache = self.lock();
        match cache.value(&organization.id()) {
            Some(present) if present.head.version >= organization.head.version => present,
            _ => {
                cache.keep(organization.id(), Arc::clone(&organization));
                organization
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, TwoGenerations<OrganizationId, Arc<Organization>>> {
        // A panic while the lock is held leaves the cache as good as it was.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
