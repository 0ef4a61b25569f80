//! A world in memory: an ordered map as the store, the checks of a committer, and deterministic randomness.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use ed25519_dalek::SigningKey;
use quorate_chain::curve::{Curve, Message, SecretKey, Signature};
use quorate_common::activity_log::{self, Checkpoint, LogHash, VerifierKey};
use quorate_common::api_error::{ApiError, Code};
use quorate_common::bounded::{Email, Phone};
use quorate_common::bundle::quorum_signature;
use quorate_common::envelope;
use quorate_common::ids::{OrganizationId, SmartContractInterfaceId};
use quorate_core::authn::Credentials;
use quorate_core::budget::Budget;
use quorate_core::denials::Denials;
use quorate_core::error::{Corrupt, RequestError};
use quorate_core::id_token::IssuerKeys;
use quorate_core::interfaces::Interface;
use quorate_core::limits::Limits;
use quorate_core::mail::Mail;
use quorate_core::model::layout::{self, IndexKey, Key};
use quorate_core::model::organization::Head;
use quorate_core::model::queued_message::{Channel, MessageSource, QueueUsage, StoredMessage};
use quorate_core::model::record::Record;
use quorate_core::model::{Millis, Organization};
use quorate_core::oauth2::{Exchange, Oauth2User};
use quorate_core::pipeline::{self, Attempt, Commit};
use quorate_core::policy::DenyErrors;
use quorate_core::signing::Signer;
use quorate_core::sms::Sms;
use quorate_core::world::{
    Installation, InterfaceCache, Keyring, Order, Page, QuorumKey, Records, Runtime, TokenIssuer, World,
};
use quorate_core::{kinds, queries, records};
use serde_json::Value;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::id_tokens;
use crate::oauth2_provider::{self, Provider};

/// The stored rows, and the state of the deterministic randomness.
#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(crate) struct Memory {
    rows: BTreeMap<Key, Vec<u8>>,
    /// Versions of ids without an organization.
    versions: BTreeMap<OrganizationId, u64>,
    index: IndexKey,
    /// Budget of an answer.
    pub(crate) budget: Arc<Budget>,
    /// Whether a snapshot is being read. That is not charged to the budget, because a daemon has it in its
    /// cache.
    reads_snapshot: Cell<bool>,
    /// Limits of the installation.
    pub(crate) limits: Limits,
    /// Whether mail can be sent.
    pub(crate) sends_mail: bool,
    /// Sender of mail.
    sender: Option<Email>,
    pub(crate) invitation_page: Option<String>,
    /// Whether SMS can be sent.
    pub(crate) sends_sms: bool,
    /// Whether users of sub-organizations may customize the sender of mail.
    pub(crate) allows_child_branding: bool,
    /// Whether anybody may create an organization.
    pub(crate) allows_registration: bool,
    /// When the store was restored.
    pub(crate) restored: u64,
    /// Registered organizations without the limits that apply to these.
    pub(crate) trusted: Vec<OrganizationId>,
    /// Treatment of denying policies that fail.
    pub(crate) deny_errors: DenyErrors,
    /// A cached snapshot, which may be older than the stored records.
    pub(crate) cached: Option<Arc<Organization>>,
    /// First letter of the keys that cannot be read.
    pub(crate) unreadable: Option<u8>,
    /// Provider of OAuth 2.0.
    pub(crate) oauth2: Provider,
    /// Rows that another request leaves, which becomes durable after this many further reads.
    pub(crate) later: Option<Later>,
    denials: Denials,
    drawn: u64,
    /// Number of attempts so far, which orders those of one millisecond.
    attempts: u16,
}

/// A number of reads, and the rows that are visible after them.
type Later = (Cell<usize>, BTreeMap<Key, Vec<u8>>);

