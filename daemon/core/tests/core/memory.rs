//! A world in memory: an ordered map for the store, the checks of a committer, and counted randomness.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use quorate_chain::curve::{Curve, Message, SecretKey, Signature};
use quorate_common::bundle::quorum_signature;
use quorate_common::fault::Fault;
use quorate_common::ids::{OrganizationId, SmartContractInterfaceId};
use quorate_core::authn::Credentials;
use quorate_core::budget::Budget;
use quorate_core::interfaces::Interface;
use quorate_core::limits::Limits;
use quorate_core::model::layout::{self, IndexKey, Key};
use quorate_core::model::organization::Head;
use quorate_core::model::record::Record;
use quorate_core::model::{Millis, Organization, Shelf, Shelved};
use quorate_core::pipeline::{self, Commit, Turn};
use quorate_core::policy::DenyErrors;
use quorate_core::refusal::{Corrupt, Refusal};
use quorate_core::signing::Signer;
use quorate_core::world::{Keyring, Library, Moment, Order, Page, QuorumKey, Records, World};
use quorate_core::{queries, records};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Everything that is stored, and the counter of the randomness.
#[derive(Clone)]
pub(crate) struct Memory {
    rows: BTreeMap<Key, Vec<u8>>,
    /// Versions of what is no organization.
    versions: BTreeMap<OrganizationId, u64>,
    index: IndexKey,
    /// What an answer may cost.
    pub(crate) budget: Arc<Budget>,
    /// A snapshot is being read, which costs an answer nothing: a daemon has it at hand.
    reads_snapshot: Cell<bool>,
    /// Limits of the installation.
    pub(crate) limits: Limits,
    /// Whether mail can be sent.
    pub(crate) sends_mail: bool,
    /// Whether anybody may found an organization.
    pub(crate) takes_founders: bool,
    /// What becomes of denying policies that fail.
    pub(crate) deny_errors: DenyErrors,
    /// A snapshot that is cached and may be behind what is stored.
    pub(crate) cached: Option<Arc<Organization>>,
    /// The letter of records that cannot be read.
    pub(crate) unreadable: Option<u8>,
    drawn: u64,
    /// Moments so far, which give those of one millisecond their order.
    moments: u16,
}

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
            takes_founders: true,
            deny_errors: DenyErrors::Skip,
            cached: None,
            unreadable: None,
            drawn: 0,
            moments: 0,
        }
    }
}

/// Fills a buffer from a counter, so that every run draws the same.
fn draw(counter: &mut u64, buffer: &mut [u8]) {
    for chunk in buffer.chunks_mut(32) {
        *counter += 1;
        let block = Sha256::digest(counter.to_be_bytes());
        chunk.copy_from_slice(&block[..chunk.len()]);
    }
}

impl Memory {
    /// Submits a body as the HTTP door would, and commits what it comes to.
    pub(crate) fn submit(
        &mut self,
        operation: &str,
        credentials: &Credentials,
        body: &[u8],
        now: Millis,
    ) -> Result<Value, Fault> {
        let turn = self.turn(operation, credentials, body, now);
        assert_eq!(turn.corrupt, None, "a fault of the service itself");
        if let Some(commit) = turn.commit {
            self.commit(commit);
        }
        turn.answer.map(|body| serde_json::from_slice(&body).expect("an answer is JSON"))
    }

    /// What a body comes to, before anything of it is committed.
    pub(crate) fn turn(
        &mut self,
        operation: &str,
        credentials: &Credentials,
        body: &[u8],
        now: Millis,
    ) -> Turn {
        let (mut counter, order) = (self.drawn, self.moments);
        self.moments += 1;
        let turn = {
            let mut entropy = |buffer: &mut [u8]| draw(&mut counter, buffer);
            let mut moment = Moment { now, order, entropy: &mut entropy };
            pipeline::submit(self, &mut moment, operation, credentials, body)
        };
        self.drawn = counter;
        turn
    }

    fn take_rows(&self, rows: usize) -> Result<(), Corrupt> {
        if self.reads_snapshot.get() { Ok(()) } else { self.budget.take_rows(rows) }
    }

