//! The key that signs checkpoints of the activity log, which is derived from the store key.

use ed25519_dalek::SigningKey;
use quorate_common::activity_log::{Checkpoint, LogHash, VerifierKey, origin};
use quorate_core::error::Corrupt;
use quorate_core::model::Millis;

/// Signs checkpoints of the activity log. It stays the same for the life of the store, so all its daemons sign alike.
pub struct LogKey {
    origin: String,
    signing: SigningKey,
}

impl LogKey {
    pub(super) fn new(store_id: &str, key: &[u8; 32]) -> Self {
        Self { origin: origin(store_id), signing: SigningKey::from_bytes(key) }
    }

    /// Returns the key that verifies checkpoints.
    pub fn verifier(&self) -> VerifierKey {
        VerifierKey::new(self.origin.clone(), self.signing.verifying_key())
    }

    /// Returns the signed checkpoint, and the key that verifies it.
    ///
    /// # Errors
    /// Returns an error if the id of the store is not valid in a checkpoint.
    pub fn sign(
        &self,
        size: u64,
        root: LogHash,
        time: Millis,
        epoch: u32,
    ) -> Result<(String, String), Corrupt> {
        let signed = Checkpoint { origin: self.origin.clone(), size, root, time, epoch }.sign(&self.signing);
        let signed = signed.ok_or(Corrupt::Invariant("the id of the store is not valid in a checkpoint"))?;
        Ok((signed, self.verifier().to_string()))
    }
}
