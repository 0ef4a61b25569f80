//! Opens the data: the directory, the vault, the store and the guard file. The order ensures that none of them
//! is created if another one exists already.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use quorate_common::bounded::{Email, Phone};
use quorate_common::ids::OrganizationId;
use quorate_core::limits::Limits;
use quorate_core::model::Organization;
use quorate_core::policy::DenyErrors;
use quorate_core::world::World as _;

use super::location::{Data, STORE, check_unused, create_private, lock_folder};
use super::{StartError, database};
use crate::auth_proxy;
use crate::barrier::Barrier;
use crate::clock;
use crate::custody::Headers;
use crate::epoch::Epoch;
use crate::executor::{Executor, Oauth2, PhoneCheck, Shared, WorldSettings};
use crate::fail_points;
use crate::guard::{self, Guard};
use crate::identity::Identity;
use crate::issuers::OidcSettings;
use crate::journal;
use crate::oauth2::Oauth2Settings;
use crate::outbox::sms::SmsPrefix;
use crate::outbox::{MailSettings, OutboxLimits, SmsSettings};
use crate::outgoing::{OutgoingUrl, ReceiverPolicy};
use crate::pages::PagesSettings;
use crate::store::embedded::Embedded;
use crate::store::engine::{self, Engine as StoreEngine};
use crate::store::{Access, StoreError};
use crate::upgrade;
use crate::vault::{Header, KeySource, StoreKey, Vault};
use crate::vitals::Place;

/// Time for which the records of the store are compared with their digest before requests are answered. The rest
/// of a larger store is compared in the background.
const COMPARED_AT_START: Duration = Duration::from_millis(250);

/// The part of a daemon without listeners, which is enough to create organizations.
pub struct Engine {
    /// Executor of requests.
    pub executor: Arc<Executor>,
    /// Keys of the daemon.
    pub identity: Identity,
    /// Location of the store.
    pub place: Place,
    /// Places of the header.
    pub headers: Arc<Headers>,
    /// Key of all sealed data of the store.
    pub store_key: StoreKey,
}

impl Drop for Engine {
    fn drop(&mut self) {
        // The thread of the committer may keep the store until the process ends.
        self.executor.world().close_store();
    }
}

/// Settings of the service behind the listeners.
#[derive(Default)]
pub struct ServiceSettings {
    /// Webhook receivers that may be reached.
    pub webhooks: ReceiverPolicy,
    /// Issuers whose ID tokens are accepted.
    pub oidc: OidcSettings,
    /// Sign-in with OAuth 2.0 providers; `None` if it is not enabled.
    pub oauth2: Option<Oauth2Settings>,
    /// Mail settings; `None` if no mail is sent.
    pub mail: Option<MailSettings>,
    /// SMS settings; `None` if no SMS is sent.
    pub sms: Option<SmsSettings>,
    /// Settings of the pages for browsers; `None` if they are not served.
    pub pages: Option<PagesSettings>,
    /// Whether any client may create an organization.
    pub allow_registration: bool,
    /// How many organizations one client address may create per hour; `None` for any number.
    pub registrations_per_address: Option<u32>,
    /// Registered organizations without the limits that apply to these.
    pub trusted: Vec<OrganizationId>,
    /// Effect of deny policies whose evaluation fails.
    pub deny_errors: DenyErrors,
    /// Whether this is a throwaway daemon of `quorated dev`.
    pub is_dev: bool,
    /// Settings of the authentication proxy; `None` if it is not served.
    pub auth_proxy: Option<auth_proxy::Settings>,
    /// Limits of one organization's share of the outbox.
    pub outbox: OutboxLimits,
    /// Warnings about the configuration, for operators.
    pub warnings: Vec<String>,
}

