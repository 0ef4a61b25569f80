//! The world as one attempt at an answer sees it. It records what the answer relied on: the organizations that it saw,
//! with their versions. What the answer reads and what its policies take comes out of its budget.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use quorate_common::ids::OrganizationId;
use quorate_core::budget::Budget;
use quorate_core::limits::Limits;
use quorate_core::model::Organization;
use quorate_core::model::layout::{IndexKey, Key};
use quorate_core::policy::DenyErrors;
use quorate_core::refusal::Corrupt;
use quorate_core::world::{Keyring, Library, Page, QuorumKey, Records, World};

use super::Shared;

/// Organizations with the versions that were seen; zero for one that does not exist.
pub(super) type Relied = Vec<(OrganizationId, u64)>;

/// See the module.
pub(super) struct Relying<'a> {
    shared: &'a Shared,
    budget: Budget,
    seen: RefCell<Relied>,
    /// If set, only snapshots that are cached are given, and these.
    loaded: Option<&'a [OrganizationId]>,
    /// A snapshot that was asked for and is not cached.
    missing: Cell<Option<OrganizationId>>,
}

impl<'a> Relying<'a> {
    /// The world of an attempt that has seen nothing yet.
    pub(super) fn on(shared: &'a Shared, budget: Budget) -> Self {
        Self { shared, budget, seen: RefCell::default(), loaded: None, missing: Cell::new(None) }
    }

    /// As [`Self::on`], but only with snapshots that are cached, or were loaded just now.
    pub(super) fn on_cached(shared: &'a Shared, budget: Budget, loaded: &'a [OrganizationId]) -> Self {
        Self { loaded: Some(loaded), ..Self::on(shared, budget) }
    }

    /// The organizations that were seen.
    pub(super) fn relied(&self) -> Relied {
        self.seen.take()
    }

    /// A snapshot that was asked for and is not cached. What followed from that is void.
    pub(super) fn missing(&self) -> Option<OrganizationId> {
        self.missing.get()
    }
}

impl Records for Relying<'_> {
    fn read(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Corrupt> {
        self.budget.take_rows(1)?;
        self.shared.barrier.read(key)
    }

    fn page(&self, page: Page<'_>) -> Result<Vec<(Key, Vec<u8>)>, Corrupt> {
        self.budget.check()?;
        let rows = self.shared.barrier.page(page)?;
        self.budget.take_rows(rows.len().max(1))?;
        Ok(rows)
    }

    fn keys(&self, page: Page<'_>) -> Result<Vec<Key>, Corrupt> {
        self.budget.check()?;
        let keys = self.shared.barrier.keys(page)?;
        self.budget.take_rows(keys.len().max(1))?;
        Ok(keys)
    }
}

impl World for Relying<'_> {
    fn organization(&self, id: OrganizationId) -> Result<Option<Arc<Organization>>, Corrupt> {
        let may_load = self.loaded.is_none_or(|loaded| loaded.contains(&id));
        if !may_load && !self.shared.snapshots.has(id) {
            self.missing.set(Some(id));
            return Err(Corrupt::Invariant("the snapshot of an organization is not cached"));
        }
        self.budget.check()?;
        let organization = self.shared.organization(id)?;
        let version = organization.as_ref().map_or(0, |organization| organization.head.version);
        self.seen.borrow_mut().push((id, version));
        Ok(organization)
    }

    fn version(&self, id: OrganizationId) -> Result<u64, Corrupt> {
        self.budget.take_rows(1)?;
        let version = self.shared.version(id)?;
        self.seen.borrow_mut().push((id, version));
        Ok(version)
    }

    fn records(&self) -> &dyn Records {
        self
    }

    fn keyring(&self) -> &dyn Keyring {
        self.shared.keyring()
    }

    fn quorum_key(&self) -> &dyn QuorumKey {
        self.shared.quorum_key()
    }

    fn library(&self) -> &dyn Library {
        self.shared.library()
    }

    fn index(&self) -> &IndexKey {
        self.shared.index()
    }

    fn budget(&self) -> &Budget {
        &self.budget
    }

    fn limits(&self) -> &Limits {
        self.shared.limits()
    }

    fn webhook_allowed(&self, url: &str) -> Result<(), &'static str> {
        self.shared.webhook_allowed(url)
    }

    fn sends_mail(&self) -> bool {
        self.shared.sends_mail()
    }

    fn takes_founders(&self) -> bool {
        self.shared.takes_founders()
    }

    fn deny_errors(&self) -> DenyErrors {
        self.shared.deny_errors()
    }
}
