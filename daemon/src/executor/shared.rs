//! The state that the executor and the committer share: the world as the core sees it, with its caches.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use quorate_chain::curve::{Message, SecretKey, Signature};
use quorate_common::activity_log::LogHash;
use quorate_common::bounded::{Email, Phone};
use quorate_common::console::EngineStatus;
use quorate_common::console::custody::JournalStatus;
use quorate_common::ids::{OrganizationId, SmartContractInterfaceId};
use quorate_core::budget::Budget;
use quorate_core::denials::Denials;
use quorate_core::error::{Corrupt, RequestError};
use quorate_core::id_token::IssuerKeys;
use quorate_core::interfaces::Interface;
use quorate_core::limits::Limits;
use quorate_core::model::layout::{IndexKey, Key};
use quorate_core::model::queued_message::{Channel, MessageSource, QueueUsage};
use quorate_core::model::{Millis, Organization};
use quorate_core::oauth2::{Exchange, Oauth2User};
use quorate_core::policy::DenyErrors;
use quorate_core::signing::Signer;
use quorate_core::world::{Installation, InterfaceCache, Keyring, QuorumKey, Records, TokenIssuer, World};
use tokio::sync::Notify;

use super::key_cache::KeyCache;
use super::last_uses::LastUses;
use super::oauth2::Oauth2;
use super::snapshots::{Snapshots, version};
use crate::arrivals::Arrivals;
use crate::barrier::Barrier;
use crate::cache::TwoGenerations;
use crate::clock::now;
use crate::epoch::Epoch;
use crate::feed::Feed;
use crate::guard::Guard;
use crate::identity::Identity;
use crate::issuers::{Issuers, OidcSettings};
use crate::listener::{Answer, Incoming};
use crate::message_queue::MessageQueue;
use crate::readers::Readers;

/// Maximum number of cached signers; their memory is bounded as well.
const SIGNERS: usize = 4096;
/// Memory of a cached signer besides its name, in bytes.
const SIGNER_BYTES: usize = 1024;
/// Maximum number of cached smart contract interfaces; their memory is bounded as well.
const INTERFACES: usize = 256;
/// Maximum number of expensive queries that are answered at the same time.
const READERS: usize = 8;
/// Maximum number of waiting queries of one organization, including its sub-organizations.
const WAITING_READERS: usize = 64;
/// Maximum number of snapshots that are read from the store at the same time.
const LOADERS: usize = 4;
/// Recently used values, by key.
type Cache<T> = Mutex<TwoGenerations<Key, Arc<T>>>;

/// Checks the URL of a webhook; the error is the reason for which it must not be set.
pub type WebhookCheck = Box<dyn Fn(&str) -> Result<(), &'static str> + Send + Sync>;

/// Returns whether SMS may be sent to a phone number.
pub type PhoneCheck = Box<dyn Fn(&Phone) -> bool + Send + Sync>;

/// Settings that the core reads through [`World`].
pub struct WorldSettings {
    /// Check for URLs of webhooks.
    pub webhooks: WebhookCheck,
    /// Sender of mail that names none; `None` if mail cannot be sent.
    pub mail: Option<Email>,
    /// Check for the phone numbers that SMS are sent to; `None` if SMS cannot be sent.
    pub sms: Option<PhoneCheck>,
    /// Check for the sender addresses that requests name.
    pub senders: Box<dyn Fn(&Email) -> bool + Send + Sync>,
    /// Whether users of sub-organizations may customize the sender, the logo and the link of mail.
    pub child_branding: bool,
    /// Whether any client may create an organization.
    pub allow_registration: bool,
    /// Registered organizations without the limits that apply to these.
    pub trusted: Vec<OrganizationId>,
    /// Effect of deny policies whose evaluation fails.
    pub deny_errors: DenyErrors,
    /// Whether this is a throwaway daemon of `quorated dev`.
    pub is_dev: bool,
    /// Issuers whose ID tokens are accepted.
    pub oidc: OidcSettings,
    /// OAuth 2.0; `None` if it is not enabled.
    pub oauth2: Option<Oauth2>,
}