impl Default for Memory {
    fn default() -> Self {
        Self {
            rows: BTreeMap::new(),
            versions: BTreeMap::new(),
            index: IndexKey::new([7; 32]),
            budget: Arc::new(Budget::unmetered()),
            reads_snapshot: Cell::new(false),
            limits: Limits::default(),
            sends_mail: true,
            sender: Email::parse("quorate@house.example".to_owned()).ok(),
            invitation_page: None,
            sends_sms: true,
            allows_child_branding: false,
            allows_registration: true,
            restored: 0,
            trusted: Vec::new(),
            deny_errors: DenyErrors::Skip,
            cached: None,
            unreadable: None,
            oauth2: Provider::default(),
            later: None,
            denials: Denials::default(),
            drawn: 0,
            attempts: 0,
        }
    }
}

/// Fills a buffer from a counter, so that every run gets the same bytes.
fn fill(counter: &mut u64, buffer: &mut [u8]) {
    for chunk in buffer.chunks_mut(32) {
        *counter += 1;
        let block = Sha256::digest(counter.to_be_bytes());
        chunk.copy_from_slice(&block[..chunk.len()]);
    }
}

impl Memory {
    /// Submits a body as the HTTP listener does, and commits the result.
    pub(crate) fn submit(
        &mut self,
        operation: &str,
        credentials: &Credentials,
        body: &[u8],
        now: Millis,
    ) -> Result<Value, ApiError> {
        let mut attempt = self.attempt(operation, credentials, body, now);
        if let Some(exchange) = self.oauth2.requested.take() {
            self.commit(pipeline::claim(&exchange, &[]));
            if self.oauth2.ends_at_claim {
                return Err(ApiError::new(Code::Unavailable, "the service has ended"));
            }
            self.oauth2.codes.push(exchange.code.to_string());
            self.oauth2.made = Some(exchange);
            attempt = self.attempt(operation, credentials, body, now);
            self.oauth2.made = None;
        }
        assert_eq!(attempt.corrupt, None, "internal error");
        if let Some(commit) = attempt.commit {
            self.commit(commit);
        }
        attempt.answer.map(|body| serde_json::from_slice(&body).expect("an answer is JSON"))
    }

    /// Submits a body without committing the result.
    pub(crate) fn attempt(
        &mut self,
        operation: &str,
        credentials: &Credentials,
        body: &[u8],
        now: Millis,
    ) -> Attempt {
        let (mut counter, order) = (self.drawn, self.attempts);
        self.attempts += 1;
        let attempt = {
            let mut entropy = |buffer: &mut [u8]| fill(&mut counter, buffer);
            let mut runtime = Runtime { now, order, entropy: &mut entropy };
            let operation = kinds::operation(operation).expect("an operation");
            pipeline::submit(self, &mut runtime, operation, credentials, body)
        };
        self.drawn = counter;
        attempt
    }

    fn take_rows(&self, rows: usize) -> Result<(), Corrupt> {
        if self.reads_snapshot.get() { Ok(()) } else { self.budget.take_rows(rows) }
    }

    /// Runs a query.
    pub(crate) fn query(
        &self,
        name: &str,
        credentials: &Credentials,
        body: &[u8],
        now: Millis,
    ) -> Result<Value, ApiError> {
        let attempt = self.attempt_query(name, credentials, body, now);
        assert!(attempt.commit.is_none(), "a query changes nothing");
        attempt.answer.map(|body| serde_json::from_slice(&body).expect("an answer is JSON"))
    }

    /// Runs a query, and also returns an internal error.
    pub(crate) fn attempt_query(
        &self,
        name: &str,
        credentials: &Credentials,
        body: &[u8],
        now: Millis,
    ) -> Attempt {
        let entry = queries::find(name).unwrap_or_else(|| panic!("{name} is not in the table"));
        match queries::admit(self, now, entry, credentials, body) {
            Ok(admitted) => admitted.answer(self),
            Err(error) => Attempt::error(&error),
        }
    }

