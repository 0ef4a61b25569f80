//! The smart contract interfaces of an organization, for decoding the transactions that it signs.

use std::cell::RefCell;
use std::sync::Arc;

use quorate_chain::contract::{self, Abi, Idl, Interfaces};

use crate::error::RequestError;
use crate::model::SmartContractInterface;
use crate::model::smart_contract_interface::{ETHEREUM, SOLANA};
use crate::view::View;

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
    pub fn parse(interface_type: &str, text: &str) -> Self {
        Self { definition: Definition::parse(interface_type, text), text: text.len() }
    }

    /// Returns the approximate memory of the interface in bytes.
    pub const fn bytes(&self) -> usize {
        self.text.saturating_mul(BYTES_PER_BYTE_OF_TEXT).saturating_add(size_of::<Self>())
    }
}

impl Definition {
    fn parse(interface_type: &str, text: &str) -> Self {
        match interface_type {
            ETHEREUM => Abi::parse(text).map_or(Self::Nothing, |abi| Self::Abi(Arc::new(abi))),
            SOLANA => Idl::parse(text).map_or(Self::Nothing, |idl| Self::Idl(Arc::new(idl))),
            _ => Self::Nothing,
        }
    }
}

/// The interfaces of the organization acted upon. An error of a lookup is kept, and must be checked after all
/// lookups: a decision must not rely on incomplete facts.
pub struct KnownInterfaces<'a> {
    view: &'a View<'a>,
    failure: RefCell<Option<RequestError>>,
}

impl<'a> KnownInterfaces<'a> {
    /// Creates the lookup for the organization of a view.
    pub fn of(view: &'a View<'a>) -> Self {
        Self { view, failure: RefCell::new(None) }
    }

    /// Checks that no lookup failed.
    ///
    /// # Errors
    /// The error of the last lookup that failed.
    pub fn check(self) -> Result<(), RequestError> {
        self.failure.into_inner().map_or(Ok(()), Err)
    }

    fn find(&self, matches: impl Fn(&SmartContractInterface) -> bool) -> Option<Arc<Interface>> {
        let found = self.view.organization.smart_contract_interfaces.iter().find(|one| matches(one))?;
        match self.view.interface(found) {
            Ok(interface) => Some(interface),
            Err(error) => {
                self.failure.replace(Some(error));
                None
            }
        }
    }
}

impl Interfaces for KnownInterfaces<'_> {
    fn abi(&self, address: &[u8; 20]) -> Option<Arc<Abi>> {
        let matches = |one: &SmartContractInterface| {
            one.interface_type == ETHEREUM && contract::ethereum_address(&one.address) == Some(*address)
        };
        match &self.find(matches)?.definition {
            Definition::Abi(abi) => Some(Arc::clone(abi)),
            _ => None,
        }
    }

    fn idl(&self, program: &str) -> Option<Arc<Idl>> {
        let matches = |one: &SmartContractInterface| one.interface_type == SOLANA && one.address == program;
        match &self.find(matches)?.definition {
            Definition::Idl(idl) => Some(Arc::clone(idl)),
            _ => None,
        }
    }
}
