//! Bitcoin addresses, and helpers for chains with the same notation.
//!
//! Only scripts with a single key are supported.

use bech32::Hrp;
use ripemd::Ripemd160;
use sha2::{Digest, Sha256};

use super::AddressError;
use crate::curve::PublicKey;

/// Bitcoin networks. Some of them share their address prefixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Network {
    Mainnet,
    Testnet,
    Signet,
    Regtest,
}

/// Script type of an output that pays to one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScriptType {
    /// Pays to the hash of the key (P2PKH).
    PublicKeyHash,
    /// Pays to the hash of a script (BIP-16, P2SH), here of [`script`].
    ScriptHash,
    /// Pays to the hash of the key with a version 0 witness (BIP-141, P2WPKH).
    WitnessPublicKeyHash,
    /// Pays to the hash of a script with a version 0 witness (BIP-141, P2WSH), here of [`script`].
    WitnessScriptHash,
    /// Pays to the tweaked key (BIP-86, P2TR without a script tree).
    Taproot,
}

impl Network {
    /// Returns the human-readable part (BIP-173). Signet uses that of testnet.
    fn prefix(self) -> Hrp {
        match self {
            Self::Mainnet => bech32::hrp::BC,
            Self::Testnet | Self::Signet => bech32::hrp::TB,
            Self::Regtest => bech32::hrp::BCRT,
        }
    }

    /// Returns the version bytes of addresses: for a key hash, and for a script hash.
    fn versions(self) -> (u8, u8) {
        match self {
            Self::Mainnet => (0x00, 0x05),
            Self::Testnet | Self::Signet | Self::Regtest => (0x6f, 0xc4),
        }
    }
}

/// Returns the address of a key.
pub(super) fn address(
    network: Network,
    script_type: ScriptType,
    key: &PublicKey,
) -> Result<String, AddressError> {
    let (to_key, to_script) = network.versions();
    let prefix = network.prefix();
    let witness = |program: &[u8]| {
        bech32::segwit::encode_v0(prefix, program).map_err(|_| AddressError::UnsupportedCurve)
    };
    match script_type {
        ScriptType::PublicKeyHash => Ok(base58(to_key, &hash160(key.compressed()))),
        ScriptType::ScriptHash => Ok(base58(to_script, &hash160(&script(key)))),
        ScriptType::WitnessPublicKeyHash => witness(&hash160(key.compressed())),
        ScriptType::WitnessScriptHash => witness(&Sha256::digest(script(key))),
        ScriptType::Taproot => {
            let output = key.taproot_output().ok_or(AddressError::UnsupportedCurve)?;
            bech32::segwit::encode_v1(prefix, &output).map_err(|_| AddressError::UnsupportedCurve)
        }
    }
}

/// Computes RIPEMD-160(SHA-256(bytes)).
pub(super) fn hash160(bytes: &[u8]) -> [u8; 20] {
    Ripemd160::digest(Sha256::digest(bytes)).into()
}

/// Encodes a version byte and a hash in base58 with a checksum.
pub(super) fn base58(version: u8, hash: &[u8; 20]) -> String {
    bs58::encode([&[version], hash.as_slice()].concat()).with_check().into_string()
}

/// Returns the script `<key> OP_CHECKSIG`, the shortest one that a single key can satisfy.
pub(crate) fn script(key: &PublicKey) -> Vec<u8> {
    const PUSH_33: u8 = 0x21;
    const OP_CHECKSIG: u8 = 0xac;
    [&[PUSH_33], key.compressed(), &[OP_CHECKSIG]].concat()
}
