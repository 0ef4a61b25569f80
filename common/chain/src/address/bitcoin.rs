//! Bitcoin addresses, and those of chains that write theirs the same way.
//!
//! Makes no script with more than one key.

use bech32::Hrp;
use ripemd::Ripemd160;
use sha2::{Digest, Sha256};

use super::AddressFlaw;
use crate::curve::PublicKey;

/// The networks that differ in their addresses or are named apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Network {
    Mainnet,
    Testnet,
    Signet,
    Regtest,
}

/// How an address pays to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pays {
    /// To the hash of the key (P2PKH).
    PublicKeyHash,
    /// To the hash of a script (BIP-16, P2SH), here of [`script`].
    ScriptHash,
    /// To the hash of the key by a witness of version 0 (BIP-141, P2WPKH).
    WitnessPublicKeyHash,
    /// To the hash of a script by a witness of version 0 (BIP-141, P2WSH), here of [`script`].
    WitnessScriptHash,
    /// To the key itself, tweaked (BIP-86, P2TR without a tree of scripts).
    Taproot,
}

impl Network {
    /// The human-readable part (BIP-173); signet has that of testnet.
    fn prefix(self) -> Hrp {
        match self {
            Self::Mainnet => bech32::hrp::BC,
            Self::Testnet | Self::Signet => bech32::hrp::TB,
            Self::Regtest => bech32::hrp::BCRT,
        }
    }

    /// The first byte of addresses that pay to a key hash, and of those that pay to a script hash.
    fn versions(self) -> (u8, u8) {
        match self {
            Self::Mainnet => (0x00, 0x05),
            Self::Testnet | Self::Signet | Self::Regtest => (0x6f, 0xc4),
        }
    }
}

/// The address of a key.
pub(super) fn address(network: Network, pays: Pays, key: &PublicKey) -> Result<String, AddressFlaw> {
    let (to_key, to_script) = network.versions();
    let prefix = network.prefix();
    let witness =
        |program: &[u8]| bech32::segwit::encode_v0(prefix, program).map_err(|_| AddressFlaw::UnfitCurve);
    match pays {
        Pays::PublicKeyHash => Ok(base58(to_key, &hash160(key.compressed()))),
        Pays::ScriptHash => Ok(base58(to_script, &hash160(&script(key)))),
        Pays::WitnessPublicKeyHash => witness(&hash160(key.compressed())),
        Pays::WitnessScriptHash => witness(&Sha256::digest(script(key))),
        Pays::Taproot => {
            let output = key.taproot_output().ok_or(AddressFlaw::UnfitCurve)?;
            bech32::segwit::encode_v1(prefix, &output).map_err(|_| AddressFlaw::UnfitCurve)
        }
    }
}

/// RIPEMD-160(SHA-256(bytes)).
pub(super) fn hash160(bytes: &[u8]) -> [u8; 20] {
    Ripemd160::digest(Sha256::digest(bytes)).into()
}

/// Base58 with a first byte and a checksum.
pub(super) fn base58(version: u8, hash: &[u8; 20]) -> String {
    bs58::encode([&[version], hash.as_slice()].concat()).with_check().into_string()
}

/// `<key> OP_CHECKSIG`: the shortest script that one key can satisfy.
pub(crate) fn script(key: &PublicKey) -> Vec<u8> {
    const PUSH_33: u8 = 0x21;
    const OP_CHECKSIG: u8 = 0xac;
    [&[PUSH_33], key.compressed(), &[OP_CHECKSIG]].concat()
}
