//! The header of a data directory: what opens its store, which engine it is on, which versions can read its records,
//! and whether it was moved.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::Vault;
use super::entropy::random;
use super::error::{HEADER, MAX_SLOTS, VaultError, system};
use super::slot::{KeyKind, Slot, SlotState};
use super::source::{KeySource, read_key};
use super::store_key::StoreKey;
use crate::private_file;
use crate::store::engine::Engine;

/// Format of a header without slots: its key is the store key. Version 0.1 wrote it.
const ONE_KEY: u32 = 1;
/// Format of a header with slots.
const SLOTS: u32 = 2;
/// Context of the check value.
const CHECK_CONTEXT: &[u8] = b"quorate/check";
const CHECK: &[u8] = b"quorate";
/// Level of the records that this version writes. Version 0.1 wrote level 1 and states none.
pub(super) const LEVEL: u32 = 2;

/// Key of a slot.
type SlotKey = Zeroizing<[u8; 32]>;

/// The header of a data directory.
#[serde_with::skip_serializing_none]
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Header {
    format: u32,
    store_id: String,
    /// Kind of the only key, in the format without slots.
    key: Option<KeyKind>,
    /// Slots, in the format with slots.
    slots: Option<Vec<Slot>>,
    /// A known text under the first sealing key, which shows that a key is wrong.
    check: String,
    /// Level of the records. Version 0.1, which cannot read those of later levels, rejects a header with this member.
    pub(super) level: Option<u32>,
    /// Engine of the store. Absent for sled.
    engine: Option<Engine>,
    /// Engine and place to which the store was moved. Earlier versions reject a header with this member.
    moved_to: Option<String>,
}

impl Header {
    /// Creates the header of a new store, with one slot.
    pub(super) fn new(
        store_id: String,
        key: KeyKind,
        slot_key: &Zeroizing<[u8; 32]>,
        store_key: &StoreKey,
    ) -> Result<Self, VaultError> {
        let slot = Slot::wrap(new_id()?, key, slot_key, store_key, &store_id)?;
        let unusable = || VaultError::Slot(slot.id().to_owned());
        let vault = Vault::of(store_key, &store_id).ok_or_else(unusable)?;
        let check = vault.seal().seal(random()?, CHECK_CONTEXT, CHECK).map_err(|_| unusable())?;
        Ok(Self {
            format: SLOTS,
            store_id,
            key: None,
            slots: Some(vec![slot]),
            check: const_hex::encode(check),
            level: Some(LEVEL),
            engine: None,
            moved_to: None,
        })
    }

