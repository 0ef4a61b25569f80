//! Unsigned transactions, with one module per chain.
//!
//! The daemon, which evaluates policies and signs, and the console, which displays, use the same decoders.
//! They never panic on any bytes, their cost is bounded by the input, and they reject non-canonical
//! encodings.

mod bitcoin;
mod ethereum;
pub mod solana;
mod tron;

use quorate_policy::Value;

use crate::address::{AddressFormat, of_account};
use crate::contract::Interfaces;
use crate::curve::{Curve, Message, PublicKey, Signature};
use crate::hexadecimal;
use crate::wire_name::wire_name;

pub use bitcoin::{
    BitcoinError, Holder as BitcoinHolder, Input as BitcoinInput, LockTime as BitcoinLockTime,
    MAX_INPUTS as BITCOIN_MAX_INPUTS, Output as BitcoinOutput, Part as BitcoinPart, Transaction as Bitcoin,
};
pub use ethereum::{EthereumError, Transaction as Ethereum};
pub use solana::{SolanaError, Transaction as Solana};
pub use tron::{
    Contract as TronContract, Permission as TronPermission, PermissionKind as TronPermissionKind,
    Resource as TronResource, Transaction as Tron, TronError,
};

/// Maximum length of a transaction, in bytes. No chain relays longer ones.
pub const MAX_TRANSACTION_BYTES: usize = 128 * 1024;

wire_name! {
    /// Transaction format of a chain.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum TransactionType: "invalid transaction type" {
        /// Ethereum and chains with the same transactions.
        Ethereum = "TRANSACTION_TYPE_ETHEREUM",
        /// Solana: a complete transaction in wire format.
        Solana = "TRANSACTION_TYPE_SOLANA",
        /// Tron: `Transaction.raw` in protocol buffers.
        Tron = "TRANSACTION_TYPE_TRON",
        /// Bitcoin: a PSBT (BIP-174).
        Bitcoin = "TRANSACTION_TYPE_BITCOIN",
        /// Tempo; not supported.
        Tempo = "TRANSACTION_TYPE_TEMPO",
    }
}

/// Key that signs a transaction.
#[derive(Clone, Copy, Debug)]
pub struct Signer<'a> {
    /// Public key of the signer.
    pub key: &'a PublicKey,
    /// Format of the address by which the request names the key, if it uses an address.
    pub format: Option<AddressFormat>,
}

/// A decoded transaction that is to be signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsigned {
    /// Transaction of Ethereum.
    Ethereum(Ethereum),
    /// Transaction of Solana.
    Solana(Solana),
    /// Transaction of Tron.
    Tron(Tron),
    /// Transaction of Bitcoin.
    Bitcoin(Bitcoin),
}

