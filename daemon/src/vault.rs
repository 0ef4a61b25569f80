//! The store key and the keys derived from it. Only this module holds the store key.
//!
//! The store key is random. Each slot of the header wraps it under another key: one in a file that only its owner may
//! read, one derived from a passphrase with Argon2id (RFC 9106), or one that is split into shares. It never leaves
//! memory. Headers that version 0.1 wrote have no slots: their key is the store key.

mod backup_keys;
mod collection;
mod command;
mod entropy;
mod error;
mod header;
mod log_key;
mod rekey;
mod slot;
mod source;
mod store_key;
mod terms;
mod token;
mod within;

use std::path::Path;

use ed25519_dalek::SigningKey;
use hkdf::Hkdf;
use quorate_core::model::layout::IndexKey;
use quorate_core::seal::SealKey;
use sha2::Sha256;
use zeroize::Zeroizing;

pub use self::backup_keys::BackupKeys;
pub use self::collection::{Collection, GiveError, Given};
use self::command::CommandWrapped;
use self::entropy::random;
pub use self::error::VaultError;
use self::error::{HEADER, system};
pub use self::header::Header;
use self::header::new_id;
pub use self::log_key::LogKey;
pub use self::rekey::{Holder, NewKey, NewShares};
pub use self::slot::{KeyKind, ShareHolder, ShareSet, Slot, SlotState};
pub use self::source::KeySource;
use self::source::{Stretching, check_passphrase, read_key, read_or_write_key};
pub use self::store_key::StoreKey;
pub use self::terms::{MOST_SEALINGS, Terms};
pub use self::token::TokenKey;
use self::token::TokenWrapped;
use crate::digest::DigestKey;
use crate::private_file;
use crate::store::engine::Engine;

/// The store key and the keys derived from it.
pub struct Vault {
    store_id: String,
    store_key: StoreKey,
    seal: SealKey,
    terms: SealKey,
    aside: SealKey,
    backups: BackupKeys,
    journal: SealKey,
    log: LogKey,
    index: IndexKey,
    digests: DigestKey,
    tokens: Zeroizing<[u8; 32]>,
}

impl Vault {
    /// Opens the vault of a store.
    ///
    /// # Errors
    /// Returns [`VaultError`] if the header or the key cannot be read, or if the key is wrong.
    pub fn open(folder: &Path, source: &KeySource) -> Result<Self, VaultError> {
        let header = Header::read(folder)?.ok_or_else(|| VaultError::NoStore(folder.to_owned()))?;
        Self::open_with(&header, folder, source)
    }

    /// Opens the vault of a store with this header.
    ///
    /// # Errors
    /// See [`Self::open`].
    pub fn open_with(header: &Header, folder: &Path, source: &KeySource) -> Result<Self, VaultError> {
        let key = header.store_key(folder, source)?;
        Self::of(&key, header.store_id()).ok_or_else(|| VaultError::Header(folder.join(HEADER)))
    }

    /// Checks that the key of a new store in `folder` can be read or created. Writes nothing.
    ///
    /// # Errors
    /// Returns [`VaultError`] if the key file is unusable, or its directory is missing.
    pub fn check_new(folder: &Path, source: &KeySource) -> Result<(), VaultError> {
        let path = match source {
            KeySource::File(path) => path,
            KeySource::Passphrase(_) | KeySource::Command(_) | KeySource::Token(_) => return Ok(()),
            KeySource::Shares | KeySource::StoreKey(_) => return Err(VaultError::SharesFirst),
        };
        let own = private_file::folder(path);
        // The directory of the store is created later.
        if read_key(path)?.is_none() && own != folder && !own.is_dir() {
            return Err(VaultError::NoKeyDirectory(own.to_owned()));
        }
        Ok(())
    }

    /// Creates the vault of a new store on the default engine.
    ///
    /// # Errors
    /// See [`Self::create_for`].
    pub fn create(folder: &Path, source: &KeySource) -> Result<Self, VaultError> {
        Self::create_for(folder, source, Engine::default())
    }

    /// Creates the vault of a new store on an engine. A missing key file is created.
    ///
    /// # Errors
    /// Returns [`VaultError`] if the key cannot be read or created, or if the header exists or cannot be
    /// written.
    pub fn create_for(folder: &Path, source: &KeySource, engine: Engine) -> Result<Self, VaultError> {
        let (key, slot_key) = Self::slot_key(source)?;
        let store_key = StoreKey::new(Zeroizing::new(random()?));
        let header = Header::new(new_id()?, key, &slot_key, &store_key)?.on(engine);
        header.create(folder)?;
        Self::of(&store_key, header.store_id()).ok_or_else(|| VaultError::Header(folder.join(HEADER)))
    }

