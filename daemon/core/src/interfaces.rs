//! Parsed smart contract interfaces, which decode calls.

use std::sync::Arc;

use quorate_chain::contract::{Abi, Idl};

use crate::model::smart_contract_interface::InterfaceType;

/// A parsed interface.
#[derive(Debug)]
pub struct Interface {
    definition: Definition,
    /// Length of its text, in bytes.
    text: usize,
}

/// The content of an interface.
#[derive(Debug)]
enum Definition {
    /// Describes calls of an Ethereum contract.
    Abi(Arc<Abi>),
    /// Describes instructions of a Solana program.
    Idl(Arc<Idl>),
    /// Describes nothing: the text was deleted, or was accepted under less strict rules.
    Nothing,
}

/// Approximate memory of a parsed interface, in bytes for each byte of its text.
const BYTES_PER_BYTE_OF_TEXT: usize = 8;

impl Interface {
    /// Parses the text of an interface of this type.
    pub fn parse(interface_type: InterfaceType, text: &str) -> Self {
        let definition = match interface_type {
            InterfaceType::Ethereum => Abi::parse(text).ok().map(|abi| Definition::Abi(Arc::new(abi))),
            InterfaceType::Solana => Idl::parse(text).ok().map(|idl| Definition::Idl(Arc::new(idl))),
        };
        Self { definition: definition.unwrap_or(Definition::Nothing), text: text.len() }
    }

    /// Returns the approximate memory of the interface in bytes.
    pub const fn bytes(&self) -> usize {
        self.text.saturating_mul(BYTES_PER_BYTE_OF_TEXT).saturating_add(size_of::<Self>())
    }

    /// Returns the description of an Ethereum contract, if it is one.
    pub(crate) fn abi(&self) -> Option<Arc<Abi>> {
        match &self.definition {
            Definition::Abi(abi) => Some(Arc::clone(abi)),
            _ => None,
        }
    }

    /// Returns the description of a Solana program, if it is one.
    pub(crate) fn idl(&self) -> Option<Arc<Idl>> {
        match &self.definition {
            Definition::Idl(idl) => Some(Arc::clone(idl)),
            _ => None,
        }
    }
}
