//! Why a PSBT is not signed.

use bitcoin::psbt::Error;

use super::{MAX_HASHED_BYTES, MAX_INPUTS};

/// Why bytes are no PSBT that a key can sign. Inputs are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// They do not begin as one.
    #[error("it is no PSBT")]
    NotPsbt,
    /// It is of a version other than 0 (BIP-370).
    #[error("it is a PSBT of another version than 0")]
    Version,
    /// What every PSBT of version 0 has is missing.
    #[error("it is a PSBT without an unsigned transaction")]
    NoTransaction,
    /// The transaction in it has signatures.
    #[error("its transaction is signed already")]
    Signed,
    /// A map has the same key twice.
    #[error("it states something twice")]
    Twice,
    /// It begins as a PSBT, and what follows cannot be read.
    #[error("it is not a well-formed PSBT")]
    Malformed,
    /// It can be read, and would be written in another way than by the order of keys: bytes behind the end, or values
    /// that have another form.
    #[error("it has bytes behind its end, or is not written the one way there is")]
    NotCanonical,
    /// More inputs than [`MAX_INPUTS`].
    #[error("it has more than {MAX_INPUTS} inputs")]
    Inputs,
    /// It pays nobody.
    #[error("it has no outputs: all that it spends would be its fee")]
    Outputs,
    /// Its size times its inputs without a witness is too much to hash.
    #[error("its inputs without a witness take more than {MAX_HASHED_BYTES} bytes to hash")]
    Hashing,
    /// Two inputs spend the same.
    #[error("input {0} spends what another input spends")]
    SpentTwice(usize),
    /// The previous transaction is another one than the input spends from, or has no such output.
    #[error("the non_witness_utxo of input {0} is not what it spends from")]
    Previous(usize),
    /// The previous transaction and the output beside it differ.
    #[error("the witness_utxo and the non_witness_utxo of input {0} differ")]
    Utxo(usize),
    /// The outputs are worth more than the inputs, or either more than there will ever be.
    #[error("it pays out more than it takes in, or more than there is")]
    Amounts,
    /// No input is one of the key.
    #[error("none of its inputs belongs to the key")]
    NotAsked,
    /// An input is one of the key, and spent in a way that is not signed: P2SH around a witness, or a script of Taproot.
    #[error("input {0} is spent in a way that is not supported")]
    Unsupported(usize),
    /// An input of the key lacks what is needed to sign it.
    #[error("input {0} has no {1}")]
    Missing(usize, &'static str),
    /// An input of the key is of Taproot, whose signatures cover what every input spends (BIP-341), and one does not say it.
    #[error("input {0} cannot be signed unless every input says what it spends")]
    Silent(usize),
    /// An input of the key has what contradicts its kind.
    #[error("input {0} must not have {1}")]
    Forbidden(usize, &'static str),
    /// The script of an input is another one than it pays to, has `OP_CODESEPARATOR`, or cannot be read.
    #[error("the {1} of input {0} does not fit")]
    Script(usize, &'static str),
    /// An input asks for another sighash type than ALL, or DEFAULT for Taproot.
    #[error("input {0} asks for a sighash type that is not supported")]
    SighashType(usize),
}

impl Flaw {
    /// The library's own words are not used: they repeat what was sent.
    pub(super) fn of(error: &Error) -> Self {
        match error {
            Error::InvalidMagic | Error::InvalidSeparator => Self::NotPsbt,
            Error::Version(_) => Self::Version,
            Error::MustHaveUnsignedTx => Self::NoTransaction,
            Error::UnsignedTxHasScriptSigs | Error::UnsignedTxHasScriptWitnesses => Self::Signed,
            Error::DuplicateKey(_) => Self::Twice,
            _ => Self::Malformed,
        }
    }
}