    /// Asks a query.
    pub(crate) fn query(
        &self,
        name: &str,
        credentials: &Credentials,
        body: &[u8],
        now: Millis,
    ) -> Result<Value, Fault> {
        let turn = queries::query(self, now, name, credentials, body);
        assert!(turn.commit.is_none(), "a query changes nothing");
        turn.answer.map(|body| serde_json::from_slice(&body).expect("an answer is JSON"))
    }

    /// Runs something that needs randomness.
    pub(crate) fn with_moment<T>(&mut self, now: Millis, run: impl FnOnce(&Self, &mut Moment<'_>) -> T) -> T {
        let mut counter = self.drawn;
        let result = {
            let mut entropy = |buffer: &mut [u8]| draw(&mut counter, buffer);
            run(self, &mut Moment { now, order: 0, entropy: &mut entropy })
        };
        self.drawn = counter;
        result
    }

    /// Applies a batch as the committer does: versions, absent keys, then all writes at once. What the batch
    /// says the organizations become must be what the records say afterwards.
    pub(crate) fn commit(&mut self, commit: Commit) {
        assert!(self.offer(commit), "decided on another state than is stored");
    }

    /// The same for a commit that may come too late: whether its conditions hold. Nothing happens where they do not.
    pub(crate) fn offer(&mut self, commit: Commit) -> bool {
        let holds = commit.expect.iter().all(|(id, version)| self.version(*id) == Ok(*version))
            && !commit.absent.iter().any(|key| self.rows.contains_key(key))
            && !commit.vacant.iter().any(|prefix| self.rows.keys().any(|key| key.starts_with(prefix)));
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
            let stored = records::organization(self, after.id()).expect("it is readable");
            if after.head.deleted.is_some() {
                assert!(stored.is_none(), "a deleted organization is still there");
                continue;
            }
            assert_eq!(
                contents(after),
                contents(&stored.expect("it is there")),
                "snapshot and records differ"
            );
        }
        true
    }

    /// Raw rows whose keys begin with this letter.
    pub(crate) fn rows(&self, letter: u8) -> impl Iterator<Item = (&[u8], &[u8])> {
        let rows = self.rows.iter().filter(move |(key, _)| key.first() == Some(&letter));
        rows.map(|(key, value)| (key.as_slice(), value.as_slice()))
    }

    /// Makes this a store of an earlier version, where each body is found by its fingerprint alone.
    pub(crate) fn forget_the_times_of_bodies(&mut self) {
        let rows = std::mem::take(&mut self.rows).into_iter();
        self.rows = rows
            .map(|(key, value)| match key.as_slice() {
                [b'h', _, _, _, _, _, _, _, _, fingerprint @ ..] => ([b"f", fingerprint].concat(), value),
                _ => (key, value),
            })
            .collect();
    }