/// State that the executor and the committer share.
pub struct Shared {
    pub(super) barrier: Barrier,
    pub(super) guard: Guard,
    identity: Identity,
    pub(super) snapshots: Snapshots,
    signers: Cache<Signer>,
    pub(super) keys: KeyCache,
    interfaces: Cache<Interface>,
    /// Keys of OpenID Connect issuers.
    pub(super) issuers: Issuers,
    /// Threads for expensive queries.
    pub(crate) readers: Readers,
    /// Threads that read uncached snapshots.
    pub(super) loaders: Readers,
    /// Budget of the daemon's own work.
    unmetered: Budget,
    pub(super) limits: Limits,
    settings: WorldSettings,
    /// URL of the page for invitations, which is known once the HTTP listener is bound.
    pub invitation_page: OnceLock<String>,
    /// Change feed of the console.
    pub feed: Feed,
    denials: Denials,
    /// Committed webhook deliveries.
    pub deliveries: Arrivals,
    /// Queued mail.
    mail: MessageQueue,
    /// Queued SMS.
    sms: MessageQueue,
    /// Notified when a deletion left tombstones to remove.
    pub tombstones: Notify,
    /// Notified when another daemon that shares the store has committed.
    pub heard: Notify,
    /// Uses of credentials that are not recorded yet.
    pub last_uses: LastUses,
    /// Notified when the store starts or stops accepting writes.
    pub store_state: Notify,
    /// When the store was restored, in milliseconds since 1970; zero if it never was.
    restored: AtomicU64,
    /// Whether it waits to be released, as far as this daemon knows.
    is_held: AtomicBool,
    /// Notified when entries for the activity log were committed.
    pub logged: Notify,
    /// The newest checkpoint of the activity log in base64, and when it was read.
    pub(super) checkpoint: Mutex<Option<(Instant, String)>>,
    /// Number of entries that were appended to the activity log.
    pub appended: AtomicU64,
    /// Number of records that were sealed again.
    pub sealed_again: AtomicU64,
}

impl Shared {
    /// Creates the shared state.
    pub fn new(
        barrier: Barrier,
        guard: Guard,
        identity: Identity,
        limits: Limits,
        mut settings: WorldSettings,
        epoch: Epoch,
    ) -> Self {
        let issuers = Issuers::new(std::mem::take(&mut settings.oidc));
        Self {
            barrier,
            guard,
            identity,
            snapshots: Snapshots::new(limits.cache_bytes / 4 * 3),
            signers: Cache::new(TwoGenerations::weighed(SIGNERS, limits.cache_bytes / 8)),
            keys: KeyCache::new(),
            issuers,
            interfaces: Cache::new(TwoGenerations::weighed(INTERFACES, limits.cache_bytes / 8)),
            readers: Readers::new(READERS, limits.readers_per_organization, WAITING_READERS),
            loaders: Readers::new(LOADERS, 1, usize::MAX),
            unmetered: Budget::unmetered(),
            limits,
            settings,
            invitation_page: OnceLock::new(),
            feed: Feed::default(),
            denials: Denials::default(),
            deliveries: Arrivals::default(),
            mail: MessageQueue::default(),
            sms: MessageQueue::default(),
            tombstones: Notify::new(),
            heard: Notify::new(),
            last_uses: LastUses::default(),
            store_state: Notify::new(),
            restored: AtomicU64::new(epoch.begun),
            is_held: AtomicBool::new(epoch.is_held),
            logged: Notify::new(),
            checkpoint: Mutex::default(),
            appended: AtomicU64::new(0),
            sealed_again: AtomicU64::new(0),
        }
    }

