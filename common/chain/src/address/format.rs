//! Names of the address formats and the curves that each supports.

use crate::curve::{Curve, Scheme};
use crate::wire_name::{WireName, wire_name};

/// Format of the address of a public key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AddressFormat {
    /// Uncompressed public key in hexadecimal digits.
    Uncompressed,
    /// Compressed public key in hexadecimal digits.
    Compressed,
    /// Ethereum and chains with the same addresses.
    Ethereum,
    /// Solana: base58 of the key.
    Solana,
    /// Cosmos Hub: bech32 with the prefix `cosmos`.
    Cosmos,
    /// Tron: base58 of an Ethereum account with the version byte `41`.
    Tron,
    /// Sui: hash of the key in hex.
    Sui,
    /// Aptos: hash of the key in hex.
    Aptos,
    /// Bitcoin mainnet, pay to a public key hash.
    BitcoinMainnetP2pkh,
    /// Bitcoin mainnet, pay to a script hash.
    BitcoinMainnetP2sh,
    /// Bitcoin mainnet, pay to a witness public key hash.
    BitcoinMainnetP2wpkh,
    /// Bitcoin mainnet, pay to a witness script hash.
    BitcoinMainnetP2wsh,
    /// Bitcoin mainnet, pay to Taproot.
    BitcoinMainnetP2tr,
    /// Bitcoin testnet, pay to a public key hash.
    BitcoinTestnetP2pkh,
    /// Bitcoin testnet, pay to a script hash.
    BitcoinTestnetP2sh,
    /// Bitcoin testnet, pay to a witness public key hash.
    BitcoinTestnetP2wpkh,
    /// Bitcoin testnet, pay to a witness script hash.
    BitcoinTestnetP2wsh,
    /// Bitcoin testnet, pay to Taproot.
    BitcoinTestnetP2tr,
    /// Bitcoin signet, pay to a public key hash.
    BitcoinSignetP2pkh,
    /// Bitcoin signet, pay to a script hash.
    BitcoinSignetP2sh,
    /// Bitcoin signet, pay to a witness public key hash.
    BitcoinSignetP2wpkh,
    /// Bitcoin signet, pay to a witness script hash.
    BitcoinSignetP2wsh,
    /// Bitcoin signet, pay to Taproot.
    BitcoinSignetP2tr,
    /// Bitcoin regtest, pay to a public key hash.
    BitcoinRegtestP2pkh,
    /// Bitcoin regtest, pay to a script hash.
    BitcoinRegtestP2sh,
    /// Bitcoin regtest, pay to a witness public key hash.
    BitcoinRegtestP2wpkh,
    /// Bitcoin regtest, pay to a witness script hash.
    BitcoinRegtestP2wsh,
    /// Bitcoin regtest, pay to Taproot.
    BitcoinRegtestP2tr,
    /// Sei: bech32 with the prefix `sei`.
    Sei,
    /// Stellar (SEP-23).
    Xlm,
    /// Dogecoin mainnet.
    DogeMainnet,
    /// Dogecoin testnet.
    DogeTestnet,
    /// TON, wallet contract v3r2.
    TonV3r2,
    /// TON, wallet contract v4r2.
    TonV4r2,
    /// XRP Ledger: base58 with the alphabet of the ledger.
    Xrp,
    /// TON, wallet contract v5r1.
    TonV5r1,
    /// Spark on Bitcoin mainnet.
    SparkMainnet,
    /// Spark on Bitcoin regtest.
    SparkRegtest,
}

wire_name!(AddressFormat);

impl AddressFormat {
    /// Returns the signature scheme that keys use for addresses of this format.
    pub fn scheme(self) -> Scheme {
        match self {
            Self::BitcoinMainnetP2tr
            | Self::BitcoinTestnetP2tr
            | Self::BitcoinSignetP2tr
            | Self::BitcoinRegtestP2tr => Scheme::Taproot,
            Self::SparkMainnet | Self::SparkRegtest => Scheme::Schnorr,
            _ => Scheme::Default,
        }
    }
}

impl AddressFormat {
    /// Returns whether keys of this curve have addresses of this format.
    pub fn fits(self, curve: Curve) -> bool {
        match self {
            Self::Compressed => true,
            Self::Uncompressed => matches!(curve, Curve::Secp256k1 | Curve::P256),
            Self::Solana
            | Self::Sui
            | Self::Aptos
            | Self::Xlm
            | Self::TonV3r2
            | Self::TonV4r2
            | Self::TonV5r1 => curve == Curve::Ed25519,
            _ => curve == Curve::Secp256k1,
        }
    }
}

