//! Transactions before they are signed: one file per chain.
//!
//! The same reading serves the daemon, which judges and signs, and the console, which shows: total on any bytes, bounded by
//! the input, and refusing what would be written in another way.

mod bitcoin;
mod ethereum;
pub mod solana;
mod tron;

use quorate_policy::Value;

use crate::address::{AddressFormat, of_account};
use crate::contract::Interfaces;
use crate::curve::{Curve, Message, PublicKey, Signature};
use crate::hexadecimal;
use crate::wire_name::{WireName, wire_name};

pub use bitcoin::{
    Flaw as BitcoinFlaw, Holder as BitcoinHolder, Input as BitcoinInput, LockTime as BitcoinLockTime,
    MAX_INPUTS as BITCOIN_MAX_INPUTS, Output as BitcoinOutput, Part as BitcoinPart, Transaction as Bitcoin,
};
pub use ethereum::{Flaw as EthereumFlaw, Transaction as Ethereum};
pub use solana::{Flaw as SolanaFlaw, Transaction as Solana};
pub use tron::{
    Contract as TronContract, Flaw as TronFlaw, Permission as TronPermission,
    PermissionKind as TronPermissionKind, Resource as TronResource, Transaction as Tron,
};

/// Longest transaction, in bytes. No chain passes on longer ones.
pub const MAX_TRANSACTION_BYTES: usize = 128 * 1024;

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

/// The key that would sign a transaction.
#[derive(Clone, Copy, Debug)]
pub struct Signer<'a> {
    /// Its public half.
    pub key: &'a PublicKey,
    /// The format of the address by which it was named, if it was named by one.
    pub format: Option<AddressFormat>,
}

/// A transaction of some chain that the key at hand has not signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsigned {
    /// Of Ethereum.
    Ethereum(Ethereum),
    /// Of Solana.
    Solana(Solana),
    /// Of Tron.
    Tron(Tron),
    /// Of Bitcoin.
    Bitcoin(Bitcoin),
}