/// Opens the data and starts the committer.
///
/// # Errors
/// Returns an error if the store cannot be opened or written, or does not match its guard file.
pub fn open(data: &Data, limits: Limits, settings: &ServiceSettings) -> Result<Engine, StartError> {
    if let Some(journal) = &data.journal {
        journal::check_path(journal)?;
    }
    let barrier = open_store_as(data, Access::Shared)?;
    fail_points::reach("start.guard");
    if !data.joins {
        guard::check(&data.guard, &barrier)?;
    }
    fail_points::reach("start.identity");
    // The keys are created before the guard is opened, which would detect this write as one that bypasses it.
    let identity = if guard::is_marked(barrier.store().as_ref())? {
        Identity::open(&barrier)?
    } else {
        barrier.begin_first_term(clock::now())?;
        Identity::load_or_create(&barrier)?
    };
    let open = if data.joins { Guard::join } else { Guard::open };
    let (guard, newest) = open(&data.guard, &barrier, clock::now())?;
    clock::start_from(newest);
    let epoch = Epoch::read(&barrier)?;
    guard.open_journal(data.journal.as_deref(), &barrier, epoch.number, clock::now())?;
    fail_points::reach("start.compare");
    guard.compare_for(&barrier, COMPARED_AT_START)?;
    guard.compare_until_known(&barrier)?;
    barrier.store().share()?;
    let policy = settings.webhooks.clone();
    let webhooks = Box::new(move |url: &str| OutgoingUrl::check(url, &policy).map(drop));
    let domains = settings.mail.as_ref().map(|mail| mail.domains.clone()).unwrap_or_default();
    let proxied = settings.auth_proxy.as_ref().map(|proxy| proxy.organization);
    let oauth2 = settings.oauth2.clone().map(|oauth2| Oauth2::new(oauth2, &barrier));
    let world_settings = WorldSettings {
        webhooks,
        mail: settings.mail.as_ref().map(|mail| mail.sender.email().clone()),
        sms: settings.sms.as_ref().map(|sms| phone_check(sms.prefixes.clone())),
        senders: Box::new(move |address: &Email| domains.iter().any(|domain| domain.contains(address))),
        child_branding: settings.mail.as_ref().is_some_and(|mail| mail.child_branding),
        allow_registration: settings.allow_registration,
        // The operator chose the organization of the proxy.
        trusted: settings.trusted.iter().copied().chain(proxied).collect(),
        deny_errors: settings.deny_errors,
        is_dev: settings.is_dev,
        oidc: settings.oidc.clone(),
        oauth2: oauth2.transpose()?,
    };
    if epoch.is_held {
        tracing::warn!(
            "the store was restored from a backup and accepts no changes until 'quorated release'"
        );
    }
    let store_key = barrier.vault().store_key().clone();
    let headers = Arc::new(Headers::of_store(data.folder.clone(), Arc::clone(barrier.store())));
    let shared = Arc::new(Shared::new(barrier, guard, identity.clone(), limits, world_settings, epoch));
    warn_of_unknown(&settings.trusted, &shared);
    let place = Place { folder: data.folder.join(STORE), reserve: data.reserve };
    Ok(Engine { executor: Arc::new(Executor::start(shared)), identity, place, headers, store_key })
}

/// Returns the check for phone numbers with one of these prefixes. An empty list allows all numbers.
fn phone_check(prefixes: Vec<SmsPrefix>) -> PhoneCheck {
    Box::new(move |phone: &Phone| prefixes.is_empty() || prefixes.iter().any(|prefix| prefix.includes(phone)))
}

/// Warns of trusted organizations that do not exist, or are no tenants: their ids may have a mistake.
fn warn_of_unknown(trusted: &[OrganizationId], shared: &Shared) {
    for id in trusted {
        let found = shared.organization(*id);
        let is_tenant = |found: &Organization| found.head.parent.is_none() && found.head.deleted.is_none();
        if found.is_ok_and(|found| !found.as_deref().is_some_and(is_tenant)) {
            tracing::warn!(organization = %id, "organizations.trusted names no top-level organization");
        }
    }
}

/// Opens store and vault for a command that uses them alone. Writes to them only if the store is new or of an earlier version.
///
/// # Errors
/// Returns an error if one of them cannot be opened.
pub fn open_store(data: &Data) -> Result<Barrier, StartError> {
    open_store_as(data, Access::Exclusive)
}

fn open_store_as(data: &Data, access: Access) -> Result<Barrier, StartError> {
    let folder = &data.folder;
    let existing =
        || Header::read(folder)?.map(|header| header.served_engine(folder, data.engine)).transpose();
    let served = existing()?;
    if served.or(data.engine) == Some(StoreEngine::Postgres) {
        return database::open(data, access);
    }
    let fresh = served.is_none();
    if fresh {
        check_unused(data)?;
    }
    fail_points::reach("start.folder");
    create_private(folder)?;
    let _lock = lock_folder(folder)?;
    // Another process may have created, moved or removed the store meanwhile.
    let engine = existing()?;
    if engine.is_none() != fresh {
        return Err(StoreError::InUse(folder.display().to_string()).into());
    }
    let engine = engine.or(data.engine).unwrap_or_default();
    let (store_path, settings) = (folder.join(STORE), data.settings(engine, access));
    upgrade::finish(&store_path)?;
    // The store is locked before the vault is opened, so that a second daemon gets this error whatever its
    // key is.
    fail_points::reach("start.store");
    let store = if fresh {
        settings.create(&store_path)?
    } else {
        settings.open(&store_path, data.guard.exists())?
    };
    fail_points::reach("start.vault");
    let vault =
        if fresh { Vault::create_for(folder, &data.key, engine)? } else { Vault::open(folder, &data.key)? };
    Header::raise_level(folder)?;
    engine::begin(&store_path)?;
    let barrier = Barrier::new(store, vault);
    if fresh || engine != StoreEngine::Sled || guard::is_marked(barrier.store().as_ref())? {
        return Ok(barrier);
    }
    upgraded(data, barrier, &store_path)
}

/// Upgrades a store of version 0.1, which had no guard. Does nothing to a store whose first start was interrupted.
fn upgraded(data: &Data, barrier: Barrier, store_path: &Path) -> Result<Barrier, StartError> {
    let folder = &data.folder;
    let barrier = if upgrade::is_needed(store_path, &barrier)? {
        let key = KeySource::StoreKey(barrier.vault().store_key().clone());
        upgrade::rewrite(store_path, barrier, Vault::open(folder, &key)?, data.reserve)?;
        let store = Arc::new(Embedded::open_again(store_path, data.reserve)?);
        Barrier::new(store, Vault::open(folder, &key)?)
    } else {
        barrier
    };
    upgrade::seal_contents(&barrier)?;
    Ok(barrier)
}
