//! Decrypts a backup that was checked.

use std::io::Read;

use aead_stream::{DecryptorBE32, Key, Nonce, StreamBE32};
use aes_gcm_siv::Aes256GcmSiv;
use aes_gcm_siv::aead::Payload;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::checker::decoded;
use super::{BackupError, Checked, Entry, FRAME, LAST, LINE, TAG, WRAPPING};
use crate::vault::BackupKeys;

const CHANGED: BackupError = BackupError::Damaged("it changed while it was read");

/// Decrypts the entries of a backup.
pub struct Reader<'r> {
    from: &'r mut dyn Read,
    /// `None` after the last frame.
    decryptor: Option<DecryptorBE32<Aes256GcmSiv>>,
    head: [u8; 32],
    plain: Vec<u8>,
    /// Number of bytes of `plain` that were decoded.
    decoded: usize,
}

impl<'r> Reader<'r> {
    /// Begins to decrypt a backup, from its first byte.
    ///
    /// # Errors
    /// Returns an error if the keys are those of another store, or the backup cannot be read.
    pub fn begin(from: &'r mut dyn Read, checked: &Checked, keys: &BackupKeys) -> Result<Self, BackupError> {
        const DAMAGED: BackupError = BackupError::Damaged("its head cannot be read");
        let head = &checked.head;
        let place = [WRAPPING, head.store_id.as_bytes()].concat();
        let sealed = const_hex::decode(&head.key).map_err(|_| DAMAGED)?;
        let key = keys.wrapping.open(&place, &sealed).map_err(|_| BackupError::OtherStore)?;
        let key = Zeroizing::new(key);
        let key: &[u8; 32] = key.as_slice().try_into().map_err(|_| DAMAGED)?;
        if head.public_key != const_hex::encode(keys.signing.verifying_key().as_bytes()) {
            return Err(BackupError::OtherSigner);
        }
        let nonce: [u8; 7] = decoded(head.nonce.as_bytes()).ok_or(DAMAGED)?;
        let mut line = Vec::new();
        let mut byte = [0];
        while line.last() != Some(&b'\n') {
            from.read_exact(&mut byte)?;
            line.extend_from_slice(&byte);
            if line.len() > LINE {
                return Err(CHANGED);
            }
        }
        let key: &Key<Aes256GcmSiv> = key.into();
        let nonce: &Nonce<Aes256GcmSiv, StreamBE32<Aes256GcmSiv>> = (&nonce).into();
        let decryptor = Some(DecryptorBE32::new(key, nonce));
        Ok(Self { from, decryptor, head: Sha256::digest(&line).into(), plain: Vec::new(), decoded: 0 })
    }

    /// Returns the next entry, or `None` at the end.
    ///
    /// # Errors
    /// Returns an error if the backup cannot be read or decrypted.
    pub fn entry(&mut self) -> Result<Option<Entry>, BackupError> {
        loop {
            let rest = self.plain.get(self.decoded..).unwrap_or_default();
            if let Some((entry, length)) = Entry::decode(rest)? {
                self.decoded = self.decoded.saturating_add(length);
                return Ok(Some(entry));
            }
            if self.decryptor.is_none() {
                return if rest.is_empty() {
                    Ok(None)
                } else {
                    Err(BackupError::Damaged("an entry is cut off"))
                };
            }
            self.read_frame()?;
        }
    }

    fn read_frame(&mut self) -> Result<(), BackupError> {
        let mut word = [0; 4];
        self.from.read_exact(&mut word)?;
        let word = u32::from_be_bytes(word);
        let length = usize::try_from(word & !LAST).unwrap_or(usize::MAX);
        if length > FRAME + TAG {
            return Err(CHANGED);
        }
        let mut sealed = vec![0; length];
        self.from.read_exact(&mut sealed)?;
        let payload = Payload { msg: &sealed, aad: &self.head };
        let opened = match self.decryptor.take() {
            Some(decryptor) if word & LAST != 0 => decryptor.decrypt_last(payload),
            Some(mut decryptor) => {
                let opened = decryptor.decrypt_next(payload);
                self.decryptor = Some(decryptor);
                opened
            }
            None => return Err(CHANGED),
        };
        let opened = opened.map_err(|_| BackupError::Damaged("a frame cannot be decrypted"))?;
        self.plain.drain(..self.decoded);
        self.decoded = 0;
        self.plain.extend_from_slice(&opened);
        Ok(())
    }
}
