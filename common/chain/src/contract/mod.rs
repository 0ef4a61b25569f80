//! Interfaces of smart contracts: what the bytes of a call mean, by what the makers of the contract publish.
//!
//! Calls of Ethereum are read by an ABI, instructions of Solana by an IDL of Anchor. An interface is stated by whoever
//! uploads it: nothing here proves that the contract is the one that it describes. Total on any text and bytes, and bounded
//! by the limits of this room.

mod abi;
mod address;
mod argument;
mod idl;
mod json;
mod layout;

use std::sync::Arc;

pub use abi::{Abi, Call};
pub use address::{ethereum_address, solana_address};
pub use argument::{Line, Lines, MAX_LINES};
pub use idl::{Idl, Instruction, MAX_INSTRUCTION_BYTES};

/// Longest text of an interface, in characters.
pub const MAX_INTERFACE: usize = 400_000;
/// Longest name of a function, an argument, an account or a type, in bytes.
const MAX_NAME: usize = 256;

/// Finds interfaces by the contracts that they are for.
pub trait Interfaces {
    /// The interface of the contract with this address.
    fn abi(&self, address: &[u8; 20]) -> Option<Arc<Abi>>;

    /// The interface of the program with this address, in base58.
    fn idl(&self, program: &str) -> Option<Arc<Idl>>;
}

/// Where no contract has an interface.
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

/// Why a text is no interface, or an instruction cannot be read by one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// It is longer than [`MAX_INTERFACE`].
    #[error("it is longer than {MAX_INTERFACE} characters")]
    TooLong,
    /// It is not JSON, has a member twice, or nests too deep.
    #[error("it is not JSON, or says something twice, or nests too deep")]
    NotJson,
    /// An ABI is a list.
    #[error("an ABI is a list")]
    NotAList,
    /// An IDL is an object with two lists. Holds the name of the one that is not there.
    #[error("an IDL has a list `{0}`")]
    NoList(&'static str),
    /// An entry breaks a rule.
    #[error("{noun} {number}: {rule}")]
    Entry {
        /// What it is an entry of.
        noun: &'static str,
        /// Its place in its list; the first is 1.
        number: usize,
        /// The rule that it breaks.
        rule: &'static str,
    },
    /// Two functions that are not the same have one selector.
    #[error("two functions have the selector 0x{}", const_hex::encode(.0))]
    SameSelector([u8; 4]),
    /// No instruction begins as the data does.
    #[error("no instruction of the interface begins so")]
    UnknownInstruction,
    /// The data of the instruction is longer than [`MAX_INSTRUCTION_BYTES`].
    #[error("the instruction is longer than {MAX_INSTRUCTION_BYTES} bytes")]
    TooLongInstruction,
    /// The instruction has fewer accounts than the interface lists.
    #[error("the instruction has fewer accounts than its interface lists")]
    TooFewAccounts,
    /// The arguments are not what the interface says. Holds how.
    #[error("{0}")]
    Arguments(&'static str),
}

/// A name that a compiler would take: ASCII letters, digits, `_` and `$`, without a digit at its front.
fn is_name(text: &str) -> bool {
    let is_of_names = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$';
    let starts = text.bytes().next().is_some_and(|first| !first.is_ascii_digit());
    starts && text.len() <= MAX_NAME && text.bytes().all(is_of_names)
}
