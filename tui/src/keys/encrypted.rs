//! Keys in encrypted files. A key stays unlocked until it is locked or the program ends.

use std::sync::{Mutex, PoisonError};

use quorate_common::stamp::{Stamp, Stamper};

use super::error::KeyError;
use super::file::{KeyFile, KeyFileError};
use super::source::{Description, KeySource, Secret};
use crate::files::Folders;

/// A key of an encrypted file.
pub(super) struct EncryptedKey {
    file: KeyFile,
    description: Description,
    /// On the heap, so that the only copy is the one that is wiped.
    unlocked: Mutex<Option<Box<Stamper>>>,
}

impl EncryptedKey {
    /// Opens the file without unlocking the key.
    pub(super) fn open(folders: &Folders, name: &str) -> Result<Self, KeyFileError> {
        let file = KeyFile::load(folders, name)?;
        let description = Description {
            name: name.to_owned(),
            public_key: file.public_key().to_owned(),
            curve: file.curve(),
            secret: Some(Secret::Passphrase),
            warning: None,
        };
        Ok(Self { file, description, unlocked: Mutex::new(None) })
    }
}

impl KeySource for EncryptedKey {
    fn describe(&self) -> &Description {
        &self.description
    }

    fn is_locked(&self) -> bool {
        self.unlocked.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    fn stamp(&self, body: &[u8], secret: &str) -> Result<Stamp, KeyError> {
        let mut unlocked = self.unlocked.lock().unwrap_or_else(PoisonError::into_inner);
        let stamper = match unlocked.take() {
            Some(stamper) => unlocked.insert(stamper),
            None => unlocked.insert(self.file.unlock(secret)?),
        };
        Ok(stamper.stamp(body).map_err(|_| KeyFileError::Crypto("signature"))?)
    }

    fn lock(&self) {
        *self.unlocked.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
