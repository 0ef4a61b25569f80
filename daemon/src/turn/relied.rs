//! What an answer relied on: the organizations that it saw, with their versions.

use std::cell::RefCell;
use std::sync::Arc;

use quorate_common::ids::OrganizationId;
use quorate_core::limits::Limits;
use quorate_core::model::Organization;
use quorate_core::model::layout::IndexKey;
use quorate_core::policy::DenyErrors;
use quorate_core::refusal::Corrupt;
use quorate_core::world::{Keyring, Library, QuorumKey, Records, World};

use super::Shared;

/// The world as one attempt sees it.
pub(super) struct Relying<'a> {
    shared: &'a Shared,
    seen: RefCell<Vec<(OrganizationId, u64)>>,
}

impl<'a> Relying<'a> {
    /// The world of an attempt that has seen nothing yet.
    pub(super) fn on(shared: &'a Shared) -> Self {
        Self { shared, seen: RefCell::default() }
    }

    /// The organizations that were seen, with their versions; zero for one that does not exist.
    pub(super) fn relied(&self) -> Vec<(OrganizationId, u64)> {
        self.seen.take()
    }
}

impl World for Relying<'_> {
    fn organization(&self, id: OrganizationId) -> Result<Option<Arc<Organization>>, Corrupt> {
        let organization = self.shared.organization(id)?;
        let version = organization.as_ref().map_or(0, |organization| organization.head.version);
        self.seen.borrow_mut().push((id, version));
        Ok(organization)
    }

    fn version(&self, id: OrganizationId) -> Result<u64, Corrupt> {
        let version = self.shared.version(id)?;
        self.seen.borrow_mut().push((id, version));
        Ok(version)
    }

    fn records(&self) -> &dyn Records {
        self.shared.records()
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
