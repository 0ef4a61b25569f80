//! The daemon's own keys: P-256 keys that sign bundles and that clients encrypt to, and an Ed25519 key that
//! signs webhooks. They are created once and sealed like any record.

use quorate_chain::curve::{Curve, Message, PublicKey, SecretKey};
use quorate_common::bundle::quorum_signature;
use quorate_common::envelope;
use quorate_common::ids::ActivityId;
use quorate_core::error::Corrupt;
use quorate_core::model::write::Write;
use quorate_core::world::{QuorumKey, Records};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use zeroize::Zeroizing;

use crate::barrier::Barrier;
use crate::fail_points;
use crate::locked::Locked;
use crate::store::{Batch, Group, StoreError};

const QUORUM: &[u8] = b"mq";
const QUORUM_ENCRYPTION: &[u8] = b"me";
const WEBHOOK: &[u8] = b"mw";

/// The daemon's own keys.
#[derive(Clone)]
pub struct Identity {
    quorum: Arc<Locked<SecretKey>>,
    /// Key that clients encrypt to if they have no bundle.
    encryption: Arc<Locked<SecretKey>>,
    webhook: Arc<Locked<SecretKey>>,
}

/// An error while loading the daemon's keys.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// A stored key is damaged.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Identity {
    /// Loads the keys.
    ///
    /// # Errors
    /// Returns an error if a key is missing or damaged, or the store cannot be read.
    pub fn open(barrier: &Barrier) -> Result<Self, IdentityError> {
        let key = |record, curve| stored(barrier, record, curve)?.ok_or(IdentityError::Corrupt(DAMAGED));
        let locked = |key| Arc::new(Locked::new(Box::new(key)));
        Ok(Self {
            quorum: locked(key(QUORUM, Curve::P256)?),
            encryption: locked(key(QUORUM_ENCRYPTION, Curve::P256)?),
            webhook: locked(key(WEBHOOK, Curve::Ed25519)?),
        })
    }

    /// Creates the keys that are not in the store yet, and loads all.
    ///
    /// # Errors
    /// Returns an error if a key is damaged, or the store cannot be read or written.
    pub fn load_or_create(barrier: &Barrier) -> Result<Self, IdentityError> {
        for (record, curve) in
            [(QUORUM, Curve::P256), (QUORUM_ENCRYPTION, Curve::P256), (WEBHOOK, Curve::Ed25519)]
        {
            if stored(barrier, record, curve)?.is_none() {
                create(barrier, record, curve)?;
            }
        }
        Self::open(barrier)
    }

    /// Returns whether the keys are locked in memory, so that they cannot be swapped out.
    pub(crate) fn is_locked(&self) -> bool {
        self.quorum.is_locked() && self.encryption.is_locked() && self.webhook.is_locked()
    }

    /// Returns the public key that signs bundles, as an uncompressed point in hex.
    pub fn quorum_public_key(&self) -> String {
        uncompressed(self.quorum.public())
    }

    /// Returns the public keys, as uncompressed points in hex. Clients in TypeScript and Go use the key that
    /// signs bundles. Clients in Rust use the key that they encrypt to, followed by the signing key.
    pub fn quorum_keys(&self) -> Value {
        let signing = self.quorum_public_key();
        let both = uncompressed(self.encryption.public()) + &signing;
        json!({"quorumPublicKey": signing, "quorumPublicKeys": both})
    }

    /// Returns the id of the webhook key, which is derived from its public key.
    pub fn webhook_key_id(&self) -> String {
        let digest = Sha256::digest(self.webhook.public().compressed());
        let mut bytes = [0; 16];
        bytes.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
        ActivityId::random(bytes).to_string()
    }

    /// Signs the text of a webhook; returns the 64 bytes of the signature in lowercase hex.
    ///
    /// # Errors
    /// Returns [`Corrupt::Signature`] if the signature cannot be verified.
    pub fn sign_webhook(&self, text: Vec<u8>) -> Result<String, Corrupt> {
        let signature = self.webhook.sign(&Message::Bytes(text)).map_err(|_| Corrupt::Signature)?;
        Ok(format!("{}{}", signature.r_hex(), signature.s_hex()))
    }

    /// Returns the JWK set with the webhook key (RFC 7517).
    pub fn webhook_key_set(&self) -> Vec<u8> {
        use base64ct::{Base64UrlUnpadded, Encoding};
        let x = Base64UrlUnpadded::encode_string(self.webhook.public().compressed());
        let key = json!({
            "kid": self.webhook_key_id(), "kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "x": x,
            "turnkey_signature_algorithm": "ed25519", "turnkey_signature_version": "v1",
        });
        json!({"keys": [key]}).to_string().into_bytes()
    }
}

impl QuorumKey for Identity {
    fn public_key(&self) -> String {
        self.quorum_public_key()
    }

    fn sign(&self, statement: &[u8]) -> Result<Vec<u8>, Corrupt> {
        let digest = Sha256::digest(statement).into();
        let signature = self.quorum.sign(&Message::Digest(digest)).map_err(|_| Corrupt::Signature)?;
        quorum_signature(signature.r, signature.s).ok_or(Corrupt::Signature)
    }

    fn open(&self, envelope: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        envelope::open(envelope, &self.encryption.to_bytes())
    }
}

fn uncompressed(key: &PublicKey) -> String {
    key.uncompressed().map(const_hex::encode).unwrap_or_default()
}

const DAMAGED: Corrupt = Corrupt::Record("key of the daemon");

fn stored(barrier: &Barrier, record: &[u8], curve: Curve) -> Result<Option<SecretKey>, IdentityError> {
    let Some(bytes) = barrier.read(record)?.map(Zeroizing::new) else { return Ok(None) };
    let bytes: &[u8; 32] = bytes.as_slice().try_into().map_err(|_| DAMAGED)?;
    Ok(Some(SecretKey::from_bytes(curve, bytes).map_err(|_| DAMAGED)?))
}

fn create(barrier: &Barrier, record: &[u8], curve: Curve) -> Result<(), IdentityError> {
    let mut fill = |buffer: &mut [u8]| {
        if getrandom::fill(buffer).is_err() {
            buffer.fill(0);
        }
    };
    let key = SecretKey::generate(curve, &mut fill).map_err(|_| DAMAGED)?;
    let writes = barrier.seal(vec![Write::mark(record.to_vec(), key.to_bytes().as_slice())])?;
    let batch = Batch { must_not_exist: vec![record.to_vec()], writes, ..Batch::default() };
    fail_points::reach("identity.store");
    barrier.store().commit(&Group::of(batch))?;
    fail_points::reach("identity.stored");
    Ok(())
}
