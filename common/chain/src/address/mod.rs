//! Addresses of public keys, with one module per family of formats.
//!
//! Addresses are parsed only for the chains in [`Chain`].

mod account;
mod bitcoin;
mod checksum;
mod ethereum;
mod format;
mod text;
mod ton;

use ::bitcoin::Network;
use base32ct::{Base32UpperUnpadded, Encoding};
use bech32::{Bech32, Bech32m, Hrp};
use blake2::Blake2b;
use blake2::digest::consts::U32;
use sha3::{Digest, Sha3_256};

pub use account::{ethereum_address, solana_address};
pub use format::AddressFormat;
pub use text::{AddressTextError, Chain, UnknownChain};

pub(crate) use self::bitcoin::{ScriptType, output_script};
use self::bitcoin::{base58, hash160};
use self::checksum::crc16_xmodem;
use self::ton::Contract;

use crate::curve::PublicKey;

/// Returns the address of `key` in `format`.
///
/// # Errors
/// [`AddressError::UnsupportedCurve`] if keys of this curve have no address in this format.
pub fn address(format: AddressFormat, key: &PublicKey) -> Result<String, AddressError> {
    use AddressFormat as F;
    if !format.fits(key.curve()) {
        return Err(AddressError::UnsupportedCurve);
    }
    if let Some((network, script_type)) = network_and_script_type(format) {
        return bitcoin::address(network, script_type, key);
    }
    let key_hash = || hash160(key.compressed());
    match format {
        F::Compressed => Ok(key.compressed_hex()),
        F::Uncompressed => Ok(const_hex::encode(point(key)?)),
        F::Ethereum => Ok(ethereum::address(point(key)?)),
        F::Solana => Ok(bs58::encode(key.compressed()).into_string()),
        F::Cosmos => human_readable::<Bech32>("cosmos", &key_hash()),
        F::Sei => human_readable::<Bech32>("sei", &key_hash()),
        // An Ethereum account in the notation of Bitcoin.
        F::Tron => Ok(of_tron_account(&ethereum::account(point(key)?))),
        F::DogeMainnet => Ok(base58(0x1e, &key_hash())),
        F::DogeTestnet => Ok(base58(0x71, &key_hash())),
        F::Xrp => Ok(ripple(&key_hash())),
        F::Sui => Ok(prefixed(&Blake2b::<U32>::digest([&[ED25519_OF_SUI], key.compressed()].concat()))),
        F::Aptos => Ok(prefixed(&Sha3_256::digest([key.compressed(), &[ED25519_OF_APTOS]].concat()))),
        F::Xlm => Ok(stellar(&ed25519(key)?)),
        F::TonV3r2 => Ok(ton::address(Contract::V3r2, &ed25519(key)?)),
        F::TonV4r2 => Ok(ton::address(Contract::V4r2, &ed25519(key)?)),
        F::TonV5r1 => Ok(ton::address(Contract::V5r1, &ed25519(key)?)),
        F::SparkMainnet => spark("spark", key),
        F::SparkRegtest => spark("sparkrt", key),
        _ => Err(AddressError::UnsupportedCurve),
    }
}

/// First byte of the hash input of Sui: the scheme of the key.
const ED25519_OF_SUI: u8 = 0x00;
/// Last byte of the hash input of Aptos: the scheme of the key.
const ED25519_OF_APTOS: u8 = 0x00;

/// Returns the network and the script type of a Bitcoin format.
pub(crate) fn network_and_script_type(format: AddressFormat) -> Option<(Network, ScriptType)> {
    let (network, script_type) = format.name().strip_prefix("ADDRESS_FORMAT_BITCOIN_")?.split_once('_')?;
    let network = match network {
        "MAINNET" => Network::Bitcoin,
        "TESTNET" => Network::Testnet,
        "SIGNET" => Network::Signet,
        "REGTEST" => Network::Regtest,
        _ => return None,
    };
    Some((network, ScriptType::from_name(script_type)?))
}

/// Encodes data in bech32 with a human-readable prefix (BIP-173, BIP-350).
fn human_readable<C: bech32::Checksum>(prefix: &str, data: &[u8]) -> Result<String, AddressError> {
    let prefix = Hrp::parse(prefix).map_err(|_| AddressError::UnsupportedCurve)?;
    bech32::encode::<C>(prefix, data).map_err(|_| AddressError::UnsupportedCurve)
}

/// Encodes the key as the first field of a protocol buffer.
fn spark(prefix: &str, key: &PublicKey) -> Result<String, AddressError> {
    const FIELD_1_OF_33_BYTES: [u8; 2] = [0x0a, 0x21];
    human_readable::<Bech32m>(prefix, &[FIELD_1_OF_33_BYTES.as_slice(), key.compressed()].concat())
}

/// Encodes a hash in base58 with the alphabet of the XRP Ledger.
fn ripple(hash: &[u8; 20]) -> String {
    const ACCOUNT: u8 = 0x00;
    let bytes = [&[ACCOUNT], hash.as_slice()].concat();
    bs58::encode(bytes).with_alphabet(bs58::Alphabet::RIPPLE).with_check().into_string()
}

/// Encodes a key in base32 with a version byte and a little-endian checksum (SEP-23).
fn stellar(key: &[u8; 32]) -> String {
    const ACCOUNT: u8 = 6 << 3;
    let mut bytes = [&[ACCOUNT], key.as_slice()].concat();
    let checksum = crc16_xmodem(&bytes);
    bytes.extend(checksum.to_le_bytes());
    Base32UpperUnpadded::encode_string(&bytes)
}