    /// Reads the header of a data directory; returns `None` if there is none.
    ///
    /// # Errors
    /// Returns [`VaultError::Header`] if the header is damaged or from a newer version, and an error if it cannot be
    /// read.
    pub fn read(folder: &Path) -> Result<Option<Self>, VaultError> {
        let path = folder.join(HEADER);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(system("reading", &path)(error)),
        };
        Self::decode(&text, &path).map(Some)
    }

    /// Decodes a header that is stored with the records in a database.
    ///
    /// # Errors
    /// Returns [`VaultError::DatabaseHeader`] if the header is damaged or from a newer version.
    pub fn of_database(text: &[u8], folder: &Path) -> Result<Self, VaultError> {
        Self::decode(text, &folder.join(HEADER)).map_err(|_| VaultError::DatabaseHeader)
    }

    fn decode(text: &[u8], path: &Path) -> Result<Self, VaultError> {
        let header: Option<Self> = serde_json::from_slice(text).ok();
        let is_known = |header: &Self| {
            let keys = match (header.format, &header.key, &header.slots) {
                (ONE_KEY, Some(key), None) => matches!(key, KeyKind::File | KeyKind::Passphrase(_)),
                (SLOTS, None, Some(slots)) => {
                    slots.len() <= MAX_SLOTS && slots.iter().any(|slot| slot.state() == SlotState::Active)
                }
                _ => false,
            };
            keys && header.level.is_none_or(|level| level <= LEVEL)
        };
        header.filter(is_known).ok_or_else(|| VaultError::Header(path.to_owned()))
    }

    /// Returns the store key that a source opens.
    ///
    /// # Errors
    /// Returns [`VaultError`] if the source cannot be read, opens no slot, or must wait for holders.
    pub(super) fn store_key(&self, folder: &Path, source: &KeySource) -> Result<StoreKey, VaultError> {
        let wrong = || VaultError::WrongKey(self.place(folder));
        match source {
            KeySource::Shares if self.slots(SlotState::Active).any(|slot| slot.shares().is_some()) => {
                Err(VaultError::Sealed(self.place(folder)))
            }
            KeySource::Shares => Err(VaultError::NoShares(self.place(folder))),
            KeySource::StoreKey(key) => {
                Some(key.clone()).filter(|key| self.is_opened_by(key)).ok_or_else(wrong)
            }
            KeySource::File(file) => {
                let missing = || VaultError::MissingKey { file: file.clone(), store: self.place(folder) };
                self.opened_by(folder, |key| {
                    (*key == KeyKind::File).then(|| read_key(file)?.ok_or_else(missing))
                })
            }
            KeySource::Passphrase(passphrase) => self.opened_by(folder, |key| match key {
                KeyKind::Passphrase(stretching) => Some(stretching.derive(passphrase).ok_or_else(wrong)),
                _ => None,
            }),
            KeySource::Command(command) => self.opened_by(folder, |key| match key {
                KeyKind::Command(wrapped) => Some(wrapped.open(command)),
                _ => None,
            }),
            KeySource::Token(token) => self.opened_by(folder, |key| match key {
                KeyKind::Pkcs11(wrapped) => Some(wrapped.open(token)),
                _ => None,
            }),
        }
    }

    /// Returns the store key, if one of the slots is opened by the key that `open` returns for it; `None` for slots of other
    /// kinds.
    fn opened_by(
        &self,
        folder: &Path,
        open: impl Fn(&KeyKind) -> Option<Result<SlotKey, VaultError>>,
    ) -> Result<StoreKey, VaultError> {
        let mut failure = None;
        let slots = self.slots(SlotState::Active).map(|slot| (slot.key(), Some(slot)));
        for (kind, slot) in self.key.iter().map(|key| (key, None)).chain(slots) {
            let found = match open(kind) {
                None => continue,
                // Another attempt could lock the token.
                Some(Err(error @ VaultError::Pin { .. })) => return Err(error),
                Some(Err(error)) => {
                    failure.get_or_insert(error);
                    continue;
                }
                Some(Ok(key)) => match slot {
                    Some(slot) => slot.unwrap(key.as_slice(), &self.store_id),
                    None => Some(StoreKey::new(key)),
                },
            };
            match found.filter(|key| self.is_opened_by(key)) {
                Some(key) => return Ok(key),
                None => failure = Some(failure.unwrap_or_else(|| VaultError::WrongKey(self.place(folder)))),
            }
        }
        Err(failure.unwrap_or_else(|| self.other_kind(folder)))
    }

    /// Returns whether this is the store key of the header.
    pub(super) fn is_opened_by(&self, key: &StoreKey) -> bool {
        let opened = || {
            let check = const_hex::decode(&self.check).ok()?;
            Vault::of(key, &self.store_id)?.seal().open(CHECK_CONTEXT, &check).ok()
        };
        opened().is_some_and(|plain| plain == CHECK)
    }

    fn other_kind(&self, folder: &Path) -> VaultError {
        let slots = self.slots(SlotState::Active).map(Slot::key);
        let mut nouns: Vec<&str> = self.key.iter().chain(slots).map(KeyKind::noun).collect();
        nouns.dedup();
        VaultError::OtherKind(self.place(folder), nouns.join(" or "))
    }

    /// Returns where the store is, for messages.
    fn place(&self, folder: &Path) -> String {
        match self.engine() {
            Engine::Postgres => "the database".to_owned(),
            Engine::Sled | Engine::Redb => folder.display().to_string(),
        }
    }

    /// Returns the id of the store.
    pub fn store_id(&self) -> &str {
        &self.store_id
    }

    /// Returns the kind of the only key, if the header has no slots yet.
    pub const fn only_key(&self) -> Option<&KeyKind> {
        self.key.as_ref()
    }

    /// Returns all slots.
    pub fn all_slots(&self) -> &[Slot] {
        self.slots.as_deref().unwrap_or_default()
    }

    /// Returns the slots in this state.
    pub fn slots(&self, state: SlotState) -> impl Iterator<Item = &Slot> {
        self.all_slots().iter().filter(move |slot| slot.state() == state)
    }

    /// Adds a slot. A header without slots gets one for its only key. A pending slot takes the place of another pending
    /// one.
    pub(super) fn add(&mut self, slot: Slot, store_key: &StoreKey) -> Result<(), VaultError> {
        let mut slots = match (self.slots.take(), self.key.take()) {
            (Some(slots), _) => slots,
            (None, Some(key)) => {
                let own = Zeroizing::new(*store_key.bytes());
                vec![Slot::wrap(new_id()?, key, &own, store_key, &self.store_id)?]
            }
            (None, None) => Vec::new(),
        };
        if slot.state() == SlotState::Pending {
            slots.retain(|slot| slot.state() == SlotState::Active);
        }
        let is_full = slots.len() >= MAX_SLOTS;
        if !is_full {
            slots.push(slot);
        }
        self.slots = Some(slots);
        self.format = SLOTS;
        if is_full { Err(VaultError::TooManySlots) } else { Ok(()) }
    }

    /// Makes a pending slot active, and removes the slots that it replaces.
    ///
    /// # Errors
    /// [`VaultError::NoSlot`].
    pub fn activate(&mut self, id: &str) -> Result<(), VaultError> {
        let missing = || VaultError::NoSlot(id.to_owned());
        let slots = self.slots.as_mut().ok_or_else(missing)?;
        let replaced = slots.iter_mut().find(|slot| slot.id() == id).ok_or_else(missing)?.activate();
        slots.retain(|slot| !replaced.iter().any(|id| id == slot.id()));
        Ok(())
    }

    /// Removes a slot, unless it is the last active one.
    ///
    /// # Errors
    /// [`VaultError::NoSlot`] or [`VaultError::LastSlot`].
    pub fn remove(&mut self, id: &str) -> Result<(), VaultError> {
        let found = self.all_slots().iter().find(|slot| slot.id() == id);
        let state = found.ok_or_else(|| VaultError::NoSlot(id.to_owned()))?.state();
        if state == SlotState::Active && self.slots(SlotState::Active).count() == 1 {
            return Err(VaultError::LastSlot(id.to_owned()));
        }
        if let Some(slots) = &mut self.slots {
            slots.retain(|slot| slot.id() != id);
        }
        Ok(())
    }

    /// Raises the level in the header of a data directory to that of this version, before its first record is written.
    ///
    /// # Errors
    /// Returns an error if the header cannot be read or written.
    pub fn raise_level(folder: &Path) -> Result<(), VaultError> {
        let header = Self::read(folder)?.filter(|header| header.level != Some(LEVEL));
        header.map_or(Ok(()), |header| Self { level: Some(LEVEL), ..header }.put(folder))
    }

    /// Returns the header as it is stored with the records in a database.
    ///
    /// # Errors
    /// Returns [`VaultError::Header`] if it cannot be encoded.
    pub fn for_database(&self, folder: &Path) -> Result<Vec<u8>, VaultError> {
        self.encode(&folder.join(HEADER))
    }

    /// Returns whether both texts are headers of the same store, and neither was marked as moved since the other.
    pub fn are_of_same_store(one: &[u8], other: &[u8]) -> bool {
        let read = |text| Self::of_database(text, Path::new("")).ok();
        read(one)
            .zip(read(other))
            .is_some_and(|(one, other)| one.is_same_store(&other) && one.moved_to == other.moved_to)
    }

    /// Returns whether both are headers of the same store.
    pub fn is_same_store(&self, other: &Self) -> bool {
        self.store_id == other.store_id
    }

    /// Creates or replaces the header in a data directory.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn put(&self, folder: &Path) -> Result<(), VaultError> {
        let path = folder.join(HEADER);
        private_file::replace(&path, &self.encode(&path)?).map_err(system("writing", &path))
    }

    /// Returns the engine of the store, which may be served.
    ///
    /// # Errors
    /// Returns an error if the store was moved, or is on another engine than the one named.
    pub fn served_engine(&self, folder: &Path, named: Option<Engine>) -> Result<Engine, VaultError> {
        if let Some(place) = &self.moved_to {
            return Err(self.moved_error(folder, place));
        }
        let engine = self.engine();
        if named.is_some_and(|named| named != engine) {
            return Err(VaultError::OtherEngine(folder.to_owned(), engine));
        }
        Ok(engine)
    }

    /// Returns the error for a store that was moved to this place.
    pub fn moved_error(&self, folder: &Path, place: &str) -> VaultError {
        let folder = folder.display();
        let store = match self.engine() {
            Engine::Postgres => format!("in the database of the data directory {folder}"),
            Engine::Sled | Engine::Redb => format!("in {folder}"),
        };
        VaultError::Moved(store, place.to_owned())
    }

    /// Returns the engine of the store.
    pub fn engine(&self) -> Engine {
        self.engine.unwrap_or_default()
    }

    /// Returns engine and place to which the store was moved, if it was.
    pub fn moved_to(&self) -> Option<&str> {
        self.moved_to.as_deref()
    }

    /// Returns the header of the same store on another engine.
    #[must_use]
    pub fn on(self, engine: Engine) -> Self {
        Self { engine: (engine != Engine::default()).then_some(engine), moved_to: None, ..self }
    }

    /// Creates the header in a data directory that has none.
    ///
    /// # Errors
    /// Returns an error if it exists or cannot be written.
    pub fn create(&self, folder: &Path) -> Result<(), VaultError> {
        let path = folder.join(HEADER);
        private_file::create(&path, &self.encode(&path)?).map_err(system("creating", &path))
    }

    /// Sets where the store was moved, or that it was not moved. Writes nothing.
    pub fn set_moved(&mut self, place: Option<String>) {
        self.moved_to = place;
    }

    /// Records in the header where the store was moved, or that it was not moved.
    ///
    /// # Errors
    /// Returns an error if the header cannot be written.
    pub fn mark_moved(&mut self, folder: &Path, place: Option<String>) -> Result<(), VaultError> {
        self.set_moved(place);
        self.put(folder)
    }

    fn encode(&self, path: &Path) -> Result<Vec<u8>, VaultError> {
        serde_json::to_vec_pretty(self).map_err(|_| VaultError::Header(path.to_owned()))
    }
}

/// Returns a random id.
pub(super) fn new_id() -> Result<String, VaultError> {
    random::<16>().map(const_hex::encode)
}
