//! Bitcoin addresses of version 0 witness programs (BIP-141, BIP-173).
//!
//! Makes no script with more than one key.

use bech32::Hrp;
use ripemd::Ripemd160;
use sha2::{Digest, Sha256};

use super::AddressFlaw;
use crate::curve::PublicKey;

/// The networks that differ in their addresses or are named apart.
#[derive(Clone, Copy)]
pub(super) enum Network {
    Mainnet,
    Testnet,
    Signet,
    Regtest,
}

impl Network {
    /// The human-readable part; signet has that of testnet.
    fn prefix(self) -> Hrp {
        match self {
            Self::Mainnet => bech32::hrp::BC,
            Self::Testnet | Self::Signet => bech32::hrp::TB,
            Self::Regtest => bech32::hrp::BCRT,
        }
    }
}

/// Pays to RIPEMD-160(SHA-256(compressed key)) by witness version 0 (BIP-141, "P2WPKH").
pub(super) fn p2wpkh(network: Network, key: &PublicKey) -> Result<String, AddressFlaw> {
    let program = Ripemd160::digest(Sha256::digest(key.compressed()));
    bech32::segwit::encode_v0(network.prefix(), &program).map_err(|_| AddressFlaw::UnfitCurve)
}
