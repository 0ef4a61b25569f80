//! The smart contract interfaces of an organization, for decoding the transactions that it signs.

use std::cell::RefCell;
use std::sync::Arc;

use quorate_chain::contract::{self, Abi, Idl, Interfaces};

use super::View;
use crate::error::RequestError;
use crate::interfaces::Interface;
use crate::model::SmartContractInterface;
use crate::model::smart_contract_interface::InterfaceType;

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
        let found =
            self.view.organization.records.smart_contract_interfaces.iter().find(|one| matches(one))?;
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
            one.interface_type == InterfaceType::Ethereum
                && contract::ethereum_address(&one.address) == Some(*address)
        };
        self.find(matches)?.abi()
    }

    fn idl(&self, program: &str) -> Option<Arc<Idl>> {
        let matches = |one: &SmartContractInterface| {
            one.interface_type == InterfaceType::Solana && one.address == program
        };
        self.find(matches)?.idl()
    }
}