    /// Returns whether the store was restored and waits to be released. Another daemon may have released it.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub(crate) fn is_held(&self) -> Result<bool, Corrupt> {
        if !self.is_held.load(Ordering::Acquire) {
            return Ok(false);
        }
        let epoch = Epoch::read(&self.barrier)?;
        // The release has raised the time. It must be known before the first request that is accepted.
        self.restored.store(epoch.begun, Ordering::Release);
        self.is_held.store(epoch.is_held, Ordering::Release);
        Ok(epoch.is_held)
    }

    /// Returns the barrier in front of the store.
    pub(crate) const fn barrier(&self) -> &Barrier {
        &self.barrier
    }

    /// Returns the queued messages of a channel.
    pub const fn messages(&self, channel: Channel) -> &MessageQueue {
        match channel {
            Channel::Mail => &self.mail,
            Channel::Sms => &self.sms,
        }
    }

    /// Returns the state of the journal; `None` if there is none.
    pub fn journal(&self) -> Option<JournalStatus> {
        self.guard.journal(&self.barrier)
    }

    /// Returns whether all decrypted keys are locked in memory, so that none can be swapped out.
    pub fn keys_are_locked(&self) -> bool {
        let tokens = self.oauth2().is_none_or(|oauth2| oauth2.issuer.is_locked());
        self.keys.are_locked() && self.identity.is_locked() && tokens
    }

    /// Returns OAuth 2.0, if it is enabled.
    pub(super) fn oauth2(&self) -> Option<&Oauth2> {
        self.settings.oauth2.as_ref()
    }

    /// Returns the answer to a request for a document of the issuer of the daemon's ID tokens, if it is one.
    pub fn issuer_document(&self, incoming: &Incoming) -> Option<Answer> {
        self.oauth2()?.issuer.answer(incoming)
    }

    /// Returns whether a request that exchanges the code of this claim is in progress.
    pub(super) fn exchanges(&self, claim: &[u8]) -> bool {
        self.oauth2().is_some_and(|oauth2| oauth2.exchanges.is_in_progress(claim))
    }

    /// Returns the keys of an issuer, or `None` if they must be fetched first.
    pub(super) fn known_issuer_keys(
        &self,
        issuer: &str,
        key_id: Option<&str>,
    ) -> Option<Result<Arc<IssuerKeys>, RequestError>> {
        let own = self.oauth2().and_then(|oauth2| oauth2.own_keys(issuer));
        match own.filter(|_| !self.issuers.are_disabled()) {
            Some(keys) => Some(Ok(keys)),
            None => self.issuers.keys(issuer, key_id),
        }
    }
}

impl Installation for Shared {
    fn quorum_key(&self) -> &dyn QuorumKey {
        &self.identity
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn webhook_allowed(&self, url: &str) -> Result<(), &'static str> {
        (self.settings.webhooks)(url)
    }

    fn invitation_page(&self) -> Option<&str> {
        self.invitation_page.get().map(String::as_str)
    }

    fn allows_sender(&self, address: &Email) -> bool {
        (self.settings.senders)(address)
    }

    fn sends_sms(&self) -> bool {
        self.settings.sms.is_some()
    }

    fn allows_phone(&self, phone: &Phone) -> bool {
        self.settings.sms.as_ref().is_some_and(|allows| allows(phone))
    }

    fn allows_child_branding(&self) -> bool {
        self.settings.child_branding
    }

    fn trusts(&self, tenant: OrganizationId) -> bool {
        self.settings.trusted.contains(&tenant)
    }

    fn token_issuer(&self) -> Option<&dyn TokenIssuer> {
        self.oauth2().map(|oauth2| -> &dyn TokenIssuer { &oauth2.issuer })
    }

    fn allows_registration(&self) -> bool {
        self.settings.allow_registration
    }

    fn restored(&self) -> Millis {
        self.restored.load(Ordering::Acquire)
    }

    fn sign_checkpoint(&self, size: u64, root: LogHash, time: Millis) -> Result<(String, String), Corrupt> {
        let epoch = Epoch::read(&self.barrier)?.number;
        self.barrier.vault().log().sign(size, root, time, epoch)
    }

    fn deny_errors(&self) -> DenyErrors {
        self.settings.deny_errors
    }

    fn is_dev(&self) -> bool {
        self.settings.is_dev
    }

    fn is_index_outdated(&self) -> bool {
        self.guard.is_index_outdated()
    }
}

impl World for Shared {
    fn installation(&self) -> &dyn Installation {
        self
    }

    fn organization(&self, id: OrganizationId) -> Result<Option<Arc<Organization>>, Corrupt> {
        self.snapshots.organization(&self.barrier, id)
    }

    fn version(&self, id: OrganizationId) -> Result<u64, Corrupt> {
        version(&self.barrier, id)
    }

    fn records(&self) -> &dyn Records {
        &self.barrier
    }

    fn keyring(&self) -> &dyn Keyring {
        self
    }

    fn interfaces(&self) -> &dyn InterfaceCache {
        self
    }

    fn index(&self) -> &IndexKey {
        self.barrier.vault().index()
    }

    fn budget(&self) -> &Budget {
        &self.unmetered
    }