/// Why a text is no transaction that can be signed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnsignedFlaw {
    /// Transactions of this chain are not read here.
    #[error("unsupported transaction type {0}")]
    Type(TransactionType),
    /// It is longer than [`MAX_TRANSACTION_BYTES`].
    #[error("failed to parse transaction: it is longer than {MAX_TRANSACTION_BYTES} bytes")]
    TooLong,
    /// There is none.
    #[error("failed to parse transaction: it is empty")]
    Empty,
    /// It is not an even number of hexadecimal digits.
    #[error("failed to parse transaction: it is not hexadecimal")]
    NotHexadecimal,
    /// It is no transaction of Ethereum.
    #[error("failed to parse transaction: {0}")]
    Ethereum(#[from] EthereumFlaw),
    /// It is no transaction of Solana that the key signs.
    #[error("failed to parse transaction: {0}")]
    Solana(#[from] SolanaFlaw),
    /// It is no transaction of Tron, or not one of this key.
    #[error("failed to parse transaction: {0}")]
    Tron(#[from] TronFlaw),
    /// It is no PSBT that the key can sign.
    #[error("failed to parse transaction: {0}")]
    Bitcoin(#[from] BitcoinFlaw),
    /// Keys of this curve sign no transactions of its chain.
    #[error("failed to parse transaction: a key of {0} cannot sign it")]
    Curve(Curve),
    /// The key is named by an address of another chain.
    #[error("failed to parse transaction: the address of the key is of another chain, {0}")]
    Chain(AddressFormat),
}

impl Unsigned {
    /// Reads hexadecimal digits, with or without `0x`.
    ///
    /// # Errors
    /// The [`UnsignedFlaw`] that applies first.
    pub fn read(kind: TransactionType, text: &str) -> Result<Self, UnsignedFlaw> {
        if text.len() > MAX_TRANSACTION_BYTES.saturating_mul(2).saturating_add(2) {
            return Err(UnsignedFlaw::TooLong);
        }
        let bytes = hexadecimal::decode(text).ok_or(UnsignedFlaw::NotHexadecimal)?;
        if bytes.is_empty() {
            return Err(UnsignedFlaw::Empty);
        }
        match kind {
            TransactionType::Ethereum => Ok(Self::Ethereum(Ethereum::decode(&bytes)?)),
            TransactionType::Solana => Ok(Self::Solana(Solana::decode(&bytes)?)),
            TransactionType::Tron => Ok(Self::Tron(Tron::decode(&bytes)?)),
            TransactionType::Bitcoin => Ok(Self::Bitcoin(Bitcoin::decode(&bytes)?)),
            TransactionType::Tempo => Err(UnsignedFlaw::Type(kind)),
        }
    }

    /// The addresses of the contracts that it calls, by which their interfaces are found.
    pub fn contracts(&self) -> Vec<String> {
        match self {
            Self::Ethereum(transaction) => {
                let called = transaction.to().filter(|_| !transaction.data().is_empty());
                called.map(|to| of_account(&to)).into_iter().collect()
            }
            Self::Solana(transaction) => transaction.programs().map(str::to_owned).collect(),
            Self::Tron(_) | Self::Bitcoin(_) => Vec::new(),
        }
    }

    /// The transaction as this key signs it.
    ///
    /// # Errors
    /// [`UnsignedFlaw::Curve`] if the key is of another curve than the chain's, [`UnsignedFlaw::Chain`] if it is named by an
    /// address of another chain, and the flaw of the chain if it is none of the keys that the transaction asks for.
    pub fn for_signer(self, signer: &Signer<'_>) -> Result<Signable, UnsignedFlaw> {
        let curve = signer.key.curve();
        if curve != self.curve() {
            return Err(UnsignedFlaw::Curve(curve));
        }
        if let Some(format) = signer.format.filter(|format| !self.is_named_by(*format)) {
            return Err(UnsignedFlaw::Chain(format));
        }
        let slots = match &self {
            Self::Ethereum(transaction) => transaction.slots(),
            Self::Solana(transaction) => transaction.slots(signer)?,
            Self::Tron(transaction) => transaction.slots(signer)?,
            Self::Bitcoin(transaction) => transaction.slots(signer)?,
        };
        Ok(Signable { transaction: self, key: signer.key.clone(), format: signer.format, slots })
    }

    /// Whether addresses of this format name keys of its chain: what policies allow for one address they do not for another.
    fn is_named_by(&self, format: AddressFormat) -> bool {
        let name = format.name().trim_start_matches("ADDRESS_FORMAT_");
        let chain = match self {
            Self::Ethereum(_) => "ETHEREUM",
            Self::Solana(_) => "SOLANA",
            Self::Tron(_) => "TRON",
            Self::Bitcoin(_) => "BITCOIN",
        };
        // Public keys are of no chain.
        name.starts_with(chain) || matches!(name, "COMPRESSED" | "UNCOMPRESSED")
    }

    /// The curve of the keys that sign transactions of its chain.
    fn curve(&self) -> Curve {
        match self {
            Self::Ethereum(_) | Self::Tron(_) | Self::Bitcoin(_) => Curve::Secp256k1,
            Self::Solana(_) => Curve::Ed25519,
        }
    }
}

/// A place for a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Slot {
    /// What the key signs for it.
    message: Message,
    /// Which of the places of the transaction it is.
    place: usize,
}

/// A transaction and a key that it asks for.
#[derive(Clone, Debug)]
pub struct Signable {
    transaction: Unsigned,
    key: PublicKey,
    format: Option<AddressFormat>,
    slots: Vec<Slot>,
}

impl Signable {
    /// The transaction.
    pub fn transaction(&self) -> &Unsigned {
        &self.transaction
    }

    /// Has each message of the transaction signed, and gives the transaction with these signatures, in hexadecimal digits
    /// without `0x`.
    ///
    /// # Errors
    /// What `by` answers; nothing is given then.
    pub fn sign<E>(&self, mut by: impl FnMut(&Message) -> Result<Signature, E>) -> Result<String, E> {
        let sign = |slot: &Slot| Ok((slot.place, by(&slot.message)?));
        let signatures = self.slots.iter().map(sign).collect::<Result<Vec<_>, E>>()?;
        let bytes = match &self.transaction {
            Unsigned::Ethereum(transaction) => transaction.signed(&signatures),
            Unsigned::Solana(transaction) => transaction.signed(&signatures),
            Unsigned::Tron(transaction) => transaction.signed(&signatures),
            Unsigned::Bitcoin(transaction) => transaction.signed(&self.key, &signatures),
        };
        Ok(const_hex::encode(bytes))
    }

    /// The root under which policies ask about it, and what they may ask; `interfaces` tell calls of contracts.
    pub fn facts(&self, interfaces: &dyn Interfaces) -> (&'static str, Value) {
        let signer = Signer { key: &self.key, format: self.format };
        let (root, transaction) = match &self.transaction {
            Unsigned::Ethereum(transaction) => ("eth", transaction.facts(&signer, interfaces)),
            Unsigned::Solana(transaction) => ("solana", transaction.facts(interfaces)),
            Unsigned::Tron(transaction) => ("tron", transaction.facts()),
            Unsigned::Bitcoin(transaction) => ("bitcoin", transaction.facts(&signer)),
        };
        (root, Value::record([("tx", transaction)]))
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_TRANSACTION_BYTES, Signer, TransactionType, Unsigned, UnsignedFlaw};
    use crate::address::AddressFormat;
    use crate::curve::Curve;
    use crate::vectors::secret;

    const LEGACY: &str =
        "ec098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a764000080018080";

    #[test]
    fn texts_are_read_with_and_without_their_prefix() {
        let read = |text: &str| Unsigned::read(TransactionType::Ethereum, text);
        assert!(read(LEGACY).is_ok());
        assert_eq!(read(&format!("0x{LEGACY}")), read(&LEGACY.to_uppercase()));
        assert_eq!(read("0X00"), Err(UnsignedFlaw::NotHexadecimal));
        assert_eq!(read(""), Err(UnsignedFlaw::Empty));
        assert_eq!(read(&"0".repeat(2 * MAX_TRANSACTION_BYTES + 3)), Err(UnsignedFlaw::TooLong));
        let key = secret(Curve::P256, &"11".repeat(32));
        let signer = Signer { key: key.public(), format: None };
        let flaw = read(LEGACY).and_then(|transaction| transaction.for_signer(&signer)).err();
        assert_eq!(flaw, Some(UnsignedFlaw::Curve(Curve::P256)));
        let key = secret(Curve::Secp256k1, &"11".repeat(32));
        let named_by = |format| {
            let signer = Signer { key: key.public(), format };
            read(LEGACY).and_then(|transaction| transaction.for_signer(&signer)).err()
        };
        for format in AddressFormat::ALL.iter().copied() {
            let fits = matches!(
                format,
                AddressFormat::Ethereum | AddressFormat::Compressed | AddressFormat::Uncompressed
            );
            assert_eq!(named_by(Some(format)), (!fits).then_some(UnsignedFlaw::Chain(format)));
        }
        assert_eq!(named_by(None), None);
    }

    #[test]
    fn what_is_not_read_is_named() {
        let kind = TransactionType::Tempo;
        assert_eq!(Unsigned::read(kind, LEGACY), Err(UnsignedFlaw::Type(kind)));
    }
}