    /// Returns the key of a new slot. A missing key file is created.
    fn slot_key(source: &KeySource) -> Result<(KeyKind, Zeroizing<[u8; 32]>), VaultError> {
        match source {
            KeySource::File(path) => Ok((KeyKind::File, read_or_write_key(path)?)),
            KeySource::Passphrase(passphrase) => {
                check_passphrase(passphrase)?;
                let stretching = Stretching::generate()?;
                let key = stretching.derive(passphrase).ok_or(VaultError::ShortPassphrase)?;
                Ok((KeyKind::Passphrase(stretching), key))
            }
            KeySource::Command(command) => {
                let (wrapped, key) = CommandWrapped::new(command)?;
                Ok((KeyKind::Command(wrapped), key))
            }
            KeySource::Token(token) => {
                let (wrapped, key) = TokenWrapped::new(token)?;
                Ok((KeyKind::Pkcs11(wrapped), key))
            }
            KeySource::Shares | KeySource::StoreKey(_) => Err(VaultError::SharesFirst),
        }
    }

    /// Returns whether a directory contains the header of a store.
    ///
    /// # Errors
    /// Returns [`VaultError`] if the directory cannot be read.
    pub fn exists(folder: &Path) -> Result<bool, VaultError> {
        let path = folder.join(HEADER);
        path.try_exists().map_err(system("reading", &path))
    }

    /// Derives the keys (HKDF-SHA256, RFC 5869, with the id of the store as salt).
    fn of(store_key: &StoreKey, store_id: &str) -> Option<Self> {
        let hkdf = Hkdf::<Sha256>::new(Some(store_id.as_bytes()), store_key.bytes());
        let mut key = Zeroizing::new([0; 32]);
        hkdf.expand(b"quorate/seal/1", key.as_mut_slice()).ok()?;
        let seal = SealKey::new(&key).ok()?;
        hkdf.expand(b"quorate/keyring/1", key.as_mut_slice()).ok()?;
        let terms = SealKey::misuse_resistant(&key).ok()?;
        hkdf.expand(b"quorate/aside/1", key.as_mut_slice()).ok()?;
        let aside = SealKey::misuse_resistant(&key).ok()?;
        hkdf.expand(b"quorate/backup/1", key.as_mut_slice()).ok()?;
        let wrapping = SealKey::misuse_resistant(&key).ok()?;
        hkdf.expand(b"quorate/backup-signing/1", key.as_mut_slice()).ok()?;
        let backups = BackupKeys { wrapping, signing: SigningKey::from_bytes(&key) };
        hkdf.expand(b"quorate/journal/1", key.as_mut_slice()).ok()?;
        let journal = SealKey::misuse_resistant(&key).ok()?;
        hkdf.expand(b"quorate/log/1", key.as_mut_slice()).ok()?;
        let log = LogKey::new(store_id, &key);
        hkdf.expand(b"quorate/index/1", key.as_mut_slice()).ok()?;
        let index = IndexKey::new(*key);
        hkdf.expand(b"quorate/digest/1", key.as_mut_slice()).ok()?;
        let mut tokens = Zeroizing::new([0; 32]);
        hkdf.expand(b"quorate/token/1", tokens.as_mut_slice()).ok()?;
        Some(Self {
            store_id: store_id.to_owned(),
            store_key: store_key.clone(),
            seal,
            terms,
            aside,
            backups,
            journal,
            log,
            index,
            digests: DigestKey::new(key),
            tokens,
        })
    }

    /// Returns the id of the store.
    pub fn store_id(&self) -> &str {
        &self.store_id
    }

    /// Returns the store key.
    pub const fn store_key(&self) -> &StoreKey {
        &self.store_key
    }

    /// Returns the key of term 0, which sealed records before there were terms.
    pub const fn seal(&self) -> &SealKey {
        &self.seal
    }

    /// Returns the key that seals the keys of the other terms.
    pub(crate) const fn terms(&self) -> &SealKey {
        &self.terms
    }

    /// Returns the key of what is kept beside the records: guard files and notices to other daemons. It needs no terms: a
    /// nonce that repeats reveals only whether the same text was sealed again (RFC 8452).
    pub(crate) const fn aside(&self) -> &SealKey {
        &self.aside
    }

    /// Returns the keys for backups.
    pub const fn backups(&self) -> &BackupKeys {
        &self.backups
    }

    /// Returns the key of the journal.
    pub(crate) const fn journal(&self) -> &SealKey {
        &self.journal
    }

    /// Returns the key that signs checkpoints of the activity log.
    pub const fn log(&self) -> &LogKey {
        &self.log
    }

    /// Returns the key of lookup digests.
    pub const fn index(&self) -> &IndexKey {
        &self.index
    }

    /// Fills a buffer with bytes for the key that signs ID tokens. Each generation of the key has other bytes, and so
    /// has each attempt to create it.
    pub(crate) fn fill_token_key(&self, generation: u32, attempt: u32, buffer: &mut [u8]) {
        let hkdf = Hkdf::<Sha256>::new(Some(&generation.to_be_bytes()), self.tokens.as_slice());
        // Buffers are much shorter than the limit of the function.
        if hkdf.expand(&attempt.to_be_bytes(), buffer).is_err() {
            buffer.fill(0);
        }
    }

    /// Returns the key for digests of stored records.
    pub(crate) const fn digests(&self) -> &DigestKey {
        &self.digests
    }
}

#[cfg(test)]
mod tests;
