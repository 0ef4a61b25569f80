//! Secrets at rest: the seed of a wallet, the scalar of a private key, and the value of an imported secret.
//! All buffers are wiped.

use quorate_chain::curve::{Curve, SecretKey};
use quorate_chain::mnemonic::{Mnemonic, Seed};
use zeroize::Zeroizing;

use crate::error::Corrupt;

const WALLET: u8 = 1;
const PRIVATE_KEY: u8 = 2;
const WALLET_WITH_PASSPHRASE: u8 = 3;
const VALUE: u8 = 4;

/// Length of a seed in bytes.
const SEED: usize = 64;

/// A secret in its stored form. It is wiped on drop, and has no textual form.
pub struct SecretBytes(Zeroizing<Vec<u8>>);

impl SecretBytes {
    /// Encodes the entropy of a wallet's mnemonic, its passphrase, and the seed of both, so that key
    /// derivation needs no key stretching.
    pub fn wallet(mnemonic: &Mnemonic, passphrase: &str, seed: &Seed) -> Self {
        let entropy = mnemonic.entropy();
        let mut bytes = Zeroizing::new(Vec::with_capacity(98_usize.saturating_add(passphrase.len())));
        bytes.push(if passphrase.is_empty() { WALLET } else { WALLET_WITH_PASSPHRASE });
        bytes.extend_from_slice(seed.as_bytes());
        if !passphrase.is_empty() {
            // Entropy has at most 32 bytes.
            bytes.push(u8::try_from(entropy.len()).unwrap_or(u8::MAX));
        }
        bytes.extend_from_slice(&entropy);
        bytes.extend_from_slice(passphrase.as_bytes());
        Self(bytes)
    }

    /// Encodes the scalar of a private key.
    pub fn private_key(key: &SecretKey) -> Self {
        let mut bytes = Zeroizing::new(Vec::with_capacity(33));
        bytes.push(PRIVATE_KEY);
        bytes.extend_from_slice(key.to_bytes().as_slice());
        Self(bytes)
    }

    /// Encodes the value of an imported secret.
    pub fn value(value: &[u8]) -> Self {
        let mut bytes = Zeroizing::new(Vec::with_capacity(value.len().saturating_add(1)));
        bytes.push(VALUE);
        bytes.extend_from_slice(value);
        Self(bytes)
    }

    /// Returns the bytes to store.
    pub fn into_record(self) -> Zeroizing<Vec<u8>> {
        self.0
    }
}

/// Decodes the seed of a stored wallet secret: 64 bytes.
///
/// # Errors
/// If the record is damaged.
pub fn seed(record: &[u8]) -> Result<Seed, Corrupt> {
    match record.split_first() {
        Some((&(WALLET | WALLET_WITH_PASSPHRASE), rest)) => {
            Ok(Seed::from_bytes(rest.first_chunk::<SEED>().ok_or(Corrupt::Record("wallet secret"))?))
        }
        _ => Err(Corrupt::Record("wallet secret")),
    }
}

/// Decodes the mnemonic of a stored wallet secret, and its passphrase, which may be empty.
///
/// # Errors
/// If the record is damaged.
pub fn mnemonic(record: &[u8]) -> Result<(Mnemonic, Zeroizing<String>), Corrupt> {
    let damaged = || Corrupt::Record("wallet secret");
    let (kind, rest) = record.split_first().ok_or_else(damaged)?;
    let rest = rest.get(SEED..).ok_or_else(damaged)?;
    let (entropy, passphrase) = match *kind {
        WALLET => (rest, &[][..]),
        WALLET_WITH_PASSPHRASE => {
            let (length, rest) = rest.split_first().ok_or_else(damaged)?;
            rest.split_at_checked(usize::from(*length)).ok_or_else(damaged)?
        }
        _ => return Err(damaged()),
    };
    let passphrase = std::str::from_utf8(passphrase).map_err(|_| damaged())?;
    let mnemonic = Mnemonic::from_entropy(entropy).map_err(|_| damaged())?;
    Ok((mnemonic, Zeroizing::new(passphrase.to_owned())))
}

/// Decodes a stored private key.
///
/// # Errors
/// If the record is damaged.
pub fn private_key(curve: Curve, record: &[u8]) -> Result<SecretKey, Corrupt> {
    match record.split_first() {
        Some((&PRIVATE_KEY, rest)) => {
            let bytes: &[u8; 32] = rest.try_into().map_err(|_| Corrupt::Record("private key secret"))?;
            SecretKey::from_bytes(curve, bytes).map_err(|_| Corrupt::Record("private key secret"))
        }
        _ => Err(Corrupt::Record("private key secret")),
    }
}

/// Decodes the value of an imported secret.
///
/// # Errors
/// If the record is damaged.
pub fn value(record: &[u8]) -> Result<&[u8], Corrupt> {
    match record.split_first() {
        Some((&VALUE, value)) => Ok(value),
        _ => Err(Corrupt::Record("secret value")),
    }
}