    /// Makes this a store of version 0.1, which has no digests: neither in heads nor in index entries.
    pub(crate) fn forget_digests(&mut self) {
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

    /// Writes or removes a row as someone with the disk would.
    pub(crate) fn put_back(&mut self, key: &[u8], value: Option<Vec<u8>>) {
        match value {
            Some(value) => drop(self.rows.insert(key.to_vec(), value)),
            None => drop(self.rows.remove(key)),
        }
    }

    /// All rows, to see whether something changed.
    pub(crate) fn everything(&self) -> BTreeMap<Key, Vec<u8>> {
        self.rows.clone()
    }

    /// An organization as it is stored.
    pub(crate) fn stored(&self, id: OrganizationId) -> Organization {
        records::organization(self, id).expect("it is readable").expect("it is there")
    }
}

/// What an organization is, without what is computed from it.
fn contents(organization: &Organization) -> Value {
    let json = |value: Result<Value, serde_json::Error>| value.expect("a record serializes");
    serde_json::json!({
        "head": json(serde_json::to_value(&organization.head)),
        "users": organization.users().map(|one| json(serde_json::to_value(one))).collect::<Vec<_>>(),
        "wallets": organization.wallets().map(|one| json(serde_json::to_value(one))).collect::<Vec<_>>(),
        "keys": organization.private_keys().map(|one| json(serde_json::to_value(one))).collect::<Vec<_>>(),
        "tags": organization.tags().map(|one| json(serde_json::to_value(one))).collect::<Vec<_>>(),
        "invitations": shelf(&organization.invitations),
        "webhook endpoints": shelf(&organization.webhook_endpoints),
        "secrets": shelf(&organization.secrets),
        "session profiles": shelf(&organization.session_profiles),
        "smart contract interfaces": shelf(&organization.smart_contract_interfaces),
        "policies": organization.policies().map(|one| json(serde_json::to_value(&one.policy))).collect::<Vec<_>>(),
    })
}

fn shelf<T: Shelved>(shelf: &Shelf<T>) -> Vec<Value> {
    shelf.iter().map(|one| serde_json::to_value(one).expect("a record serializes")).collect()
}

impl Memory {
    /// Whether the store gives what begins so.
    fn can_read(&self, key: &[u8]) -> Result<(), Corrupt> {
        let fails = self.unreadable.is_some() && key.first().copied() == self.unreadable;
        if fails { Err(Corrupt::Store("it is unreadable".to_owned())) } else { Ok(()) }
    }
}

impl Records for Memory {
    fn read(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Corrupt> {
        self.can_read(key)?;
        self.take_rows(1)?;
        Ok(self.rows.get(key).cloned())
    }

    fn page(&self, page: Page<'_>) -> Result<Vec<(Key, Vec<u8>)>, Corrupt> {
        self.can_read(page.prefix)?;
        let within = self.rows.iter().filter(|(key, _)| key.starts_with(page.prefix));
        let behind = |key: &Key| match (page.after, page.order) {
            (None, _) => true,
            (Some(after), Order::Ascending) => key.as_slice() > after,
            (Some(after), Order::Descending) => key.as_slice() < after,
        };
        let mut found: Vec<_> =
            within.filter(|(key, _)| behind(key)).map(|(key, value)| (key.clone(), value.clone())).collect();
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
        resolve: &mut dyn FnMut() -> Result<Signer, Refusal>,
    ) -> Result<Arc<Signer>, Refusal> {
        resolve().map(Arc::new)
    }

    fn sign(
        &self,
        _: &[u8],
        load: &mut dyn FnMut() -> Result<SecretKey, Refusal>,
        message: &Message,
    ) -> Result<Signature, Refusal> {
        load()?.sign(message).map_err(|_| Corrupt::Signature.into())
    }
}

impl QuorumKey for Memory {
    fn public_key(&self) -> String {
        let key = quorum_key();
        const_hex::encode(key.public().uncompressed().expect("P-256 has a long form"))
    }

    fn sign(&self, statement: &[u8]) -> Result<Vec<u8>, Corrupt> {
        let digest = Message::Digest(Sha256::digest(statement).into());
        let signature = quorum_key().sign(&digest).map_err(|_| Corrupt::Signature)?;
        quorum_signature(signature.r, signature.s).ok_or(Corrupt::Signature)
    }
}

/// The same in every run.
fn quorum_key() -> SecretKey {
    SecretKey::from_bytes(Curve::P256, &[9; 32]).expect("a scalar")
}

impl Library for Memory {
    fn interface(
        &self,
        _: SmartContractInterfaceId,
        read: &mut dyn FnMut() -> Result<Interface, Refusal>,
    ) -> Result<Arc<Interface>, Refusal> {
        read().map(Arc::new)
    }
}

impl World for Memory {
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

    fn quorum_key(&self) -> &dyn QuorumKey {
        self
    }

    fn library(&self) -> &dyn Library {
        self
    }

    fn index(&self) -> &IndexKey {
        &self.index
    }

    fn budget(&self) -> &Budget {
        &self.budget
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn webhook_allowed(&self, url: &str) -> Result<(), &'static str> {
        if url.starts_with("https://") { Ok(()) } else { Err("it must begin with https://") }
    }

    fn sends_mail(&self) -> bool {
        self.sends_mail
    }

    fn takes_founders(&self) -> bool {
        self.takes_founders
    }

    fn deny_errors(&self) -> DenyErrors {
        self.deny_errors
    }
}
