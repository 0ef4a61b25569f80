//! Addresses of public keys: one file per family of formats.
//!
//! Only makes addresses; it never reads one back. A format that is named but not yet computed is
//! refused by name, never approximated.

mod bitcoin;
mod ethereum;
mod format;

pub use format::AddressFormat;

use self::bitcoin::Network;

use crate::curve::PublicKey;

/// The address of `key` in `format`.
///
/// # Errors
/// [`AddressFlaw::UnfitCurve`] if keys of this curve have no such address,
/// [`AddressFlaw::Unsupported`] if this version does not compute the format.
pub fn address(format: AddressFormat, key: &PublicKey) -> Result<String, AddressFlaw> {
    if !format.fits(key.curve()) {
        return Err(AddressFlaw::UnfitCurve);
    }
    match format {
        AddressFormat::Compressed => Ok(key.compressed_hex()),
        AddressFormat::Uncompressed => Ok(const_hex::encode(point(key)?)),
        AddressFormat::Ethereum => Ok(ethereum::address(point(key)?)),
        AddressFormat::Solana => Ok(bs58::encode(key.compressed()).into_string()),
        AddressFormat::BitcoinMainnetP2wpkh => bitcoin::p2wpkh(Network::Mainnet, key),
        AddressFormat::BitcoinTestnetP2wpkh => bitcoin::p2wpkh(Network::Testnet, key),
        AddressFormat::BitcoinSignetP2wpkh => bitcoin::p2wpkh(Network::Signet, key),
        AddressFormat::BitcoinRegtestP2wpkh => bitcoin::p2wpkh(Network::Regtest, key),
        other => Err(AddressFlaw::Unsupported(other)),
    }
}

fn point(key: &PublicKey) -> Result<&[u8; 65], AddressFlaw> {
    key.uncompressed().ok_or(AddressFlaw::UnfitCurve)
}

/// Why a key has no address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressFlaw {
    /// Keys of this curve have no address of this format.
    #[error("invalid address format")]
    UnfitCurve,
    /// The format exists, but this version does not compute it.
    #[error("address format {0} is not supported yet")]
    Unsupported(AddressFormat),
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

    use serde::Deserialize;

    use super::{AddressFlaw, AddressFormat, address};
    use crate::curve::{Curve, PublicKey};
    use crate::derive::{Path, derive};
    use crate::mnemonic::{Mnemonic, Seed};
    use crate::vectors::{rows, secret};

    /// What this version computes; every other format answers that it is not supported.
    const COMPUTED: [AddressFormat; 8] = [
        AddressFormat::Uncompressed,
        AddressFormat::Compressed,
        AddressFormat::Ethereum,
        AddressFormat::Solana,
        AddressFormat::BitcoinMainnetP2wpkh,
        AddressFormat::BitcoinTestnetP2wpkh,
        AddressFormat::BitcoinSignetP2wpkh,
        AddressFormat::BitcoinRegtestP2wpkh,
    ];

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
            let expected = if COMPUTED.contains(&row.format) {
                Ok(row.address)
            } else {
                Err(AddressFlaw::Unsupported(row.format))
            };
            assert_eq!(address(row.format, key.public()), expected, "{}", row.path);
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
        let file = include_str!("../../../../assets/vectors/chain/p2wpkh.json");
        for row in rows::<WitnessRow>(file) {
            let key = PublicKey::from_hex(Curve::Secp256k1, &row.public).unwrap();
            assert_eq!(address(row.format, &key), Ok(row.address));
        }
    }

    #[test]
    fn every_format_answers_for_every_curve() {
        for curve in Curve::ALL {
            let key = secret(*curve, &"01".repeat(32));
            for format in AddressFormat::ALL {
                let answer = address(*format, key.public());
                if !format.fits(*curve) {
                    assert_eq!(answer, Err(AddressFlaw::UnfitCurve), "{format} {curve}");
                } else if COMPUTED.contains(format) {
                    assert!(answer.is_ok(), "{format} {curve}");
                } else {
                    assert_eq!(answer, Err(AddressFlaw::Unsupported(*format)));
                }
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
    fn flaws_name_their_cause() {
        assert_eq!(AddressFlaw::UnfitCurve.to_string(), "invalid address format");
        assert_eq!(
            AddressFlaw::Unsupported(AddressFormat::Sui).to_string(),
            "address format ADDRESS_FORMAT_SUI is not supported yet"
        );
    }
}
