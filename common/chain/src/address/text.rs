//! Addresses as people hand them on, read back: one chain, one check of its checksum, one way to write them.

use core::fmt;
use core::str::FromStr;

use bech32::primitives::decode::{SegwitHrpstring, SegwitHrpstringError};
use bitcoin::address::{Address, NetworkUnchecked};
use serde::{Deserialize, Serialize};

use super::{TRON, of_account, of_tron_account};
use crate::contract::{ethereum_address, solana_address};

/// No address of any chain here is longer; BIP-173 allows the longest.
const TEXT_LIMIT: usize = 90;

/// The chains whose addresses are read back, each with those that write theirs the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Chain {
    /// Bitcoin and its test networks.
    Bitcoin,
    /// Ethereum and the chains that share its transactions.
    Ethereum,
    /// Solana.
    Solana,
    /// Tron.
    Tron,
}

impl Chain {
    /// All of them, sorted by name.
    pub const ALL: &'static [Self] = &[Self::Bitcoin, Self::Ethereum, Self::Solana, Self::Tron];

    /// Its name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bitcoin => "bitcoin",
            Self::Ethereum => "ethereum",
            Self::Solana => "solana",
            Self::Tron => "tron",
        }
    }

    /// The address as the chain writes it: the checksum of ERC-55 for Ethereum, lower case for segwit (BIP-173).
    ///
    /// # Errors
    /// [`AddressTextFlaw::Checksum`] where the text carries a checksum that does not fit, [`AddressTextFlaw::Format`] if
    /// it is no address of this chain at all. Hex without capitals, or without small letters, carries no checksum
    /// (ERC-55), and neither does an address of Solana.
    pub fn address(self, text: &str) -> Result<String, AddressTextFlaw> {
        if text.len() > TEXT_LIMIT {
            return Err(AddressTextFlaw::Format(self));
        }
        match self {
            Self::Bitcoin => bitcoin(text),
            Self::Ethereum => ethereum(text),
            Self::Solana => solana(text),
            Self::Tron => tron(text),
        }
    }
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Chain {
    type Err = UnknownChain;

    fn from_str(text: &str) -> Result<Self, UnknownChain> {
        Self::ALL.iter().copied().find(|chain| chain.name() == text).ok_or(UnknownChain)
    }
}

/// No chain has this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected bitcoin, ethereum, solana or tron")]
pub struct UnknownChain;

/// Why a text is no address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressTextFlaw {
    /// It is not written as addresses of this chain are.
    #[error("not an address of {}: expected {}", .0, expected(*.0))]
    Format(Chain),
    /// A character is wrong, or its case.
    #[error("the checksum of the address does not fit: a character is mistyped, or its case")]
    Checksum,
}

const fn expected(chain: Chain) -> &'static str {
    match chain {
        Chain::Bitcoin => "bech32 that begins with bc1, tb1 or bcrt1, or base58 with a checksum",
        Chain::Ethereum => "0x and 40 hexadecimal digits",
        Chain::Solana => "base58 of 32 bytes",
        Chain::Tron => "base58 with a checksum that begins with T",
    }
}

fn ethereum(text: &str) -> Result<String, AddressTextFlaw> {
    let account = ethereum_address(text).ok_or(AddressTextFlaw::Format(Chain::Ethereum))?;
    let written = of_account(&account);
    let has = |is_it: fn(&u8) -> bool| text.bytes().skip(2).any(|letter| is_it(&letter));
    let carries_checksum = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    if carries_checksum && written != text { Err(AddressTextFlaw::Checksum) } else { Ok(written) }
}

fn solana(text: &str) -> Result<String, AddressTextFlaw> {
    let bytes = solana_address(text).ok_or(AddressTextFlaw::Format(Chain::Solana))?;
    Ok(bs58::encode(bytes).into_string())
}

fn tron(text: &str) -> Result<String, AddressTextFlaw> {
    let bytes = base58_checked(text, Chain::Tron)?;
    let account = bytes.strip_prefix(&[TRON]).and_then(|account| account.try_into().ok());
    account.map(of_tron_account).ok_or(AddressTextFlaw::Format(Chain::Tron))
}

fn bitcoin(text: &str) -> Result<String, AddressTextFlaw> {
    match text.parse::<Address<NetworkUnchecked>>() {
        Ok(address) => Ok(address.assume_checked().to_string()),
        Err(_) => match SegwitHrpstring::new(text) {
            Err(SegwitHrpstringError::Checksum(_)) => Err(AddressTextFlaw::Checksum),
            _ => base58_checked(text, Chain::Bitcoin).and(Err(AddressTextFlaw::Format(Chain::Bitcoin))),
        },
    }
}

/// A first byte and 20 more, whose checksum fits.
fn base58_checked(text: &str, chain: Chain) -> Result<[u8; 21], AddressTextFlaw> {
    const CHECKSUM: usize = 4;
    let mut bytes = [0; 21 + CHECKSUM];
    match bs58::decode(text).with_check(None).onto(bytes.as_mut_slice()) {
        Ok(21) => bytes.first_chunk().copied().ok_or(AddressTextFlaw::Format(chain)),
        Err(bs58::decode::Error::InvalidChecksum { .. }) => Err(AddressTextFlaw::Checksum),
        _ => Err(AddressTextFlaw::Format(chain)),
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

    /// The chain that writes addresses of a format.
    fn chain_of(format: &str) -> Option<Chain> {
        let name = format.trim_start_matches("ADDRESS_FORMAT_").split('_').next()?.to_lowercase();
        name.parse().ok()
    }

    #[test]
    fn addresses_of_a_known_wallet_are_read_by_their_chain_alone() {
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
    fn erc55_tells_a_wrong_case() {
        let file = include_str!("../../../../assets/vectors/chain/erc55.json");
        for sample in rows::<String>(file) {
            let chain = Chain::Ethereum;
            let lower = sample.to_lowercase();
            assert_eq!(chain.address(&lower), chain.address(&sample));
            if sample != lower {
                assert_eq!(chain.address(&lower).unwrap(), sample);
            }
        }
        for (wrong, flaw) in [
            ("0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed", AddressTextFlaw::Checksum),
            ("5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", AddressTextFlaw::Format(Chain::Ethereum)),
            ("0X5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", AddressTextFlaw::Format(Chain::Ethereum)),
            ("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe", AddressTextFlaw::Format(Chain::Ethereum)),
        ] {
            assert_eq!(Chain::Ethereum.address(wrong), Err(flaw), "{wrong}");
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
    fn one_wrong_character_is_a_wrong_checksum() {
        // The first and the last digit of addresses of `addresses.json`, exchanged for others.
        for (chain, wrong) in [
            (Chain::Bitcoin, "1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabB"),
            (Chain::Bitcoin, "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyv"),
            (Chain::Tron, "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdJ"),
        ] {
            assert_eq!(chain.address(wrong), Err(AddressTextFlaw::Checksum), "{wrong}");
        }
    }

    #[test]
    fn anything_else_is_refused_with_what_is_expected() {
        for chain in Chain::ALL {
            for text in ["", " ", "0x", "T", "1", "bc1", "\u{202e}abc", &"1".repeat(100), &"z".repeat(90)] {
                let flaw = chain.address(text).unwrap_err();
                assert!(flaw.to_string().contains("expected") || flaw == AddressTextFlaw::Checksum, "{text}");
            }
            assert_eq!(chain.name().parse(), Ok(*chain));
        }
        assert_eq!("Bitcoin".parse::<Chain>(), Err(UnknownChain));
    }
}
