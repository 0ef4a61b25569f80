//! Transactions before they are signed: one file per chain.
//!
//! The same reading serves the daemon, which judges and signs, and the console, which shows: total on any bytes, bounded by
//! the input, and refusing what would be written in another way.

mod ethereum;

use crate::address::{AddressFormat, address};
use crate::curve::{Curve, Message, PublicKey, Signature};
use crate::fact::Fact;
use crate::hexadecimal;
use crate::wire_name::{WireName, wire_name};

pub use ethereum::{MAX_TRANSACTION_BYTES, Transaction as Ethereum, TransactionFlaw};

/// A chain, as far as its transactions are written in a way of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TransactionType {
    /// Ethereum and the chains that share its transactions.
    Ethereum,
    /// Solana.
    Solana,
    /// Tron.
    Tron,
    /// Bitcoin.
    Bitcoin,
    /// Tempo.
    Tempo,
}

wire_name!(TransactionType);

impl WireName for TransactionType {
    const EVERY: &'static [Self] = &[Self::Ethereum, Self::Solana, Self::Tron, Self::Bitcoin, Self::Tempo];
    const REFUSAL: &'static str = "invalid transaction type";

    fn wire_name(self) -> &'static str {
        match self {
            Self::Ethereum => "TRANSACTION_TYPE_ETHEREUM",
            Self::Solana => "TRANSACTION_TYPE_SOLANA",
            Self::Tron => "TRANSACTION_TYPE_TRON",
            Self::Bitcoin => "TRANSACTION_TYPE_BITCOIN",
            Self::Tempo => "TRANSACTION_TYPE_TEMPO",
        }
    }
}

/// A transaction of some chain that nobody has signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsigned {
    /// Of Ethereum.
    Ethereum(Ethereum),
}

/// Why a text is no transaction that can be signed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnsignedFlaw {
    /// Transactions of this chain are not read here.
    #[error("unsupported transaction type {0}")]
    Type(TransactionType),
    /// It is not an even number of hexadecimal digits.
    #[error("failed to parse transaction: it is not hexadecimal")]
    NotHexadecimal,
    /// It is no transaction of its chain.
    #[error("failed to parse transaction: {0}")]
    Malformed(TransactionFlaw),
    /// Keys of this curve sign no transactions of its chain.
    #[error("failed to parse transaction: a key of {0} cannot sign it")]
    Curve(Curve),
}

impl Unsigned {
    /// Reads hexadecimal digits, with or without `0x`.
    ///
    /// # Errors
    /// The [`UnsignedFlaw`] that applies first.
    pub fn read(kind: TransactionType, text: &str) -> Result<Self, UnsignedFlaw> {
        if kind != TransactionType::Ethereum {
            return Err(UnsignedFlaw::Type(kind));
        }
        if text.len() > MAX_TRANSACTION_BYTES.saturating_mul(2).saturating_add(2) {
            return Err(UnsignedFlaw::Malformed(TransactionFlaw::TooLong));
        }
        let bytes = hexadecimal::decode(text).ok_or(UnsignedFlaw::NotHexadecimal)?;
        Ethereum::decode(&bytes).map(Self::Ethereum).map_err(UnsignedFlaw::Malformed)
    }

    /// What a key signs for it.
    ///
    /// # Errors
    /// [`UnsignedFlaw::Curve`] if the key is of another curve than the chain's.
    pub fn message(&self, curve: Curve) -> Result<Message, UnsignedFlaw> {
        let Self::Ethereum(transaction) = self;
        match curve {
            Curve::Secp256k1 => Ok(Message::Digest(transaction.digest())),
            other => Err(UnsignedFlaw::Curve(other)),
        }
    }

    /// The transaction with its signature, in hexadecimal digits without `0x`.
    pub fn signed(&self, signature: &Signature) -> String {
        let Self::Ethereum(transaction) = self;
        const_hex::encode(transaction.signed(signature))
    }

    /// The root under which policies ask about it, and what they may ask; `signer` is the key that would sign.
    pub fn facts(&self, signer: &PublicKey) -> (&'static str, Fact) {
        let Self::Ethereum(transaction) = self;
        let from = address(AddressFormat::Ethereum, signer).ok();
        ("eth", Fact::Record(vec![("tx", Fact::Record(transaction.facts(from)))]))
    }
}

#[cfg(test)]
mod tests {
    use super::{TransactionFlaw, TransactionType, Unsigned, UnsignedFlaw};
    use crate::curve::Curve;

    const LEGACY: &str =
        "ec098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a764000080018080";

    #[test]
    fn texts_are_read_with_and_without_their_prefix() {
        let read = |text: &str| Unsigned::read(TransactionType::Ethereum, text);
        assert!(read(LEGACY).is_ok());
        assert_eq!(read(&format!("0x{LEGACY}")), read(&LEGACY.to_uppercase()));
        assert_eq!(read("0X00"), Err(UnsignedFlaw::NotHexadecimal));
        assert_eq!(read(""), Err(UnsignedFlaw::Malformed(TransactionFlaw::Empty)));
        let message = read(LEGACY).and_then(|transaction| transaction.message(Curve::P256));
        assert_eq!(message, Err(UnsignedFlaw::Curve(Curve::P256)));
    }

    #[test]
    fn what_is_not_read_is_named() {
        for kind in TransactionType::ALL.iter().filter(|kind| **kind != TransactionType::Ethereum) {
            assert_eq!(Unsigned::read(*kind, LEGACY), Err(UnsignedFlaw::Type(*kind)));
        }
    }
}
