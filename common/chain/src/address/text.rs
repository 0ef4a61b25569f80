//! Parses addresses that people enter: checks the checksum of one chain and returns the canonical notation.

use core::str::FromStr;

use bech32::primitives::decode::{SegwitHrpstring, SegwitHrpstringError};
use bitcoin::address::{Address, NetworkUnchecked};
use quorate_policy::named_enum;
use serde::{Deserialize, Serialize};

use super::{TRON, ethereum_address, of_account, of_tron_account, solana_address};

/// Maximum length of an address of these chains, in bytes; BIP-173 allows the longest.
const TEXT_LIMIT: usize = 90;

named_enum! {
    /// Chains whose addresses can be parsed, sorted by name. Each includes the chains with the same notation.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Chain {
        /// Bitcoin and its test networks.
        Bitcoin = "bitcoin",
        /// Ethereum and chains with the same transactions.
        Ethereum = "ethereum",
        /// Solana mainnet and test clusters.
        Solana = "solana",
        /// Tron and its test networks.
        Tron = "tron",
    }
}

impl Chain {
    /// Parses an address and returns it in canonical notation: with the checksum of ERC-55 for Ethereum, in
    /// lower case for segwit (BIP-173).
    ///
    /// Ethereum addresses without upper-case or without lower-case letters have no checksum (ERC-55), and
    /// neither do Solana addresses.
    ///
    /// # Errors
    /// [`AddressTextError::Checksum`] if the checksum does not match, [`AddressTextError::Format`] if the
    /// text is not an address of this chain.
    pub fn address(self, text: &str) -> Result<String, AddressTextError> {
        if text.len() > TEXT_LIMIT {
            return Err(AddressTextError::Format(self));
        }
        match self {
            Self::Bitcoin => bitcoin(text),
            Self::Ethereum => ethereum(text),
            Self::Solana => solana(text),
            Self::Tron => tron(text),
        }
    }
}

impl FromStr for Chain {
    type Err = UnknownChain;

    fn from_str(text: &str) -> Result<Self, UnknownChain> {
        Self::from_name(text).ok_or(UnknownChain)
    }
}

/// Error returned for an unknown chain name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown chain: expected bitcoin, ethereum, solana or tron")]
pub struct UnknownChain;

/// Error returned for a text that is not a valid address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressTextError {
    /// The text is not in the format of this chain.
    #[error("not an address of {}: expected {}", .0, expected(*.0))]
    Format(Chain),
    /// The checksum does not match: a character or its case is wrong.
    #[error("address checksum does not match: check each character and its case")]
    Checksum,
}

const fn expected(chain: Chain) -> &'static str {
    match chain {
        Chain::Bitcoin => "bech32 starting with bc1, tb1 or bcrt1, or base58 with a checksum",
        Chain::Ethereum => "0x and 40 hexadecimal digits",
        Chain::Solana => "base58 of 32 bytes",
        Chain::Tron => "base58 starting with T, with a checksum",
    }
}

fn ethereum(text: &str) -> Result<String, AddressTextError> {
    let account = ethereum_address(text).ok_or(AddressTextError::Format(Chain::Ethereum))?;
    let canonical = of_account(&account);
    let has = |predicate: fn(&u8) -> bool| text.bytes().skip(2).any(|letter| predicate(&letter));
    let carries_checksum = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    if carries_checksum && canonical != text { Err(AddressTextError::Checksum) } else { Ok(canonical) }
}

fn solana(text: &str) -> Result<String, AddressTextError> {
    let bytes = solana_address(text).ok_or(AddressTextError::Format(Chain::Solana))?;
    Ok(bs58::encode(bytes).into_string())
}

fn tron(text: &str) -> Result<String, AddressTextError> {
    let bytes = base58_checked(text, Chain::Tron)?;
    let account = bytes.strip_prefix(&[TRON]).and_then(|account| account.try_into().ok());
    account.map(of_tron_account).ok_or(AddressTextError::Format(Chain::Tron))
}

fn bitcoin(text: &str) -> Result<String, AddressTextError> {
    match text.parse::<Address<NetworkUnchecked>>() {
        Ok(address) => Ok(address.assume_checked().to_string()),
        Err(_) => match SegwitHrpstring::new(text) {
            Err(SegwitHrpstringError::Checksum(_)) => Err(AddressTextError::Checksum),
            _ => base58_checked(text, Chain::Bitcoin).and(Err(AddressTextError::Format(Chain::Bitcoin))),
        },
    }
}

