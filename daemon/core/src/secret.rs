//! Secrets at rest: the seed of a wallet and the scalar of a private key, in wiped buffers.

use quorate_chain::curve::{Curve, SecretKey};
use quorate_chain::mnemonic::Mnemonic;
use zeroize::Zeroizing;

use crate::refusal::Corrupt;

const WALLET: u8 = 1;
const PRIVATE_KEY: u8 = 2;

/// A secret ready to be stored. Wiped on drop; shows nothing of itself.
pub struct SecretBytes(Zeroizing<Vec<u8>>);

impl SecretBytes {
    /// The entropy of a wallet's mnemonic, and the seed made of it, so that deriving needs no key stretching.
    pub fn wallet(mnemonic: &Mnemonic) -> Self {
        let seed = mnemonic.seed("");
        let entropy = mnemonic.entropy();
        let mut bytes = Zeroizing::new(Vec::with_capacity(98));
        bytes.push(WALLET);
        bytes.extend_from_slice(seed.as_bytes());
        bytes.extend_from_slice(&entropy);
        Self(bytes)
    }

    /// The scalar of a private key.
    pub fn private_key(key: &SecretKey) -> Self {
        let mut bytes = Zeroizing::new(Vec::with_capacity(33));
        bytes.push(PRIVATE_KEY);
        bytes.extend_from_slice(key.to_bytes().as_slice());
        Self(bytes)
    }

    /// The bytes to store.
    pub fn into_record(self) -> Zeroizing<Vec<u8>> {
        self.0
    }
}

/// Reads the seed of a stored wallet secret: 64 bytes.
pub fn seed(record: &[u8]) -> Result<quorate_chain::mnemonic::Seed, Corrupt> {
    match record.split_first() {
        Some((&WALLET, rest)) => {
            let seed = rest.first_chunk::<64>().ok_or(Corrupt::Record("wallet secret"))?;
            Ok(quorate_chain::mnemonic::Seed::from_bytes(seed))
        }
        _ => Err(Corrupt::Record("wallet secret")),
    }
}

/// Reads a stored private key.
pub fn private_key(curve: Curve, record: &[u8]) -> Result<SecretKey, Corrupt> {
    match record.split_first() {
        Some((&PRIVATE_KEY, rest)) => {
            let bytes: &[u8; 32] = rest.try_into().map_err(|_| Corrupt::Record("private key secret"))?;
            SecretKey::from_bytes(curve, bytes).map_err(|_| Corrupt::Record("private key secret"))
        }
        _ => Err(Corrupt::Record("private key secret")),
    }
}
