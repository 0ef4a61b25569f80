//! What the core is given to look at: records, organizations, keys. Implemented by the shell.

use std::sync::Arc;

use quorate_chain::curve::{Message, SecretKey, Signature};
use quorate_common::ids::{OrganizationId, SmartContractInterfaceId};

use crate::budget::Budget;
use crate::interfaces::Interface;
use crate::limits::Limits;
use crate::model::layout::{IndexKey, Key};
use crate::model::{Millis, Organization};
use crate::policy::DenyErrors;
use crate::refusal::{Corrupt, Refusal};
use crate::signing::Signer;

/// From which end a page is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Smallest key first.
    Ascending,
    /// Largest key first.
    Descending,
}

/// Part of an ordered range of keys.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// All keys of the range begin so.
    pub prefix: &'a [u8],
    /// Start behind this key, in the direction of reading; nothing means from the end.
    pub after: Option<&'a [u8]>,
    /// Direction.
    pub order: Order,
    /// At most so many.
    pub limit: usize,
}

impl<'a> Page<'a> {
    /// The first `limit` of a range.
    pub const fn first(prefix: &'a [u8], limit: usize) -> Self {
        Self { prefix, after: None, order: Order::Ascending, limit }
    }

    /// The last `limit` of a range, last first.
    pub const fn last(prefix: &'a [u8], limit: usize) -> Self {
        Self { prefix, after: None, order: Order::Descending, limit }
    }
}

/// Reads opened records.
pub trait Records {
    /// The record at a key.
    fn read(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Corrupt>;

    /// Records of a range with their keys.
    fn page(&self, page: Page<'_>) -> Result<Vec<(Key, Vec<u8>)>, Corrupt>;

    /// Keys of a range, without opening the records.
    fn keys(&self, page: Page<'_>) -> Result<Vec<Key>, Corrupt>;
}

/// Keeps what was used lately to sign: who signs under a name, and opened secret keys, which it never hands out. So signing
/// neither looks them up nor derives them each time.
pub trait Keyring {
    /// Who signs under this name, resolved if it is not at hand. A name is good for one version of one
    /// organization.
    fn signer(
        &self,
        name: Key,
        resolve: &mut dyn FnMut() -> Result<Signer, Refusal>,
    ) -> Result<Arc<Signer>, Refusal>;

    /// Signs with the key of this place, loaded if it is not at hand.
    fn sign(
        &self,
        place: &[u8],
        load: &mut dyn FnMut() -> Result<SecretKey, Refusal>,
        message: &Message,
    ) -> Result<Signature, Refusal>;
}

/// Signs what clients believe because the service says it.
pub trait QuorumKey {
    /// Its public half: the long form of a point of P-256 in lower-case hexadecimal digits.
    fn public_key(&self) -> String;

    /// Signs the bytes of a statement by ECDSA with SHA-256; in DER, with the lower of the two values of s.
    fn sign(&self, statement: &[u8]) -> Result<Vec<u8>, Corrupt>;
}

/// Keeps interfaces of smart contracts that were asked for lately. So signing does not read their texts each time.
pub trait Library {
    /// The interface of this id, read if it is not at hand. What an id stands for never changes.
    fn interface(
        &self,
        id: SmartContractInterfaceId,
        read: &mut dyn FnMut() -> Result<Interface, Refusal>,
    ) -> Result<Arc<Interface>, Refusal>;
}

/// Everything that can be looked at.
pub trait World {
    /// A snapshot of an organization.
    fn organization(&self, id: OrganizationId) -> Result<Option<Arc<Organization>>, Corrupt>;

    /// The version of an organization, as commits compare it; zero for what was never given one.
    fn version(&self, id: OrganizationId) -> Result<u64, Corrupt>;

    /// Records that belong to no snapshot.
    fn records(&self) -> &dyn Records;

    /// Opened keys.
    fn keyring(&self) -> &dyn Keyring;

    /// The key that vouches for bundles.
    fn quorum_key(&self) -> &dyn QuorumKey;

    /// Interfaces of smart contracts.
    fn library(&self) -> &dyn Library;

    /// Digests for look-ups.
    fn index(&self) -> &IndexKey;

    /// What the answer at hand may still cost.
    fn budget(&self) -> &Budget;

    /// Limits of the installation.
    fn limits(&self) -> &Limits;

    /// Whether a text may be set as the URL of a webhook. The error says why not.
    fn webhook_allowed(&self, url: &str) -> Result<(), &'static str>;

    /// Whether mail can be sent.
    fn sends_mail(&self) -> bool;

    /// Whether anybody may found an organization.
    fn takes_founders(&self) -> bool;

    /// What becomes of denying policies that fail.
    fn deny_errors(&self) -> DenyErrors;
}

/// The instant of a turn and its randomness.
pub struct Moment<'a> {
    /// Now.
    pub now: Millis,
    /// Greater than in every earlier moment of the same millisecond; 12 bits.
    pub order: u16,
    /// Fills a buffer with bytes from a cryptographic source.
    pub entropy: &'a mut dyn FnMut(&mut [u8]),
}

impl Moment<'_> {
    /// Returns the last ten bytes of a version 7 id: the order in the first 12 bits that count, then random bytes (RFC 9562,
    /// section 6.2, method 1).
    pub fn ordered(&mut self) -> [u8; 10] {
        let mut bytes: [u8; 10] = self.random();
        let [first, second, ..] = &mut bytes;
        [*first, *second] = self.order.to_be_bytes();
        bytes
    }

    /// Fresh random bytes.
    pub fn random<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        (self.entropy)(&mut bytes);
        bytes
    }
}