    /// Runs a function with a runtime.
    pub(crate) fn with_runtime<T>(
        &mut self,
        now: Millis,
        run: impl FnOnce(&Self, &mut Runtime<'_>) -> T,
    ) -> T {
        let mut counter = self.drawn;
        let result = {
            let mut entropy = |buffer: &mut [u8]| fill(&mut counter, buffer);
            run(self, &mut Runtime { now, order: 0, entropy: &mut entropy })
        };
        self.drawn = counter;
        result
    }

    /// Commits as the committer does: checks versions and absent keys, then applies all writes at once. The
    /// snapshots in the commit must equal the records afterwards.
    pub(crate) fn commit(&mut self, commit: Commit) {
        assert!(self.try_commit(commit), "the decision is based on an outdated state");
    }

    /// Commits if the conditions still hold, and returns whether they did. Otherwise nothing is changed.
    pub(crate) fn try_commit(&mut self, commit: Commit) -> bool {
        let holds = commit.expect.iter().all(|(id, version)| self.version(*id) == Ok(*version))
            && !commit.must_not_exist.iter().any(|key| self.rows.contains_key(key))
            && !commit.must_be_empty.iter().any(|prefix| self.rows.keys().any(|key| key.starts_with(prefix)));
        if !holds {
            return false;
        }
        self.versions.extend(commit.set);
        for write in commit.writes {
            match write.value {
                Some(value) => drop(self.rows.insert(write.key, value.to_vec())),
                None => drop(self.rows.remove(&write.key)),
            }
        }
        for after in &commit.after {
            let stored = records::organization(self, after.id()).expect("the store is readable");
            if after.head.deleted.is_some() {
                assert!(stored.is_none(), "a deleted organization still exists");
                continue;
            }
            assert_eq!(
                contents(after),
                contents(&stored.expect("the record exists")),
                "snapshot and records differ"
            );
        }
        true
    }

    /// Returns the raw rows whose keys begin with this letter.
    pub(crate) fn rows(&self, letter: u8) -> impl Iterator<Item = (&[u8], &[u8])> {
        let rows = self.rows.iter().filter(move |(key, _)| key.first() == Some(&letter));
        rows.map(|(key, value)| (key.as_slice(), value.as_slice()))
    }

    /// Converts this to a store of an earlier version, in which bodies are found by fingerprint alone.
    pub(crate) fn remove_body_times(&mut self) {
        let rows = std::mem::take(&mut self.rows).into_iter();
        self.rows = rows
            .map(|(key, value)| match key.as_slice() {
                [b'h', _, _, _, _, _, _, _, _, fingerprint @ ..] => ([b"f", fingerprint].concat(), value),
                _ => (key, value),
            })
            .collect();
    }

    /// Converts this to a store of version 0.1, which has no digests in heads and index entries.
    pub(crate) fn remove_digests(&mut self) {
        for (key, value) in &mut self.rows {
            match key.first() {
                Some(b'o') => {
                    let head = Head::decode(value).expect("a head decodes");
                    *value = Head { contents: None, ..head }.encode().expect("a head encodes");
                }
                Some(b't') => value.clear(),
                _ => {}
            }
        }
    }

    /// Writes or removes a row, as someone with access to the disk could.
    pub(crate) fn set_row(&mut self, key: &[u8], value: Option<Vec<u8>>) {
        match value {
            Some(value) => drop(self.rows.insert(key.to_vec(), value)),
            None => drop(self.rows.remove(key)),
        }
    }

    /// Returns a copy of all rows, to detect changes.
    pub(crate) fn all_rows(&self) -> BTreeMap<Key, Vec<u8>> {
        self.rows.clone()
    }

    /// Returns whether a row contains a text.
    pub(crate) fn contains_text(&self, text: &str) -> bool {
        self.rows.values().any(|row| row.windows(text.len()).any(|window| window == text.as_bytes()))
    }

    /// Returns an organization as stored.
    pub(crate) fn stored(&self, id: OrganizationId) -> Organization {
        records::organization(self, id).expect("the store is readable").expect("the record exists")
    }
}

/// Returns the contents of an organization, without computed values.
fn contents(organization: &Organization) -> Value {
    let json = |value: Result<Value, serde_json::Error>| value.expect("a record serializes");
    serde_json::json!({
        "head": json(serde_json::to_value(&organization.head)),
        "users": organization.users().map(|one| json(serde_json::to_value(one))).collect::<Vec<_>>(),
        "records": json(serde_json::to_value(&organization.records)),
        "policies": organization.policies().map(|one| json(serde_json::to_value(&one.policy))).collect::<Vec<_>>(),
    })
}

impl Memory {
    /// Returns an error if keys with this prefix are set to be unreadable.
    fn can_read(&self, key: &[u8]) -> Result<(), Corrupt> {
        let fails = self.unreadable.is_some() && key.first().copied() == self.unreadable;
        if fails { Err(Corrupt::Store("unreadable for the test".to_owned())) } else { Ok(()) }
    }
}

impl Memory {
    /// Returns the rows that the next read sees.
    fn visible(&self) -> &BTreeMap<Key, Vec<u8>> {
        match &self.later {
            Some((reads, later)) if reads.get() == 0 => later,
            Some((reads, _)) => {
                reads.set(reads.get() - 1);
                &self.rows
            }
            None => &self.rows,
        }
    }
}

impl Records for Memory {
    fn read(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Corrupt> {
        self.can_read(key)?;
        self.take_rows(1)?;
        Ok(self.visible().get(key).cloned())
    }

    fn page(&self, page: Page<'_>) -> Result<Vec<(Key, Vec<u8>)>, Corrupt> {
        self.can_read(page.prefix)?;
        let within = self.visible().iter().filter(|(key, _)| key.starts_with(page.prefix));
        let is_after = |key: &Key| match (page.after, page.order) {
            (None, _) => true,
            (Some(after), Order::Ascending) => key.as_slice() > after,
            (Some(after), Order::Descending) => key.as_slice() < after,
        };
        let mut found: Vec<_> = within
            .filter(|(key, _)| is_after(key))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        if page.order == Order::Descending {
            found.reverse();
        }
        found.truncate(page.limit);
        self.take_rows(found.len().max(1))?;
        Ok(found)
    }

    fn keys(&self, page: Page<'_>) -> Result<Vec<Key>, Corrupt> {
        Ok(self.page(page)?.into_iter().map(|(key, _)| key).collect())
    }
}

impl Keyring for Memory {
    fn signer(
        &self,
        _: Key,
        resolve: &mut dyn FnMut() -> Result<Signer, RequestError>,
    ) -> Result<Arc<Signer>, RequestError> {
        resolve().map(Arc::new)
    }

