//! The digest over all records of a store. It knows no order, so that a change costs the same however many there are.

use hmac::{Hmac, KeyInit, Mac};
use quorate_core::seal::{NONCE, TAG};
use sha2::Sha256;
use zeroize::Zeroizing;

/// Longest value that counts with all its bytes. Longer ones are sealed.
const PLAIN: usize = 8;

/// Makes digests of records. Without the key nobody can tell which records cancel each other out.
pub(crate) struct DigestKey(Zeroizing<[u8; 32]>);

impl DigestKey {
    /// Takes the 32 key bytes.
    pub(crate) const fn new(key: Zeroizing<[u8; 32]>) -> Self {
        Self(key)
    }

    /// Returns the digest of one stored record: HMAC-SHA-256 (RFC 2104) of the length of its key, its key and, for its value,
    /// nonce, authentication tag and mark if it is sealed, all of it if it is a register.
    pub(crate) fn of(&self, key: &[u8], value: &[u8]) -> StoreDigest {
        // Nobody without the sealing key can make another value of the same nonce and tag that opens.
        let (head, tail) = if value.len() <= PLAIN {
            (value, [].as_slice())
        } else {
            let tail = value.len().saturating_sub(TAG.saturating_add(1));
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

/// The digest over the records of a store, or a part of it: the exclusive or of the digests of its records (Bellare and
/// Micciancio, "A new paradigm for collision-free hashing", 1997, with a secret key). To add a record and to remove it is
/// the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StoreDigest(pub(crate) [u8; 32]);

impl StoreDigest {
    /// Adds what is not in it, and removes what is.
    pub(crate) fn toggle(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(byte, other)| *byte ^= other);
    }
}
