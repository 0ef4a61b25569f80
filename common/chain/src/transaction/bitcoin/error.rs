//! Errors of PSBTs.

use bitcoin::psbt::Error;

use super::{MAX_HASHED_BYTES, MAX_INPUTS};

/// Error returned for bytes that are not a PSBT that a key can sign. Inputs are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BitcoinError {
    /// The bytes do not start with the magic bytes of a PSBT.
    #[error("not a PSBT (BIP-174)")]
    NotPsbt,
    /// The PSBT has another version than 0 (BIP-370).
    #[error("PSBT has an unsupported version: expected version 0")]
    Version,
    /// The unsigned transaction, which version 0 requires, is missing.
    #[error("PSBT has no unsigned transaction")]
    NoTransaction,
    /// The contained transaction has signatures.
    #[error("transaction in the PSBT is already signed")]
    Signed,
    /// A map has a duplicate key.
    #[error("PSBT has a duplicate key")]
    DuplicateKey,
    /// The bytes after the magic bytes cannot be parsed.
    #[error("PSBT is malformed")]
    Malformed,
    /// The encoding is not canonical in more than the order of keys: bytes follow the end, or values have
    /// another encoding.
    #[error("PSBT is not in canonical form, or bytes follow its end")]
    NotCanonical,
    /// There are more inputs than [`MAX_INPUTS`].
    #[error("more than {MAX_INPUTS} inputs")]
    Inputs,
    /// There are no outputs.
    #[error("no outputs: the whole value of the inputs would be the fee")]
    Outputs,
    /// The size of the transaction times the number of its inputs without a witness is too large to hash.
    #[error("inputs without a witness take more than {MAX_HASHED_BYTES} bytes to hash")]
    Hashing,
    /// Two inputs spend the same output.
    #[error("input {0} spends the same output as another input")]
    DuplicateInput(usize),
    /// The previous transaction is not the one that the input spends from, or has no such output.
    #[error("the non_witness_utxo of input {0} does not match the output that it spends")]
    Previous(usize),
    /// The previous transaction and the stated output differ.
    #[error("the witness_utxo and the non_witness_utxo of input {0} differ")]
    Utxo(usize),
    /// The outputs are worth more than the inputs, or an amount exceeds the maximum supply.
    #[error("outputs exceed the inputs, or an amount exceeds the supply of bitcoin")]
    Amounts,
    /// No input belongs to the key.
    #[error("none of its inputs belongs to the key")]
    NoOwnInput,
    /// An input of the key is spent in an unsupported way: a witness nested in P2SH, or a Taproot script.
    #[error("input {0} is spent in a way that is not supported")]
    Unsupported(usize),
    /// An input of the key lacks a field that signing needs. Holds the name of the field.
    #[error("input {0} has no {1}")]
    Missing(usize, &'static str),
    /// A Taproot input of the key cannot be signed, because another input does not state the output that it
    /// spends. Taproot signatures cover the outputs spent by every input (BIP-341).
    #[error("input {0} cannot be signed unless every input states the output that it spends")]
    MissingUtxo(usize),
    /// An input of the key has a field that contradicts its script type. Holds the name of the field.
    #[error("input {0} must not have {1}")]
    Forbidden(usize, &'static str),
    /// The script of an input does not match the spent output, has `OP_CODESEPARATOR`, or cannot be parsed.
    #[error("the {1} of input {0} does not fit")]
    Script(usize, &'static str),
    /// An input requests another sighash type than ALL, or than DEFAULT for Taproot.
    #[error("input {0} has a sighash type that is not supported")]
    SighashType(usize),
}

impl BitcoinError {
    /// Converts an error of the library. The library's own messages are not used, because they repeat the
    /// input.
    pub(super) fn of(error: &Error) -> Self {
        match error {
            Error::InvalidMagic | Error::InvalidSeparator => Self::NotPsbt,
            Error::Version(_) => Self::Version,
            Error::MustHaveUnsignedTx => Self::NoTransaction,
            Error::UnsignedTxHasScriptSigs | Error::UnsignedTxHasScriptWitnesses => Self::Signed,
            Error::DuplicateKey(_) => Self::DuplicateKey,
            _ => Self::Malformed,
        }
    }
}
