//! Derives keys from a seed and a path.
//!
//! secp256k1 follows BIP-32, P-256 and Ed25519 follow SLIP-0010. Only private keys are derived. Extended keys
//! have no text form, and nothing is cached between calls.

mod path;
mod path_format;
mod slip10;

use bip32::{ChildNumber, XPrv};
pub use path::{InvalidPath, MAX_DEPTH, MAX_PATH_BYTES, Path};
pub use path_format::PathFormat;
use zeroize::Zeroizing;

use crate::curve::{Curve, InvalidKey, SecretKey};
use crate::mnemonic::Seed;

/// Derives the key at `path` from the master key of `seed` on `curve`.
///
/// Ed25519 supports hardened children only: an index without the mark is treated as hardened, so that `m/0/1`
/// and `m/0'/1'` are the same key.
///
/// # Errors
/// [`NoSuchKey`] with a probability below 2^-126 per step, for which BIP-32 prescribes another index.
pub fn derive(curve: Curve, seed: &Seed, path: &Path) -> Result<SecretKey, NoSuchKey> {
    derive_from(curve, seed.as_bytes(), path)
}

/// Derives a key as [`derive()`] does, also from the shorter seeds of the published vectors.
fn derive_from(curve: Curve, seed: &[u8], path: &Path) -> Result<SecretKey, NoSuchKey> {
    let secret = match curve {
        Curve::Secp256k1 => bip32_secret(seed, path)?,
        Curve::P256 => slip10::p256(seed, path)?,
        Curve::Ed25519 => slip10::ed25519(seed, path)?,
    };
    Ok(SecretKey::from_bytes(curve, &secret)?)
}

fn bip32_secret(seed: &[u8], path: &Path) -> Result<Zeroizing<[u8; 32]>, NoSuchKey> {
    let mut key = XPrv::new(seed).map_err(|_| NoSuchKey)?;
    for step in path.steps() {
        key = key.derive_child(ChildNumber(step.number())).map_err(|_| NoSuchKey)?;
    }
    Ok(Zeroizing::new(key.to_bytes()))
}

/// Error returned if there is no key at a path for a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no key exists at the derivation path")]
pub struct NoSuchKey;

impl From<InvalidKey> for NoSuchKey {
    fn from(_: InvalidKey) -> Self {
        Self
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::{Path, derive, derive_from};
    use crate::address::{AddressFormat, address};
    use crate::curve::{Curve, SecretKey};
    use crate::mnemonic::{Mnemonic, Seed};
    use crate::vectors::{bytes, rows};

    #[derive(Deserialize)]
    struct Row {
        #[serde(default = "secp256k1")]
        curve: Curve,
        seed: String,
        path: Path,
        private: String,
        public: Option<String>,
        xprv: Option<String>,
    }

    fn secp256k1() -> Curve {
        Curve::Secp256k1
    }

    fn from_text(curve: Curve, seed: &[u8], path: &str) -> SecretKey {
        let path: Path = path.parse().unwrap();
        derive_from(curve, seed, &path).unwrap_or_else(|_| panic!("no key at {path}"))
    }

    fn check(row: &Row) {
        let seed = const_hex::decode(&row.seed).unwrap();
        let key = from_text(row.curve, &seed, row.path.as_str());
        let at = format!("{} {}", row.curve, row.path);
        assert_eq!(const_hex::encode(key.to_bytes()), row.private, "{at}");
        if let Some(public) = &row.public {
            assert_eq!(&key.public().compressed_hex(), public, "{at}");
        }
        if let Some(xprv) = &row.xprv {
            let extended = bs58::decode(xprv).with_check(None).into_vec().unwrap();
            assert_eq!(extended[45..], [&[0], key.to_bytes().as_slice()].concat(), "{at}");
        }
    }

    #[test]
    fn bip32_vectors() {
        rows(include_str!("../../../../assets/vectors/derive/bip32.json")).iter().for_each(check);
    }

    #[test]
    fn slip10_vectors() {
        rows(include_str!("../../../../assets/vectors/derive/slip10.json")).iter().for_each(check);
    }

    #[derive(Deserialize)]
    struct Account {
        phrase: String,
        passphrase: String,
        curve: Curve,
        path: Path,
        private: String,
        addresses: BTreeMap<String, String>,
    }

    #[test]
    fn accounts_match_another_implementation() {
        let file = include_str!("../../../../assets/vectors/derive/accounts.json");
        for row in rows::<Account>(file) {
            let seed = Mnemonic::parse(&row.phrase)
                .unwrap_or_else(|_| panic!("invalid mnemonic: {}", row.phrase))
                .seed(&row.passphrase);
            let key = derive(row.curve, &seed, &row.path).unwrap_or_else(|_| panic!("no key"));
            assert_eq!(const_hex::encode(key.to_bytes()), row.private, "{}", row.path);
            for (format, expected) in row.addresses {
                let format = AddressFormat::from_name(&format).unwrap();
                assert_eq!(address(format, key.public()), Ok(expected), "{}", row.path);
            }
        }
    }

    #[test]
    fn ed25519_hardens_every_step() {
        let seed = [7; 64];
        let expected = from_text(Curve::Ed25519, &seed, "m/44'/501'/0'/0'").to_bytes();
        for notation in ["m/44/501/0/0", "m/44'/501'/0'/0", "m/44'/501/0'/0"] {
            let key = from_text(Curve::Ed25519, &seed, notation);
            assert_eq!(key.to_bytes(), expected, "{notation}");
        }
    }

    #[test]
    fn ecdsa_curves_distinguish_hardened_steps() {
        let seed = [7; 64];
        for curve in [Curve::Secp256k1, Curve::P256] {
            let hardened = from_text(curve, &seed, "m/0'");
            let normal = from_text(curve, &seed, "m/0");
            assert_ne!(hardened.to_bytes(), normal.to_bytes(), "{curve}");
        }
    }

    #[test]
    fn curves_derive_different_keys() {
        let path: Path = "m".parse().unwrap();
        let seed = Seed::from_bytes(&bytes(&"07".repeat(64)));
        let keys: Vec<_> =
            Curve::ALL.iter().map(|curve| derive(*curve, &seed, &path).map(|key| key.to_bytes())).collect();
        assert!(keys.iter().all(Result::is_ok));
        assert!(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2]);
    }
}
