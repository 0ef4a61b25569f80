//! The world as seen by one attempt at an answer. It records the organizations that the answer relied on,
//! with their versions. Reads and policy evaluation are charged to the budget of the answer.

use std::cell::RefCell;
use std::sync::Arc;

use quorate_common::bounded::Email;
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::OrganizationId;
use quorate_core::budget::Budget;
use quorate_core::denials::Denials;
use quorate_core::error::{Corrupt, Intent, RequestError};
use quorate_core::id_token::IssuerKeys;
use quorate_core::model::Organization;
use quorate_core::model::layout::{self, IndexKey, Key};
use quorate_core::model::queued_message::{Channel, MessageSource, QueueUsage};
use quorate_core::oauth2::{Exchange, Oauth2User};
use quorate_core::world::{Installation, InterfaceCache, Keyring, Page, Records, World};

use super::Shared;
use crate::oauth2::Exchanged;

/// Organizations and the versions that were seen; version zero means that the organization does not exist.
pub(super) type Dependencies = Vec<(OrganizationId, u64)>;

/// A [`World`] that records what an answer relies on.
pub(super) struct TrackingWorld<'a> {
    shared: &'a Shared,
    budget: Budget,
    seen: RefCell<Dependencies>,
    /// If set, only cached snapshots and these are returned.
    loaded: Option<&'a Loaded>,
    /// What was requested and is not cached.
    missing: RefCell<Option<Missing>>,
    /// A body that is presumed to be new.
    new: Option<Fingerprint>,
    /// Keys of this body that would have been read.
    unread: RefCell<Vec<Key>>,
}

/// What was loaded for a request between its attempts.
#[derive(Default)]
pub(super) struct Loaded {
    /// Snapshots that were read.
    pub(super) organizations: Vec<OrganizationId>,
    /// The exchange of an authorization code.
    pub(super) exchanged: Option<Exchanged>,
}

/// Something that must be loaded before a request can be answered.
pub(super) enum Missing {
    /// Snapshot of an organization.
    Organization(OrganizationId),
    /// Keys of an OpenID Connect issuer, and the id of the key that is needed.
    Issuer(String, Option<String>),
    /// Outcome of the exchange of an authorization code.
    Exchange(Box<Exchange>),
}

impl<'a> TrackingWorld<'a> {
    /// Creates the world of a new attempt.
    pub(super) fn on(shared: &'a Shared, budget: Budget) -> Self {
        Self {
            shared,
            budget,
            seen: RefCell::default(),
            loaded: None,
            missing: RefCell::default(),
            new: None,
            unread: RefCell::default(),
        }
    }

    /// Creates a world as [`Self::on`] does, but only with snapshots that are cached or in `loaded`.
    pub(super) fn on_cached(shared: &'a Shared, budget: Budget, loaded: &'a Loaded) -> Self {
        Self { loaded: Some(loaded), ..Self::on(shared, budget) }
    }

    /// Presumes that the body with this fingerprint is new, without reading whether it was processed before. A commit then
    /// depends on what was not read, see [`Self::unread`]; an answer without a commit must be computed again.
    pub(super) fn with_new(self, new: Option<Fingerprint>) -> Self {
        Self { new, ..self }
    }

    /// Returns the keys that were not read, and must not exist.
    pub(super) fn unread(&self) -> Vec<Key> {
        self.unread.take()
    }

    /// Returns the organizations that were seen.
    pub(super) fn dependencies(&self) -> Dependencies {
        self.seen.take()
    }

    /// Returns what was requested and is not cached. If there is something, the answer must be discarded.
    pub(super) fn missing(&self) -> Option<Missing> {
        self.missing.take()
    }
}

impl Records for TrackingWorld<'_> {
    fn read(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Corrupt> {
        self.budget.take_rows(1)?;
        if self.new.as_ref().is_some_and(|new| layout::is_of_body(key, new)) {
            self.unread.borrow_mut().push(key.to_vec());
            return Ok(None);
        }
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

impl World for TrackingWorld<'_> {
    fn installation(&self) -> &dyn Installation {
        self.shared
    }

    fn organization(&self, id: OrganizationId) -> Result<Option<Arc<Organization>>, Corrupt> {
        let may_load = self.loaded.is_none_or(|loaded| loaded.organizations.contains(&id));
        if !may_load && !self.shared.snapshots.has(id) {
            self.missing.replace(Some(Missing::Organization(id)));
            return Err(Corrupt::Invariant("the snapshot of an organization is not cached"));
        }
        self.budget.check()?;
        let organization = self.shared.organization(id)?;
        let version = match &organization {
            Some(organization) => organization.head.version,
            // That of a deleted organization is kept.
            None => self.shared.version(id)?,
        };
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

    fn interfaces(&self) -> &dyn InterfaceCache {
        self.shared.interfaces()
    }

    fn index(&self) -> &IndexKey {
        self.shared.index()
    }

    fn budget(&self) -> &Budget {
        &self.budget
    }

    fn denials(&self) -> &Denials {
        self.shared.denials()
    }

    fn mail_sender(&self) -> Option<&Email> {
        self.shared.mail_sender()
    }

    fn waiting_messages(&self, channel: Channel, source: &MessageSource) -> [QueueUsage; 3] {
        self.shared.waiting_messages(channel, source)
    }

    fn issuer_keys(&self, issuer: &str, key_id: Option<&str>) -> Result<Arc<IssuerKeys>, RequestError> {
        self.shared.known_issuer_keys(issuer, key_id).unwrap_or_else(|| {
            self.missing.replace(Some(Missing::Issuer(issuer.to_owned(), key_id.map(str::to_owned))));
            Err(Corrupt::Invariant("the keys of an issuer are not fetched").into())
        })
    }

    fn exchange(&self, exchange: Exchange, is_claimed: bool) -> Result<Arc<Oauth2User>, RequestError> {
        if let Some(exchanged) = self.loaded.and_then(|loaded| loaded.exchanged.as_ref()) {
            return exchanged.outcome(&exchange);
        }
        if is_claimed && !self.shared.exchanges(&exchange.claim) {
            let used = "the authorization code was used before, or its exchange was interrupted; start again";
            return Err(Intent::Oauth2(used).into());
        }
        self.missing.replace(Some(Missing::Exchange(Box::new(exchange))));
        Err(Corrupt::Invariant("an authorization code is not exchanged").into())
    }
}