fn prefixed(hash: &[u8]) -> String {
    const_hex::encode_prefixed(hash)
}

fn ed25519(key: &PublicKey) -> Result<[u8; 32], AddressError> {
    key.compressed().try_into().map_err(|_| AddressError::UnsupportedCurve)
}

/// Returns the address of an Ethereum account with the checksum of ERC-55.
pub fn of_account(account: &[u8; 20]) -> String {
    ethereum::checksummed(account)
}

/// Returns the address of a Tron account: base58 of `41` and the account, with a checksum.
pub fn of_tron_account(account: &[u8; 20]) -> String {
    base58(TRON, account)
}

/// Version byte of Tron addresses.
pub(crate) const TRON: u8 = 0x41;

fn point(key: &PublicKey) -> Result<&[u8; 65], AddressError> {
    key.uncompressed().ok_or(AddressError::UnsupportedCurve)
}

/// Error returned if a key has no address in a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Keys of this curve have no address in this format.
    #[error("invalid address format")]
    UnsupportedCurve,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

    use serde::Deserialize;

    use super::{AddressError, AddressFormat, address};
    use crate::curve::{Curve, PublicKey};
    use crate::derive::{Path, derive};
    use crate::mnemonic::{Mnemonic, Seed};
    use crate::vectors::{rows, secret};

    #[derive(Deserialize)]
    struct Row {
        format: AddressFormat,
        curve: Curve,
        path: Path,
        address: String,
        private: Option<String>,
    }

    fn seed() -> Seed {
        let phrase = "abandon ".repeat(11) + "about";
        Mnemonic::parse(&phrase).unwrap_or_else(|_| panic!()).seed("")
    }

    #[test]
    fn addresses_of_a_known_wallet() {
        let seed = seed();
        let file = include_str!("../../../../assets/vectors/chain/addresses.json");
        for row in rows::<Row>(file) {
            let key = derive(row.curve, &seed, &row.path).unwrap_or_else(|_| panic!());
            if let Some(private) = &row.private {
                assert_eq!(&const_hex::encode(key.to_bytes()), private);
            }
            assert_eq!(address(row.format, key.public()), Ok(row.address), "{}", row.path);
        }
    }

    #[derive(Deserialize)]
    struct Derived {
        phrase: String,
        passphrase: String,
        curve: Curve,
        path: Path,
        format: AddressFormat,
        address: String,
    }

    #[test]
    fn addresses_match_another_library() {
        let file = include_str!("../../../../assets/vectors/chain/addresses_derived.json");
        for row in rows::<Derived>(file) {
            let seed = Mnemonic::parse(&row.phrase).unwrap_or_else(|_| panic!()).seed(&row.passphrase);
            let key = derive(row.curve, &seed, &row.path).unwrap_or_else(|_| panic!());
            assert_eq!(address(row.format, key.public()), Ok(row.address), "{} {}", row.format, row.path);
        }
    }

    #[derive(Deserialize)]
    struct WitnessRow {
        public: String,
        format: AddressFormat,
        address: String,
    }

    #[test]
    fn published_witness_programs() {
        let file = include_str!("../../../../assets/vectors/chain/witness_programs.json");
        for row in rows::<WitnessRow>(file) {
            let key = PublicKey::from_hex(Curve::Secp256k1, &row.public).unwrap();
            assert_eq!(address(row.format, &key), Ok(row.address));
        }
    }

    #[test]
    fn formats_support_exactly_their_curves() {
        for curve in Curve::ALL {
            let key = secret(*curve, &"01".repeat(32));
            for format in AddressFormat::ALL {
                let result = address(*format, key.public());
                assert_eq!(result.is_ok(), format.fits(*curve), "{format} {curve}");
            }
        }
    }

    #[test]
    fn p256_and_ed25519_have_few_formats() {
        let names = |curve: Curve| -> Vec<&str> {
            let fitting = AddressFormat::ALL.iter().filter(|format| format.fits(curve));
            fitting.map(|format| format.name().trim_start_matches("ADDRESS_FORMAT_")).collect()
        };
        assert_eq!(names(Curve::P256), ["UNCOMPRESSED", "COMPRESSED"]);
        assert_eq!(
            names(Curve::Ed25519),
            ["COMPRESSED", "SOLANA", "SUI", "APTOS", "XLM", "TON_V3R2", "TON_V4R2", "TON_V5R1"]
        );
        assert_eq!(names(Curve::Secp256k1).len(), 38 - 7);
    }

    #[test]
    fn error_message_is_that_of_the_wire() {
        assert_eq!(AddressError::UnsupportedCurve.to_string(), "invalid address format");
    }

    #[derive(Deserialize)]
    struct TaprootRow {
        internal: String,
        output: String,
        address: String,
    }

    #[test]
    fn published_taproot_outputs() {
        let file = include_str!("../../../../assets/vectors/chain/taproot.json");
        for row in rows::<TaprootRow>(file) {
            let key = PublicKey::from_hex(Curve::Secp256k1, &format!("02{}", row.internal)).unwrap();
            assert_eq!(key.taproot_output().map(const_hex::encode), Some(row.output));
            assert_eq!(address(AddressFormat::BitcoinMainnetP2tr, &key), Ok(row.address));
        }
    }
}