impl WireName for AddressFormat {
    const EVERY: &'static [Self] = &[
        Self::Uncompressed,
        Self::Compressed,
        Self::Ethereum,
        Self::Solana,
        Self::Cosmos,
        Self::Tron,
        Self::Sui,
        Self::Aptos,
        Self::BitcoinMainnetP2pkh,
        Self::BitcoinMainnetP2sh,
        Self::BitcoinMainnetP2wpkh,
        Self::BitcoinMainnetP2wsh,
        Self::BitcoinMainnetP2tr,
        Self::BitcoinTestnetP2pkh,
        Self::BitcoinTestnetP2sh,
        Self::BitcoinTestnetP2wpkh,
        Self::BitcoinTestnetP2wsh,
        Self::BitcoinTestnetP2tr,
        Self::BitcoinSignetP2pkh,
        Self::BitcoinSignetP2sh,
        Self::BitcoinSignetP2wpkh,
        Self::BitcoinSignetP2wsh,
        Self::BitcoinSignetP2tr,
        Self::BitcoinRegtestP2pkh,
        Self::BitcoinRegtestP2sh,
        Self::BitcoinRegtestP2wpkh,
        Self::BitcoinRegtestP2wsh,
        Self::BitcoinRegtestP2tr,
        Self::Sei,
        Self::Xlm,
        Self::DogeMainnet,
        Self::DogeTestnet,
        Self::TonV3r2,
        Self::TonV4r2,
        Self::Xrp,
        Self::TonV5r1,
        Self::SparkMainnet,
        Self::SparkRegtest,
    ];
    const ERROR_MESSAGE: &'static str = "invalid address format";

    fn wire_name(self) -> &'static str {
        match self {
            Self::Uncompressed => "ADDRESS_FORMAT_UNCOMPRESSED",
            Self::Compressed => "ADDRESS_FORMAT_COMPRESSED",
            Self::Ethereum => "ADDRESS_FORMAT_ETHEREUM",
            Self::Solana => "ADDRESS_FORMAT_SOLANA",
            Self::Cosmos => "ADDRESS_FORMAT_COSMOS",
            Self::Tron => "ADDRESS_FORMAT_TRON",
            Self::Sui => "ADDRESS_FORMAT_SUI",
            Self::Aptos => "ADDRESS_FORMAT_APTOS",
            Self::BitcoinMainnetP2pkh => "ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH",
            Self::BitcoinMainnetP2sh => "ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH",
            Self::BitcoinMainnetP2wpkh => "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH",
            Self::BitcoinMainnetP2wsh => "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH",
            Self::BitcoinMainnetP2tr => "ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR",
            Self::BitcoinTestnetP2pkh => "ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH",
            Self::BitcoinTestnetP2sh => "ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH",
            Self::BitcoinTestnetP2wpkh => "ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH",
            Self::BitcoinTestnetP2wsh => "ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH",
            Self::BitcoinTestnetP2tr => "ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR",
            Self::BitcoinSignetP2pkh => "ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH",
            Self::BitcoinSignetP2sh => "ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH",
            Self::BitcoinSignetP2wpkh => "ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH",
            Self::BitcoinSignetP2wsh => "ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH",
            Self::BitcoinSignetP2tr => "ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR",
            Self::BitcoinRegtestP2pkh => "ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH",
            Self::BitcoinRegtestP2sh => "ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH",
            Self::BitcoinRegtestP2wpkh => "ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH",
            Self::BitcoinRegtestP2wsh => "ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH",
            Self::BitcoinRegtestP2tr => "ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR",
            Self::Sei => "ADDRESS_FORMAT_SEI",
            Self::Xlm => "ADDRESS_FORMAT_XLM",
            Self::DogeMainnet => "ADDRESS_FORMAT_DOGE_MAINNET",
            Self::DogeTestnet => "ADDRESS_FORMAT_DOGE_TESTNET",
            Self::TonV3r2 => "ADDRESS_FORMAT_TON_V3R2",
            Self::TonV4r2 => "ADDRESS_FORMAT_TON_V4R2",
            Self::Xrp => "ADDRESS_FORMAT_XRP",
            Self::TonV5r1 => "ADDRESS_FORMAT_TON_V5R1",
            Self::SparkMainnet => "ADDRESS_FORMAT_SPARK_MAINNET",
            Self::SparkRegtest => "ADDRESS_FORMAT_SPARK_REGTEST",
        }
    }
}