/// Decodes a version byte and 20 bytes from base58 and verifies their checksum.
fn base58_checked(text: &str, chain: Chain) -> Result<[u8; 21], AddressTextError> {
    const CHECKSUM: usize = 4;
    let mut bytes = [0; 21 + CHECKSUM];
    match bs58::decode(text).with_check(None).onto(bytes.as_mut_slice()) {
        Ok(21) => bytes.first_chunk().copied().ok_or(AddressTextError::Format(chain)),
        Err(bs58::decode::Error::InvalidChecksum { .. }) => Err(AddressTextError::Checksum),
        _ => Err(AddressTextError::Format(chain)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use serde::Deserialize;

    use super::*;
    use crate::vectors::rows;

    #[derive(Deserialize)]
    struct Known {
        format: String,
        address: String,
    }

    /// Returns the chain that uses an address format.
    fn chain_of(format: &str) -> Option<Chain> {
        let name = format.trim_start_matches("ADDRESS_FORMAT_").split('_').next()?.to_lowercase();
        name.parse().ok()
    }

    #[test]
    fn addresses_are_accepted_by_their_own_chain_only() {
        let known = rows(include_str!("../../../../assets/vectors/chain/addresses.json"));
        let derived: Vec<Known> =
            rows(include_str!("../../../../assets/vectors/chain/addresses_derived.json"));
        let mut seen = std::collections::BTreeSet::new();
        for Known { format, address } in known.into_iter().chain(derived) {
            let Some(own) = chain_of(&format) else { continue };
            seen.insert(own);
            for chain in Chain::ALL {
                assert_eq!(chain.address(&address).is_ok(), *chain == own, "{chain} {address}");
            }
            assert_eq!(own.address(&address).as_deref(), Ok(address.as_str()));
        }
        assert_eq!(seen.len(), Chain::ALL.len());
    }

    #[test]
    fn detects_a_wrong_case_with_erc55() {
        let file = include_str!("../../../../assets/vectors/chain/erc55.json");
        for sample in rows::<String>(file) {
            let chain = Chain::Ethereum;
            let lower = sample.to_lowercase();
            assert_eq!(chain.address(&lower), chain.address(&sample));
            if sample != lower {
                assert_eq!(chain.address(&lower).unwrap(), sample);
            }
        }
        for (wrong, error) in [
            ("0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed", AddressTextError::Checksum),
            ("5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", AddressTextError::Format(Chain::Ethereum)),
            ("0X5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", AddressTextError::Format(Chain::Ethereum)),
            ("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe", AddressTextError::Format(Chain::Ethereum)),
        ] {
            assert_eq!(Chain::Ethereum.address(wrong), Err(error), "{wrong}");
        }
    }

    #[derive(Deserialize)]
    struct Segwit {
        text: String,
        address: Option<String>,
        why: String,
    }

    #[test]
    fn bip350_samples() {
        let file = include_str!("../../../../assets/vectors/chain/segwit_addresses.json");
        for Segwit { text, address, why } in rows(file) {
            assert_eq!(Chain::Bitcoin.address(&text).ok(), address, "{text}: {why}");
        }
    }

    #[test]
    fn one_wrong_character_breaks_the_checksum() {
        // Addresses of `addresses.json` with the first or the last character replaced.
        for (chain, wrong) in [
            (Chain::Bitcoin, "1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabB"),
            (Chain::Bitcoin, "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyv"),
            (Chain::Tron, "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdJ"),
        ] {
            assert_eq!(chain.address(wrong), Err(AddressTextError::Checksum), "{wrong}");
        }
    }

    #[test]
    fn errors_state_the_expected_format() {
        for chain in Chain::ALL {
            for text in ["", " ", "0x", "T", "1", "bc1", "\u{202e}abc", &"1".repeat(100), &"z".repeat(90)] {
                let error = chain.address(text).unwrap_err();
                assert!(
                    error.to_string().contains("expected") || error == AddressTextError::Checksum,
                    "{text}"
                );
            }
            assert_eq!(chain.name().parse(), Ok(*chain));
        }
        assert_eq!("Bitcoin".parse::<Chain>(), Err(UnknownChain));
    }
}
