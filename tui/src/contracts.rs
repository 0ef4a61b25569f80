//! Smart contract interfaces as the daemon states them. Whether an interface describes the contract at its
//! address is not verified: the console relies on the user who uploaded it.

use std::sync::Arc;

use quorate_chain::contract::{Abi, Idl, Interfaces, Line, ethereum_address};
use quorate_common::wire::SmartContractInterface;

use crate::text::{clean, quoted};

/// Type of an Ethereum ABI.
const ETHEREUM: &str = "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM";
/// Type of a Solana IDL.
const SOLANA: &str = "SMART_CONTRACT_INTERFACE_TYPE_SOLANA";

/// Contract interfaces stated by the daemon. Lookups skip interfaces that come without their text.
pub(crate) struct StatedInterfaces<'a>(Vec<&'a SmartContractInterface>);

impl<'a> StatedInterfaces<'a> {
    pub(crate) fn of(interfaces: impl IntoIterator<Item = &'a SmartContractInterface>) -> Self {
        Self(interfaces.into_iter().collect())
    }

    /// Returns the interface of the Ethereum contract at this address.
    pub(crate) fn ethereum(&self, address: &[u8; 20]) -> Option<&'a SmartContractInterface> {
        let is_it =
            |one: &SmartContractInterface| ethereum_address(&one.smart_contract_address) == Some(*address);
        self.find(ETHEREUM, is_it)
    }

    /// Returns the interface of the Solana program at this address.
    pub(crate) fn solana(&self, program: &str) -> Option<&'a SmartContractInterface> {
        self.find(SOLANA, |one| one.smart_contract_address == program)
    }

    fn find(
        &self,
        interface_type: &str,
        is_it: impl Fn(&SmartContractInterface) -> bool,
    ) -> Option<&'a SmartContractInterface> {
        let mut of_type = self.0.iter().filter(|one| one.interface_type == interface_type);
        of_type.find(|one| !one.smart_contract_interface.is_empty() && is_it(one)).copied()
    }
}

/// Formats a call argument for display. Strings are quoted because they can contain anything.
pub(crate) fn argument(line: &Line) -> String {
    if line.kind == "string" { quoted(&line.text) } else { clean(&line.text) }
}

impl Interfaces for StatedInterfaces<'_> {
    fn abi(&self, address: &[u8; 20]) -> Option<Arc<Abi>> {
        Abi::parse(&self.ethereum(address)?.smart_contract_interface).ok().map(Arc::new)
    }

    fn idl(&self, program: &str) -> Option<Arc<Idl>> {
        Idl::parse(&self.solana(program)?.smart_contract_interface).ok().map(Arc::new)
    }
}