    fn sign(
        &self,
        _: &[u8],
        load: &mut dyn FnMut() -> Result<SecretKey, RequestError>,
        message: &Message,
    ) -> Result<Signature, RequestError> {
        load()?.sign(message).map_err(|_| Corrupt::Signature.into())
    }
}

impl QuorumKey for Memory {
    fn public_key(&self) -> String {
        let key = quorum_key();
        const_hex::encode(key.public().uncompressed().expect("P-256 has an uncompressed form"))
    }

    fn sign(&self, statement: &[u8]) -> Result<Vec<u8>, Corrupt> {
        let digest = Message::Digest(Sha256::digest(statement).into());
        let signature = quorum_key().sign(&digest).map_err(|_| Corrupt::Signature)?;
        quorum_signature(signature.r, signature.s).ok_or(Corrupt::Signature)
    }

    fn open(&self, envelope: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        envelope::open(envelope, &oauth2_provider::ENCRYPTION_KEY)
    }
}

/// Returns the quorum key, which is the same in every run.
fn quorum_key() -> SecretKey {
    SecretKey::from_bytes(Curve::P256, &[9; 32]).expect("a scalar")
}

impl InterfaceCache for Memory {
    fn interface(
        &self,
        _: SmartContractInterfaceId,
        read: &mut dyn FnMut() -> Result<Interface, RequestError>,
    ) -> Result<Arc<Interface>, RequestError> {
        read().map(Arc::new)
    }
}

impl Installation for Memory {
    fn quorum_key(&self) -> &dyn QuorumKey {
        self
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn webhook_allowed(&self, url: &str) -> Result<(), &'static str> {
        if url.starts_with("https://") { Ok(()) } else { Err("it must begin with https://") }
    }

    fn invitation_page(&self) -> Option<&str> {
        self.invitation_page.as_deref()
    }

    fn allows_sender(&self, address: &Email) -> bool {
        address.as_str().ends_with("@allowed.example")
    }

    fn sends_sms(&self) -> bool {
        self.sends_sms
    }

