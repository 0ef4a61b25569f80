//! The digest over all records of a store. It is independent of their order, so a change costs the same for
//! any number of records.

use hmac::{Hmac, KeyInit, Mac};
use quorate_core::seal::{NONCE, TAG};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::trailer::Trailer;

/// Maximum length of a value that is hashed as a whole. Longer values are sealed.
const PLAIN: usize = 8;

/// Key for digests of records. Without it, nobody can find records whose digests cancel each other out.
pub(crate) struct DigestKey(Zeroizing<[u8; 32]>);

impl DigestKey {
    /// Creates a digest key from 32 bytes.
    pub(crate) const fn new(key: Zeroizing<[u8; 32]>) -> Self {
        Self(key)
    }

    /// Returns the digest of one stored record: HMAC-SHA-256 (RFC 2104) of the length of its key, its key and
    /// its value. Of a sealed value, only the nonce, the authentication tag and the trailer are included; a
    /// register is included as a whole.
    pub(crate) fn of(&self, key: &[u8], value: &[u8]) -> StoreDigest {
        // Without the sealing key, nobody can create another valid value with the same nonce and tag.
        let (head, tail) = if value.len() <= PLAIN {
            (value, [].as_slice())
        } else {
            let tail = value.len().saturating_sub(TAG.saturating_add(Trailer::length(value)));
            (value.get(..NONCE).unwrap_or(value), value.get(tail..).unwrap_or_default())
        };
        let mut digest = StoreDigest::default();
        // HMAC takes keys of any length, so this cannot fail.
        if let Ok(mut mac) = <Hmac<Sha256> as KeyInit>::new_from_slice(self.0.as_slice()) {
            mac.update(&(key.len() as u64).to_be_bytes());
            for part in [key, head, tail] {
                mac.update(part);
            }
            digest.0 = mac.finalize().into_bytes().into();
        }
        digest
    }
}

/// The digest over the records of a store, or of a part of it. It is the exclusive or of the digests of the
/// records (Bellare and Micciancio, "A new paradigm for collision-free hashing", 1997, with a secret key).
/// Adding and removing a record are the same operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StoreDigest(pub(crate) [u8; 32]);

impl StoreDigest {
    /// Adds a digest, or removes it if it is included already.
    pub(crate) fn toggle(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(byte, other)| *byte ^= other);
    }
}
