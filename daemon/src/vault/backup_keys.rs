//! The keys for backups of a store, which are derived from its store key.

use ed25519_dalek::SigningKey;
use quorate_core::seal::SealKey;

/// The keys for backups. They stay the same for the life of the store.
pub struct BackupKeys {
    /// Seals the key of each backup.
    pub wrapping: SealKey,
    /// Signs backups.
    pub signing: SigningKey,
}