    fn allows_phone(&self, phone: &Phone) -> bool {
        !phone.as_str().starts_with("+882")
    }

    fn allows_child_branding(&self) -> bool {
        self.allows_child_branding
    }

    fn trusts(&self, tenant: OrganizationId) -> bool {
        self.trusted.contains(&tenant)
    }

    fn sign_checkpoint(&self, size: u64, root: LogHash, time: Millis) -> Result<(String, String), Corrupt> {
        let key = SigningKey::from_bytes(&[7; 32]);
        let origin = activity_log::origin("5f5f");
        let verifier = VerifierKey::new(origin.clone(), key.verifying_key());
        let checkpoint = Checkpoint { origin, size, root, time, epoch: 0 };
        let note = checkpoint.sign(&key).ok_or(Corrupt::Invariant("an origin is invalid"))?;
        Ok((note, verifier.to_string()))
    }

    fn token_issuer(&self) -> Option<&dyn TokenIssuer> {
        (!self.oauth2.is_off).then_some(&oauth2_provider::Issuer)
    }

    fn restored(&self) -> u64 {
        self.restored
    }

    fn allows_registration(&self) -> bool {
        self.allows_registration
    }

    fn deny_errors(&self) -> DenyErrors {
        self.deny_errors
    }

    fn is_dev(&self) -> bool {
        false
    }

    fn is_index_outdated(&self) -> bool {
        false
    }
}

impl World for Memory {
    fn installation(&self) -> &dyn Installation {
        self
    }

    fn organization(&self, id: OrganizationId) -> Result<Option<Arc<Organization>>, Corrupt> {
        if let Some(cached) = &self.cached {
            return Ok(Some(Arc::clone(cached)));
        }
        self.reads_snapshot.set(true);
        let organization = records::organization(self, id);
        self.reads_snapshot.set(false);
        Ok(organization?.map(Arc::new))
    }

    fn version(&self, id: OrganizationId) -> Result<u64, Corrupt> {
        match self.rows.get(&layout::organization(id)) {
            Some(head) => Head::decode(head).map(|head| head.version),
            None => Ok(self.versions.get(&id).copied().unwrap_or_default()),
        }
    }

    fn records(&self) -> &dyn Records {
        self
    }

    fn keyring(&self) -> &dyn Keyring {
        self
    }

    fn interfaces(&self) -> &dyn InterfaceCache {
        self
    }

    fn index(&self) -> &IndexKey {
        &self.index
    }

    fn budget(&self) -> &Budget {
        &self.budget
    }

    fn denials(&self) -> &Denials {
        &self.denials
    }

    fn mail_sender(&self) -> Option<&Email> {
        self.sender.as_ref().filter(|_| self.sends_mail)
    }

    fn waiting_messages(&self, channel: Channel, source: &MessageSource) -> [QueueUsage; 3] {
        let mut usage = [QueueUsage::default(); 3];
        for (_, row) in self.rows.iter().filter(|(key, _)| key.starts_with(channel.prefix())) {
            let message = match channel {
                Channel::Mail => Mail::decode(row).ok().map(|mail| (mail.origin(), mail.is_delayed())),
                Channel::Sms => Sms::decode(row).ok().map(|sms| (sms.origin(), sms.is_delayed())),
            };
            let Some((Some(origin), is_delayed)) = message else { continue };
            let is_own = [
                origin.keeper == source.tenant,
                origin.organization == source.organization,
                origin.keeper == source.tenant && origin.group == source.group,
            ];
            let size = u32::try_from(row.len()).unwrap_or(u32::MAX);
            for (usage, _) in usage.iter_mut().zip(is_own).filter(|(_, is_own)| *is_own) {
                usage.all.add(size);
                if is_delayed {
                    usage.delayed.add(size);
                }
            }
        }
        usage
    }

    fn issuer_keys(&self, issuer: &str, _: Option<&str>) -> Result<Arc<IssuerKeys>, RequestError> {
        id_tokens::issuer_keys(issuer)
    }

    fn exchange(&self, exchange: Exchange, is_claimed: bool) -> Result<Arc<Oauth2User>, RequestError> {
        self.oauth2.exchange(exchange, is_claimed)
    }
}
