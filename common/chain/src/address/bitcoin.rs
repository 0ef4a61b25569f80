//! Bitcoin addresses, and helpers for chains with the same notation.
//!
//! Only scripts with a single key are supported.

use bitcoin::{Address, CompressedPublicKey, Network, ScriptBuf, WitnessProgram, WitnessVersion};
use quorate_policy::named_enum;
use ripemd::Ripemd160;
use sha2::{Digest, Sha256};

use super::AddressError;
use crate::curve::PublicKey;

named_enum! {
    /// Script type of an output that pays to one key.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum ScriptType {
        /// Pays to the hash of the key.
        PublicKeyHash = "P2PKH",
        /// Pays to the hash of a script (BIP-16), here of `<key> OP_CHECKSIG`.
        ScriptHash = "P2SH",
        /// Pays to the hash of the key with a version 0 witness (BIP-141).
        WitnessPublicKeyHash = "P2WPKH",
        /// Pays to the hash of a script with a version 0 witness (BIP-141), here of `<key> OP_CHECKSIG`.
        WitnessScriptHash = "P2WSH",
        /// Pays to the tweaked key (BIP-86, without a script tree).
        Taproot = "P2TR",
    }
}

/// Returns the address of a key.
pub(super) fn address(
    network: Network,
    script_type: ScriptType,
    key: &PublicKey,
) -> Result<String, AddressError> {
    let script = output_script(script_type, key).ok_or(AddressError::UnsupportedCurve)?;
    let address = Address::from_script(&script, network).map_err(|_| AddressError::UnsupportedCurve)?;
    Ok(address.to_string())
}

/// Returns the output script that pays to a key of secp256k1.
pub(crate) fn output_script(script_type: ScriptType, key: &PublicKey) -> Option<ScriptBuf> {
    let point = CompressedPublicKey::from_slice(key.compressed()).ok()?;
    // The shortest script that a single key can satisfy.
    let single = ScriptBuf::new_p2pk(&point.into());
    Some(match script_type {
        ScriptType::PublicKeyHash => ScriptBuf::new_p2pkh(&point.pubkey_hash()),
        ScriptType::ScriptHash => ScriptBuf::new_p2sh(&single.script_hash()),
        ScriptType::WitnessPublicKeyHash => ScriptBuf::new_p2wpkh(&point.wpubkey_hash()),
        ScriptType::WitnessScriptHash => ScriptBuf::new_p2wsh(&single.wscript_hash()),
        ScriptType::Taproot => {
            let program = WitnessProgram::new(WitnessVersion::V1, &key.taproot_output()?).ok()?;
            ScriptBuf::new_witness_program(&program)
        }
    })
}

/// Computes RIPEMD-160(SHA-256(bytes)).
pub(super) fn hash160(bytes: &[u8]) -> [u8; 20] {
    Ripemd160::digest(Sha256::digest(bytes)).into()
}

/// Encodes a version byte and a hash in base58 with a checksum.
pub(super) fn base58(version: u8, hash: &[u8; 20]) -> String {
    bs58::encode([&[version], hash.as_slice()].concat()).with_check().into_string()
}
