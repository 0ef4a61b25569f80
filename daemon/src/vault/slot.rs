//! The slots of a store: each wraps the store key under another key.

use hkdf::Hkdf;
use quorate_core::seal::{NONCE, SealKey};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::command::CommandWrapped;
use super::entropy::random;
use super::error::VaultError;
use super::source::Stretching;
use super::store_key::StoreKey;
use super::token::TokenWrapped;

/// A slot. Without the key of the slot, nothing in it helps to open the store.
#[serde_with::skip_serializing_none]
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Slot {
    id: String,
    state: SlotState,
    key: KeyKind,
    /// The store key under the key of the slot, in hexadecimal digits. Authenticates store, slot and kind of key.
    wrapped: String,
    /// Slots that are removed when this one becomes active.
    replaces: Option<Vec<String>>,
}

/// Whether a slot opens the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SlotState {
    /// It opens nothing until its holders have shown that they can read their shares.
    Pending,
    /// It opens the store.
    Active,
}

/// Kind of the key of a slot, and what is public about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "kind", deny_unknown_fields)]
pub enum KeyKind {
    /// A key file.
    File,
    /// A passphrase.
    Passphrase(Stretching),
    /// Shares of several holders.
    Shares(ShareSet),
    /// A program.
    Command(CommandWrapped),
    /// A key of a PKCS #11 token.
    Pkcs11(TokenWrapped),
}

/// A set of shares.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ShareSet {
    /// Number of shares that open the slot.
    pub threshold: u8,
    /// Holders, in the order of their shares.
    pub holders: Vec<ShareHolder>,
}

/// Holder of a share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ShareHolder {
    /// Number of the share, from 1.
    pub index: u8,
    /// Name of the holder.
    pub name: String,
    /// Key that the letter of the holder was encrypted to: a compressed point of P-256 in hexadecimal digits.
    pub public_key: String,
    /// Commitment to the share.
    pub commitment: String,
}

impl KeyKind {
    /// Returns what opens a slot of this kind, for messages.
    pub(super) const fn noun(&self) -> &'static str {
        match self {
            Self::File => "a key file",
            Self::Passphrase(_) => "a passphrase",
            Self::Shares(_) => "shares",
            Self::Command(_) => "a command",
            Self::Pkcs11(_) => "a PKCS #11 token",
        }
    }
}

impl Slot {
    /// Wraps the store key in a slot with this id.
    pub(super) fn wrap(
        id: String,
        key: KeyKind,
        slot_key: &Zeroizing<[u8; 32]>,
        store_key: &StoreKey,
        store_id: &str,
    ) -> Result<Self, VaultError> {
        let mut slot = Self { id, state: SlotState::Active, key, wrapped: String::new(), replaces: None };
        let unusable = || VaultError::Slot(slot.id.clone());
        let wrapping = slot.wrapping_key(slot_key.as_slice(), store_id).ok_or_else(unusable)?;
        let context = slot.context(store_id).ok_or_else(unusable)?;
        let sealed =
            wrapping.seal(random::<NONCE>()?, &context, store_key.bytes()).map_err(|_| unusable())?;
        slot.wrapped = const_hex::encode(sealed);
        Ok(slot)
    }

    /// Makes the slot wait for its holders. When it becomes active, the slots with these ids are removed.
    pub(super) fn pending(self, replaces: Vec<String>) -> Self {
        Self { state: SlotState::Pending, replaces: Some(replaces).filter(|ids| !ids.is_empty()), ..self }
    }

    /// Makes the slot active, and returns the ids of the slots that it replaces.
    pub(super) fn activate(&mut self) -> Vec<String> {
        self.state = SlotState::Active;
        self.replaces.take().unwrap_or_default()
    }

    /// Returns the store key, if this is the key of the slot.
    pub(super) fn unwrap(&self, slot_key: &[u8], store_id: &str) -> Option<StoreKey> {
        let wrapped = const_hex::decode(&self.wrapped).ok()?;
        let wrapping = self.wrapping_key(slot_key, store_id)?;
        let plain = Zeroizing::new(wrapping.open(&self.context(store_id)?, &wrapped).ok()?);
        plain.as_slice().try_into().ok().map(|key| StoreKey::new(Zeroizing::new(key)))
    }

    /// Returns the id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns whether the slot opens the store.
    pub const fn state(&self) -> SlotState {
        self.state
    }

    /// Returns the kind of the key.
    pub const fn key(&self) -> &KeyKind {
        &self.key
    }

    /// Returns the set of shares, if shares open the slot.
    pub const fn shares(&self) -> Option<&ShareSet> {
        match &self.key {
            KeyKind::Shares(set) => Some(set),
            KeyKind::File | KeyKind::Passphrase(_) | KeyKind::Command(_) | KeyKind::Pkcs11(_) => None,
        }
    }

    /// Returns the ids of the slots that this one replaces when it becomes active.
    pub fn replaces(&self) -> &[String] {
        self.replaces.as_deref().unwrap_or_default()
    }

    /// Derives the wrapping key (HKDF-SHA256, RFC 5869, with the id of the store as salt).
    fn wrapping_key(&self, slot_key: &[u8], store_id: &str) -> Option<SealKey> {
        let hkdf = Hkdf::<Sha256>::new(Some(store_id.as_bytes()), slot_key);
        let mut key = Zeroizing::new([0; 32]);
        hkdf.expand_multi_info(&[b"quorate/slot/1", self.id.as_bytes()], key.as_mut_slice()).ok()?;
        SealKey::misuse_resistant(&key).ok()
    }

    /// Returns what is authenticated with the wrapped key, so that a slot can neither be moved nor weakened.
    fn context(&self, store_id: &str) -> Option<Vec<u8>> {
        serde_json::to_vec(&(store_id, &self.id, &self.key)).ok()
    }
}