/// Error returned for a text that is not a transaction that the key can sign.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnsignedError {
    /// Transactions of this type are not supported.
    #[error("unsupported transaction type {0}")]
    Type(TransactionType),
    /// The transaction is longer than [`MAX_TRANSACTION_BYTES`].
    #[error("failed to parse transaction: longer than {MAX_TRANSACTION_BYTES} bytes")]
    TooLong,
    /// The text is empty.
    #[error("failed to parse transaction: the data is empty")]
    Empty,
    /// The text is not an even number of hexadecimal digits.
    #[error("failed to parse transaction: not hexadecimal")]
    NotHexadecimal,
    /// The bytes are not an unsigned transaction of Ethereum.
    #[error("failed to parse transaction: {0}")]
    Ethereum(#[from] EthereumError),
    /// The bytes are not a transaction of Solana that the key can sign.
    #[error("failed to parse transaction: {0}")]
    Solana(#[from] SolanaError),
    /// The bytes are not a transaction of Tron that the key can sign.
    #[error("failed to parse transaction: {0}")]
    Tron(#[from] TronError),
    /// The bytes are not a PSBT that the key can sign.
    #[error("failed to parse transaction: {0}")]
    Bitcoin(#[from] BitcoinError),
    /// Keys of this curve cannot sign transactions of the chain.
    #[error("failed to parse transaction: a key of {0} cannot sign it")]
    Curve(Curve),
    /// The request names the key by an address of another chain.
    #[error("failed to parse transaction: the address of the key belongs to another chain ({0})")]
    Chain(AddressFormat),
}

impl Unsigned {
    /// Decodes a transaction from hexadecimal digits, with or without `0x`.
    ///
    /// # Errors
    /// The [`UnsignedError`] that applies first.
    pub fn read(kind: TransactionType, text: &str) -> Result<Self, UnsignedError> {
        if text.len() > MAX_TRANSACTION_BYTES.saturating_mul(2).saturating_add(2) {
            return Err(UnsignedError::TooLong);
        }
        let bytes = hexadecimal::decode(text).ok_or(UnsignedError::NotHexadecimal)?;
        if bytes.is_empty() {
            return Err(UnsignedError::Empty);
        }
        match kind {
            TransactionType::Ethereum => Ok(Self::Ethereum(Ethereum::decode(&bytes)?)),
            TransactionType::Solana => Ok(Self::Solana(Solana::decode(&bytes)?)),
            TransactionType::Tron => Ok(Self::Tron(Tron::decode(&bytes)?)),
            TransactionType::Bitcoin => Ok(Self::Bitcoin(Bitcoin::decode(&bytes)?)),
            TransactionType::Tempo => Err(UnsignedError::Type(kind)),
        }
    }

    /// Returns the addresses of the called contracts, by which their interfaces are found.
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

    /// Prepares the transaction for signing with this key.
    ///
    /// # Errors
    /// [`UnsignedError::Curve`] if the key has another curve than the chain, and [`UnsignedError::Chain`] if
    /// it is named by an address of another chain. If the transaction does not need a signature of the key,
    /// the error of the chain.
    pub fn for_signer(self, signer: &Signer<'_>) -> Result<Signable, UnsignedError> {
        let curve = signer.key.curve();
        if curve != self.curve() {
            return Err(UnsignedError::Curve(curve));
        }
        if let Some(format) = signer.format.filter(|format| !self.accepts_address_format(*format)) {
            return Err(UnsignedError::Chain(format));
        }
        let slots = match &self {
            Self::Ethereum(transaction) => transaction.slots(),
            Self::Solana(transaction) => transaction.slots(signer)?,
            Self::Tron(transaction) => transaction.slots(signer)?,
            Self::Bitcoin(transaction) => transaction.slots(signer)?,
        };
        Ok(Signable { transaction: self, key: signer.key.clone(), format: signer.format, slots })
    }

    /// Returns whether addresses of this format belong to the chain. A key must not be named by another one,
    /// because policies may treat the addresses differently.
    fn accepts_address_format(&self, format: AddressFormat) -> bool {
        let name = format.name().trim_start_matches("ADDRESS_FORMAT_");
        let chain = match self {
            Self::Ethereum(_) => "ETHEREUM",
            Self::Solana(_) => "SOLANA",
            Self::Tron(_) => "TRON",
            Self::Bitcoin(_) => "BITCOIN",
        };
        // Public keys are valid on every chain.
        name.starts_with(chain) || matches!(name, "COMPRESSED" | "UNCOMPRESSED")
    }

    /// Returns the curve of the keys that sign transactions of the chain.
    fn curve(&self) -> Curve {
        match self {
            Self::Ethereum(_) | Self::Tron(_) | Self::Bitcoin(_) => Curve::Secp256k1,
            Self::Solana(_) => Curve::Ed25519,
        }
    }
}

/// A slot for a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Slot {
    /// Message that the key signs for this slot.
    message: Message,
    /// Index of the slot in the transaction.
    index: usize,
}

/// A transaction together with a key that it needs a signature of.
#[derive(Clone, Debug)]
pub struct Signable {
    transaction: Unsigned,
    key: PublicKey,
    format: Option<AddressFormat>,
    slots: Vec<Slot>,
}

impl Signable {
    /// Returns the transaction.
    pub fn transaction(&self) -> &Unsigned {
        &self.transaction
    }

    /// Signs each message of the transaction with `by`. Returns the transaction with the signatures in
    /// hexadecimal digits without `0x`.
    ///
    /// # Errors
    /// The first error of `by`.
    pub fn sign<E>(&self, mut by: impl FnMut(&Message) -> Result<Signature, E>) -> Result<String, E> {
        let sign = |slot: &Slot| Ok((slot.index, by(&slot.message)?));
        let signatures = self.slots.iter().map(sign).collect::<Result<Vec<_>, E>>()?;
        let bytes = match &self.transaction {
            Unsigned::Ethereum(transaction) => transaction.signed(&signatures),
            Unsigned::Solana(transaction) => transaction.signed(&signatures),
            Unsigned::Tron(transaction) => transaction.signed(&signatures),
            Unsigned::Bitcoin(transaction) => transaction.signed(&self.key, &signatures),
        };
        Ok(const_hex::encode(bytes))
    }

    /// Returns the root name and the facts that policies can query. `interfaces` decode calls of contracts.
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
    use super::{MAX_TRANSACTION_BYTES, Signer, TransactionType, Unsigned, UnsignedError};
    use crate::address::AddressFormat;
    use crate::curve::Curve;
    use crate::vectors::secret;

    const LEGACY: &str =
        "ec098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a764000080018080";

    #[test]
    fn accepts_hexadecimal_with_and_without_prefix() {
        let read = |text: &str| Unsigned::read(TransactionType::Ethereum, text);
        assert!(read(LEGACY).is_ok());
        assert_eq!(read(&format!("0x{LEGACY}")), read(&LEGACY.to_uppercase()));
        assert_eq!(read("0X00"), Err(UnsignedError::NotHexadecimal));
        assert_eq!(read(""), Err(UnsignedError::Empty));
        assert_eq!(read(&"0".repeat(2 * MAX_TRANSACTION_BYTES + 3)), Err(UnsignedError::TooLong));
        let key = secret(Curve::P256, &"11".repeat(32));
        let signer = Signer { key: key.public(), format: None };
        let error = read(LEGACY).and_then(|transaction| transaction.for_signer(&signer)).err();
        assert_eq!(error, Some(UnsignedError::Curve(Curve::P256)));
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
            assert_eq!(named_by(Some(format)), (!fits).then_some(UnsignedError::Chain(format)));
        }
        assert_eq!(named_by(None), None);
    }

    #[test]
    fn unsupported_types_have_their_own_error() {
        let kind = TransactionType::Tempo;
        assert_eq!(Unsigned::read(kind, LEGACY), Err(UnsignedError::Type(kind)));
    }
}