    fn denials(&self) -> &Denials {
        &self.denials
    }

    fn mail_sender(&self) -> Option<&Email> {
        self.settings.mail.as_ref()
    }

    fn waiting_messages(&self, channel: Channel, source: &MessageSource) -> [QueueUsage; 3] {
        self.messages(channel).usage(source)
    }

    fn issuer_keys(&self, issuer: &str, key_id: Option<&str>) -> Result<Arc<IssuerKeys>, RequestError> {
        let unknown = || Err(Corrupt::Invariant("the keys of an issuer are not fetched").into());
        self.known_issuer_keys(issuer, key_id).unwrap_or_else(unknown)
    }

    fn exchange(&self, _: Exchange, _: bool) -> Result<Arc<Oauth2User>, RequestError> {
        Err(Corrupt::Invariant("an authorization code is exchanged outside of a request").into())
    }
}

impl Keyring for Shared {
    fn signer(
        &self,
        name: Key,
        resolve: &mut dyn FnMut() -> Result<Signer, RequestError>,
    ) -> Result<Arc<Signer>, RequestError> {
        let bytes = name.len().saturating_add(SIGNER_BYTES);
        get_or_load(&self.signers, name, resolve, |_| bytes)
    }

    fn sign(
        &self,
        record: &[u8],
        load: &mut dyn FnMut() -> Result<SecretKey, RequestError>,
        message: &Message,
    ) -> Result<Signature, RequestError> {
        self.keys.sign(record, load, message)
    }
}

impl InterfaceCache for Shared {
    fn interface(
        &self,
        id: SmartContractInterfaceId,
        read: &mut dyn FnMut() -> Result<Interface, RequestError>,
    ) -> Result<Arc<Interface>, RequestError> {
        get_or_load(&self.interfaces, id.as_bytes().to_vec(), read, Interface::bytes)
    }
}

impl Shared {
    /// Removes everything that was cached from the store.
    pub(super) fn forget_cached(&self) {
        self.snapshots.clear();
        self.keys.forget_all(&[]);
    }

    /// Notifies the tasks that show the state of the store.
    pub(super) fn state_changed(&self) {
        self.store_state.notify_one();
    }

    /// Wakes all tasks that work on stored entries.
    pub(super) fn wake_all(&self) {
        self.deliveries.notify_one();
        self.mail.notify_one();
        self.sms.notify_one();
        self.tombstones.notify_one();
        self.logged.notify_one();
    }

    /// Returns the engine of the store, with its durability settings and the daemons that share the store.
    pub fn engine(&self) -> EngineStatus {
        let store = self.barrier.store();
        EngineStatus { daemons: store.daemons().unwrap_or_default(), ..store.engine() }
    }

    /// Returns how long after the last commit of another daemon it had an effect on this one, in milliseconds.
    pub fn notice_lag(&self) -> Option<u64> {
        self.barrier.store().engine().notice_lag_millis
    }

    /// Closes the store at the end of the process.
    pub fn close_store(&self) {
        self.guard.stop_comparing();
        self.barrier.store().close();
    }

    /// Returns whether the index of waiting activities may differ from them, because an earlier version has changed the
    /// store.
    pub fn is_index_outdated(&self) -> bool {
        self.guard.is_index_outdated()
    }

    /// Persists the time, so that whatever has expired stays expired, even if the clock is set back.
    pub fn persist_time(&self) {
        // A guard file that cannot be written is reported by the next commit.
        if let Err(error) = self.guard.persist_time(&self.barrier, now()) {
            tracing::debug!(cause = %error, "the time cannot be persisted");
        }
    }
}

/// Returns the cached value of a key, or loads and caches it.
fn get_or_load<T>(
    cache: &Cache<T>,
    key: Key,
    load: &mut dyn FnMut() -> Result<T, RequestError>,
    bytes: impl Fn(&T) -> usize,
) -> Result<Arc<T>, RequestError> {
    let poisoned = |_| RequestError::Corrupt(Corrupt::Invariant("a cache is poisoned"));
    if let Some(value) = cache.lock().map_err(poisoned)?.value(&key) {
        return Ok(value);
    }
    let value = Arc::new(load()?);
    cache.lock().map_err(poisoned)?.keep_weighed(key, Arc::clone(&value), bytes(&value));
    Ok(value)
}
