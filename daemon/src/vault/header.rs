//! The header of a data directory: how its store is sealed, which engine it is on, which versions can read its records, and
//! whether it was moved.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{VaultError, system};
use crate::private_file;
use crate::store::engine::Engine;

/// File name of the header.
pub(super) const HEADER: &str = "quorate.json";
/// Format of the header.
pub(super) const FORMAT: u32 = 1;
/// Level of the records that this version writes. Version 0.1 wrote level 1 and states none.
pub(super) const LEVEL: u32 = 2;

/// The header of a data directory.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Header {
    pub(super) format: u32,
    pub(super) store_id: String,
    pub(super) key: KeyKind,
    pub(super) check: String,
    /// Level of the records. Version 0.1, which cannot read those of later levels, rejects a header with this member.
    pub(super) level: Option<u32>,
    /// Engine of the store. Absent for sled.
    pub(super) engine: Option<Engine>,
    /// Engine and place to which the store was moved. Earlier versions reject a header with this member.
    pub(super) moved_to: Option<String>,
}

/// Kind of the root key.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "kind", deny_unknown_fields)]
pub(super) enum KeyKind {
    File,
    Passphrase { salt: String, memory_kib: u32, passes: u32, lanes: u32 },
}

impl Header {
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
        let is_known =
            |header: &Self| header.format == FORMAT && header.level.is_none_or(|level| level <= LEVEL);
        header.filter(is_known).ok_or_else(|| VaultError::Header(path.to_owned()))
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
