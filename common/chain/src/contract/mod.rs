//! Interfaces of smart contracts, which decode the bytes of a call.
//!
//! Ethereum calls are decoded with an ABI, Solana instructions with an Anchor IDL. An interface is an
//! unverified statement of its uploader: nothing here proves that it describes the contract. Decoding never
//! panics on any text or bytes, and it is bounded by the limits of this module.

mod abi;
mod argument;
mod idl;
mod json;
mod layout;

use std::sync::Arc;

pub use abi::{Abi, Call};
pub use argument::{Line, Lines, MAX_LINES};
pub use idl::{Idl, Instruction, MAX_INSTRUCTION_BYTES};

pub use crate::address::{ethereum_address, solana_address};

/// Maximum length of the text of an interface, in characters.
pub const MAX_INTERFACE: usize = 400_000;
/// Maximum length of the name of a function, an argument, an account or a type, in bytes.
const MAX_NAME: usize = 256;

/// Finds interfaces by the address of their contract.
pub trait Interfaces {
    /// Returns the ABI of the contract with this address, if there is one.
    fn abi(&self, address: &[u8; 20]) -> Option<Arc<Abi>>;

    /// Returns the IDL of the program with this base58 address, if there is one.
    fn idl(&self, program: &str) -> Option<Arc<Idl>>;
}

/// An implementation of [`Interfaces`] without any interface.
#[derive(Clone, Copy, Debug)]
pub struct NoInterfaces;

impl Interfaces for NoInterfaces {
    fn abi(&self, _: &[u8; 20]) -> Option<Arc<Abi>> {
        None
    }

    fn idl(&self, _: &str) -> Option<Arc<Idl>> {
        None
    }
}

/// Error returned for an invalid interface, or for an instruction that an interface cannot decode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InterfaceError {
    /// The text is longer than [`MAX_INTERFACE`].
    #[error("longer than {MAX_INTERFACE} characters")]
    TooLong,
    /// The text is not JSON, has a duplicate member, or nests too deep.
    #[error("not JSON, or it has a duplicate member, or it nests too deep")]
    NotJson,
    /// The ABI is not a list.
    #[error("not an ABI: expected a list")]
    NotAList,
    /// The IDL is not an object with the two required lists. Holds the name of the missing one.
    #[error("not an IDL: the list `{0}` is missing")]
    MissingList(&'static str),
    /// An entry is invalid.
    #[error("{noun} {number}: {rule}")]
    Entry {
        /// Kind of entry, such as `instruction`.
        noun: &'static str,
        /// Number of the entry in its list, starting at 1.
        number: usize,
        /// What is wrong with the entry.
        rule: &'static str,
    },
    /// Two different functions have the same selector.
    #[error("two different functions have the selector 0x{}", const_hex::encode(.0))]
    SameSelector([u8; 4]),
    /// No instruction of the interface has the discriminator of the data.
    #[error("the interface has no instruction with this discriminator")]
    UnknownInstruction,
    /// The data of the instruction is longer than [`MAX_INSTRUCTION_BYTES`].
    #[error("instruction data longer than {MAX_INSTRUCTION_BYTES} bytes")]
    TooLongInstruction,
    /// The instruction has fewer accounts than the interface lists.
    #[error("instruction with fewer accounts than its interface lists")]
    TooFewAccounts,
    /// The arguments do not match the interface. Holds the reason.
    #[error("{0}")]
    Arguments(&'static str),
}

impl InterfaceError {
    /// Returns the error of the entry with an index in its list.
    fn entry(noun: &'static str, index: usize, rule: &'static str) -> Self {
        Self::Entry { noun, number: index.saturating_add(1), rule }
    }
}

/// Returns whether a text is an identifier: ASCII letters, digits, `_` and `$`, not starting with a digit.
fn is_name(text: &str) -> bool {
    let is_of_names = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$';
    let starts = text.bytes().next().is_some_and(|first| !first.is_ascii_digit());
    starts && text.len() <= MAX_NAME && text.bytes().all(is_of_names)
}
