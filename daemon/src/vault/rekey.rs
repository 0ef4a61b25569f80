//! New slots: a set of shares whose letters go to their holders, a key file or a passphrase.

use std::path::Path;

use quorate_common::bundle::TargetPublicKey;
use quorate_common::share::{self, MAX_NAME, Share, ShareError, ShareLetter, SharePlace};
use zeroize::Zeroizing;

use super::Vault;
use super::entropy::{fill, random};
use super::error::{MAX_SLOTS, VaultError};
use super::header::{Header, new_id};
use super::slot::{KeyKind, ShareHolder, ShareSet, Slot, SlotState};
use super::source::KeySource;
use super::store_key::StoreKey;

/// A holder of a new set of shares.
#[derive(Debug, Clone)]
pub struct Holder {
    /// Name, unique in the set.
    pub name: String,
    /// Key that the letter is encrypted to.
    pub key: TargetPublicKey,
}

/// A new set of shares.
#[derive(Debug, Clone)]
pub struct NewShares {
    /// Number of shares that open the slot.
    pub threshold: u8,
    /// Holders.
    pub holders: Vec<Holder>,
    /// Slots that are removed when this one becomes active.
    pub replaces: Vec<String>,
}

/// The key of a new slot.
pub struct NewKey {
    kind: KeyKind,
    key: Zeroizing<[u8; 32]>,
}

impl NewShares {
    fn check(&self, header: &Header) -> Result<u8, VaultError> {
        let invalid = |text: String| Err(VaultError::Holders(text));
        for (at, holder) in self.holders.iter().enumerate() {
            let name = &holder.name;
            let is_plain = |letter: char| letter.is_alphanumeric() || " -_.@".contains(letter);
            if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(is_plain) {
                return invalid(format!(
                    "a name has at most {MAX_NAME} bytes of letters, digits, spaces, hyphens, underscores, dots and @"
                ));
            }
            let before = self.holders.get(..at).unwrap_or_default();
            if before.iter().any(|other| other.name == *name) {
                return invalid(format!("{name} is named twice"));
            }
            if let Some(other) = before.iter().find(|other| other.key == holder.key) {
                return invalid(format!("{} and {name} have the same key", other.name));
            }
        }
        let is_known = |id: &String| header.slots(SlotState::Active).any(|slot| slot.id() == id);
        if let Some(id) = self.replaces.iter().find(|id| !is_known(id)) {
            return Err(VaultError::NoSlot(id.clone()));
        }
        u8::try_from(self.holders.len()).or_else(|_| invalid(ShareError::Counts.to_string()))
    }
}

impl Header {
    /// Splits the key of a new slot. The slot is pending: it opens nothing until enough holders have given their
    /// shares. Another pending slot is removed.
    ///
    /// # Errors
    /// [`VaultError::Holders`], [`VaultError::NoSlot`] or [`VaultError::TooManySlots`].
    pub fn add_shares(
        &mut self,
        store_key: &StoreKey,
        new: &NewShares,
    ) -> Result<Vec<ShareLetter>, VaultError> {
        let count = new.check(self)?;
        let failed = |error: ShareError| VaultError::Holders(error.to_string());
        let slot_key = Zeroizing::new(random::<32>()?);
        let mut random_source = Random::default();
        let values = share::split(&slot_key, new.threshold, count, &mut random_source.filler());
        let (values, id) = (values.map_err(failed)?, new_id()?);
        let mut letters = Vec::with_capacity(values.len());
        let mut set = ShareSet { threshold: new.threshold, holders: Vec::with_capacity(values.len()) };
        for ((value, holder), index) in values.into_iter().zip(&new.holders).zip(1..) {
            let place = SharePlace {
                store_id: self.store_id().to_owned(),
                set: id.clone(),
                index,
                threshold: new.threshold,
                holders: count,
                holder: holder.name.clone(),
            };
            let letter = Share::new(place, &value).letter(&holder.key, &mut random_source.filler());
            let letter = letter.map_err(failed)?;
            set.holders.push(ShareHolder {
                index,
                name: holder.name.clone(),
                public_key: letter.public_key.clone(),
                commitment: letter.commitment.clone(),
            });
            letters.push(letter);
        }
        random_source.result?;
        let slot = Slot::wrap(id, KeyKind::Shares(set), &slot_key, store_key, self.store_id())?;
        self.add(slot.pending(new.replaces.clone()), store_key)?;
        Ok(letters)
    }

    /// Reads or makes the key of a new slot. A missing key file is created. A program or a token may take its time.
    ///
    /// # Errors
    /// Returns [`VaultError`] if the key cannot be read or created, or the store has too many slots.
    pub fn new_key(&self, source: &KeySource) -> Result<NewKey, VaultError> {
        // No key file is created for a slot that cannot be added.
        if self.all_slots().len() >= MAX_SLOTS {
            return Err(VaultError::TooManySlots);
        }
        Vault::check_new(Path::new(""), source)?;
        let (kind, key) = Vault::slot_key(source)?;
        Ok(NewKey { kind, key })
    }

    /// Adds a slot with a new key, which is active at once. Returns the id of the slot.
    ///
    /// # Errors
    /// Returns [`VaultError`] if the store has too many slots.
    pub fn add_key(&mut self, store_key: &StoreKey, new: NewKey) -> Result<String, VaultError> {
        let slot = Slot::wrap(new_id()?, new.kind, &new.key, store_key, self.store_id())?;
        let id = slot.id().to_owned();
        self.add(slot, store_key)?;
        Ok(id)
    }
}

/// Random bytes for a library that accepts no error. The error is kept.
pub(super) struct Random {
    pub(super) result: Result<(), VaultError>,
}

impl Default for Random {
    fn default() -> Self {
        Self { result: Ok(()) }
    }
}

impl Random {
    pub(super) fn filler(&mut self) -> impl FnMut(&mut [u8]) {
        |bytes: &mut [u8]| {
            if let Err(error) = fill(bytes) {
                self.result = Err(error);
            }
        }
    }
}
