//! Names of the address formats and the curves that each supports.

use crate::curve::{Curve, Scheme};
use crate::wire_name::wire_name;

wire_name! {
    /// Format of the address of a public key.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum AddressFormat: "invalid address format" {
        /// Uncompressed public key in hexadecimal digits.
        Uncompressed = "ADDRESS_FORMAT_UNCOMPRESSED",
        /// Compressed public key in hexadecimal digits.
        Compressed = "ADDRESS_FORMAT_COMPRESSED",
        /// Ethereum and chains with the same addresses.
        Ethereum = "ADDRESS_FORMAT_ETHEREUM",
        /// Solana: base58 of the key.
        Solana = "ADDRESS_FORMAT_SOLANA",
        /// Cosmos Hub: bech32 with the prefix `cosmos`.
        Cosmos = "ADDRESS_FORMAT_COSMOS",
        /// Tron: base58 of an Ethereum account with the version byte `41`.
        Tron = "ADDRESS_FORMAT_TRON",
        /// Sui: hash of the key in hex.
        Sui = "ADDRESS_FORMAT_SUI",
        /// Aptos: hash of the key in hex.
        Aptos = "ADDRESS_FORMAT_APTOS",
        /// Bitcoin mainnet, pay to a public key hash.
        BitcoinMainnetP2pkh = "ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH",
        /// Bitcoin mainnet, pay to a script hash.
        BitcoinMainnetP2sh = "ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH",
        /// Bitcoin mainnet, pay to a witness public key hash.
        BitcoinMainnetP2wpkh = "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH",
        /// Bitcoin mainnet, pay to a witness script hash.
        BitcoinMainnetP2wsh = "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH",
        /// Bitcoin mainnet, pay to Taproot.
        BitcoinMainnetP2tr = "ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR",
        /// Bitcoin testnet, pay to a public key hash.
        BitcoinTestnetP2pkh = "ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH",
        /// Bitcoin testnet, pay to a script hash.
        BitcoinTestnetP2sh = "ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH",
        /// Bitcoin testnet, pay to a witness public key hash.
        BitcoinTestnetP2wpkh = "ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH",
        /// Bitcoin testnet, pay to a witness script hash.
        BitcoinTestnetP2wsh = "ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH",
        /// Bitcoin testnet, pay to Taproot.
        BitcoinTestnetP2tr = "ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR",
        /// Bitcoin signet, pay to a public key hash.
        BitcoinSignetP2pkh = "ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH",
        /// Bitcoin signet, pay to a script hash.
        BitcoinSignetP2sh = "ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH",
        /// Bitcoin signet, pay to a witness public key hash.
        BitcoinSignetP2wpkh = "ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH",
        /// Bitcoin signet, pay to a witness script hash.
        BitcoinSignetP2wsh = "ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH",
        /// Bitcoin signet, pay to Taproot.
        BitcoinSignetP2tr = "ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR",
        /// Bitcoin regtest, pay to a public key hash.
        BitcoinRegtestP2pkh = "ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH",
        /// Bitcoin regtest, pay to a script hash.
        BitcoinRegtestP2sh = "ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH",
        /// Bitcoin regtest, pay to a witness public key hash.
        BitcoinRegtestP2wpkh = "ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH",
        /// Bitcoin regtest, pay to a witness script hash.
        BitcoinRegtestP2wsh = "ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH",
        /// Bitcoin regtest, pay to Taproot.
        BitcoinRegtestP2tr = "ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR",
        /// Sei: bech32 with the prefix `sei`.
        Sei = "ADDRESS_FORMAT_SEI",
        /// Stellar (SEP-23).
        Xlm = "ADDRESS_FORMAT_XLM",
        /// Dogecoin mainnet.
        DogeMainnet = "ADDRESS_FORMAT_DOGE_MAINNET",
        /// Dogecoin testnet.
        DogeTestnet = "ADDRESS_FORMAT_DOGE_TESTNET",
        /// TON, wallet contract v3r2.
        TonV3r2 = "ADDRESS_FORMAT_TON_V3R2",
        /// TON, wallet contract v4r2.
        TonV4r2 = "ADDRESS_FORMAT_TON_V4R2",
        /// XRP Ledger: base58 with the alphabet of the ledger.
        Xrp = "ADDRESS_FORMAT_XRP",
        /// TON, wallet contract v5r1.
        TonV5r1 = "ADDRESS_FORMAT_TON_V5R1",
        /// Spark on Bitcoin mainnet.
        SparkMainnet = "ADDRESS_FORMAT_SPARK_MAINNET",
        /// Spark on Bitcoin regtest.
        SparkRegtest = "ADDRESS_FORMAT_SPARK_REGTEST",
    }
}

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
