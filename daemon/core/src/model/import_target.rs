//! Import keys: key pairs that a client encrypts to, each for one import.

use quorate_common::bundle::TargetKey;
use quorate_common::ids::{OrganizationId, UserId};
use zeroize::Zeroizing;

use super::Millis;
use super::layout::{self, Key, sign_in};
use super::purpose::Purpose;
use super::write::Write;
use crate::error::Corrupt;

/// Lifetime of an import key in milliseconds: 24 hours.
pub const IMPORT_TARGET_LIFE_MILLIS: u64 = 24 * 60 * 60 * 1000;

const VERSION: u8 = 1;

/// A key pair that a user may import to, and its key in the store, which contains the time of creation. It
/// never changes.
pub struct ImportTarget {
    /// Key of the record in the store.
    pub record_key: Key,
    /// Key pair.
    pub key: TargetKey,
}

impl ImportTarget {
    /// Creates an import key. `salt` distinguishes keys that are created in the same millisecond.
    pub fn new(
        key: TargetKey,
        organization: OrganizationId,
        user: UserId,
        purpose: Purpose,
        now: Millis,
        salt: [u8; 8],
    ) -> Self {
        let mut record_key = layout::import_targets(organization, user, purpose);
        record_key.extend_from_slice(&now.to_be_bytes());
        record_key.extend_from_slice(&salt);
        Self { record_key, key }
    }

    /// Decodes the record at a key.
    ///
    /// # Errors
    /// If the record is damaged.
    pub fn decode(record_key: Key, record: &[u8]) -> Result<Self, Corrupt> {
        let damaged = Corrupt::Record("import target");
        let Some((&VERSION, secret)) = record.split_first() else { return Err(damaged) };
        let key = TargetKey::from_bytes(secret).map_err(|_| damaged)?;
        Ok(Self { record_key, key })
    }

    /// Encodes the record.
    pub fn encode(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(33));
        bytes.push(VERSION);
        bytes.extend_from_slice(self.key.to_bytes().as_slice());
        bytes
    }
}

/// Returns the write that schedules the removal of the import key with this store key, for when it has expired.
pub fn removal(record_key: &[u8]) -> Write {
    let created = layout::import_target_created(record_key).unwrap_or_default();
    Write::mark(sign_in::due(created.saturating_add(IMPORT_TARGET_LIFE_MILLIS), record_key), &[])
}

/// Returns whether the import key with this store key has expired.
pub fn is_expired(record_key: &[u8], now: Millis) -> bool {
    let created = layout::import_target_created(record_key);
    created.is_none_or(|created| now.saturating_sub(created) >= IMPORT_TARGET_LIFE_MILLIS)
}
