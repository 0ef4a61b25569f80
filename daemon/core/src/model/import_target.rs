//! A key that something is imported to, once.

use quorate_common::bundle::TargetKey;
use quorate_common::ids::{OrganizationId, UserId};
use zeroize::Zeroizing;

use super::Millis;
use super::layout::{self, Key};
use crate::limits::{IMPORT_TARGET_LIFE_MILLIS, IMPORT_TARGETS, SECRET_TARGETS};
use crate::refusal::Corrupt;

const VERSION: u8 = 1;

/// What is imported to a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A wallet.
    Wallet = 1,
    /// A private key.
    PrivateKey = 2,
    /// A secret.
    Secret = 3,
}

impl Purpose {
    /// How many keys for it a user may have at once; one more takes the place of the oldest.
    pub const fn limit(self) -> usize {
        match self {
            Self::Wallet | Self::PrivateKey => IMPORT_TARGETS,
            Self::Secret => SECRET_TARGETS,
        }
    }
}

/// A key pair that a user may import to, and where it stands in the store. Its place tells when it was made; it is never
/// changed.
pub struct ImportTarget {
    /// Where it stands.
    pub place: Key,
    /// The key pair.
    pub key: TargetKey,
}

impl ImportTarget {
    /// A new one. `salt` keeps those apart that are made at one instant.
    pub fn new(
        key: TargetKey,
        organization: OrganizationId,
        user: UserId,
        purpose: Purpose,
        now: Millis,
        salt: [u8; 8],
    ) -> Self {
        let mut place = layout::import_targets(organization, user, purpose);
        place.extend_from_slice(&now.to_be_bytes());
        place.extend_from_slice(&salt);
        Self { place, key }
    }

    /// Reads what stands at a place.
    pub fn decode(place: Key, record: &[u8]) -> Result<Self, Corrupt> {
        let damaged = Corrupt::Record("import target");
        let Some((&VERSION, secret)) = record.split_first() else { return Err(damaged) };
        let key = TargetKey::from_bytes(secret).map_err(|_| damaged)?;
        Ok(Self { place, key })
    }

    /// The bytes to store.
    pub fn encode(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(33));
        bytes.push(VERSION);
        bytes.extend_from_slice(self.key.to_bytes().as_slice());
        bytes
    }
}

/// Whether the key at this place is not taken any more.
pub fn is_over(place: &[u8], now: Millis) -> bool {
    let made = layout::import_target_made(place);
    made.is_none_or(|made| now.saturating_sub(made) >= IMPORT_TARGET_LIFE_MILLIS)
}
