//! The interfaces of smart contracts that an organization has, as what it signs asks for them.

use std::cell::RefCell;
use std::sync::Arc;

use quorate_chain::contract::{self, Abi, Idl, Interfaces};

use crate::model::SmartContractInterface;
use crate::model::smart_contract_interface::{ETHEREUM, SOLANA};
use crate::refusal::Refusal;
use crate::view::View;

/// An interface that was read.
#[derive(Debug)]
pub struct Interface {
    told: Told,
    /// Length of its text, in bytes.
    text: usize,
}

/// What an interface says.
#[derive(Debug)]
enum Told {
    /// By which calls of Ethereum are told.
    Abi(Arc<Abi>),
    /// By which instructions of Solana are told.
    Idl(Arc<Idl>),
    /// It tells nothing: its text is gone, or was taken when less was asked of it.
    Nothing,
}

/// What a read interface takes in memory for each byte of its text, roughly.
const BYTES_PER_BYTE_OF_TEXT: usize = 8;

impl Interface {
    /// Reads the text of an interface of this type.
    pub fn parse(interface_type: &str, text: &str) -> Self {
        Self { told: Told::parse(interface_type, text), text: text.len() }
    }

    /// Roughly how many bytes it takes in memory.
    pub const fn bytes(&self) -> usize {
        self.text.saturating_mul(BYTES_PER_BYTE_OF_TEXT).saturating_add(size_of::<Self>())
    }
}

impl Told {
    fn parse(interface_type: &str, text: &str) -> Self {
        match interface_type {
            ETHEREUM => Abi::parse(text).map_or(Self::Nothing, |abi| Self::Abi(Arc::new(abi))),
            SOLANA => Idl::parse(text).map_or(Self::Nothing, |idl| Self::Idl(Arc::new(idl))),
            _ => Self::Nothing,
        }
    }
}

/// The interfaces of the organization acted upon. What fails while they are looked up is kept, and must be asked for
/// once all look-ups are done: facts that lack something are none to decide by.
pub struct Known<'a> {
    view: &'a View<'a>,
    failure: RefCell<Option<Refusal>>,
}

impl<'a> Known<'a> {
    /// To whom this view is open.
    pub fn of(view: &'a View<'a>) -> Self {
        Self { view, failure: RefCell::new(None) }
    }

    /// Nothing failed.
    pub fn check(self) -> Result<(), Refusal> {
        self.failure.into_inner().map_or(Ok(()), Err)
    }

    fn find(&self, is_it: impl Fn(&SmartContractInterface) -> bool) -> Option<Arc<Interface>> {
        let found = self.view.organization.smart_contract_interfaces.iter().find(|one| is_it(one))?;
        match self.view.interface(found) {
            Ok(interface) => Some(interface),
            Err(refusal) => {
                self.failure.replace(Some(refusal));
                None
            }
        }
    }
}

impl Interfaces for Known<'_> {
    fn abi(&self, address: &[u8; 20]) -> Option<Arc<Abi>> {
        let is_it = |one: &SmartContractInterface| {
            one.interface_type == ETHEREUM && contract::ethereum_address(&one.address) == Some(*address)
        };
        match &self.find(is_it)?.told {
            Told::Abi(abi) => Some(Arc::clone(abi)),
            _ => None,
        }
    }

    fn idl(&self, program: &str) -> Option<Arc<Idl>> {
        let is_it = |one: &SmartContractInterface| one.interface_type == SOLANA && one.address == program;
        match &self.find(is_it)?.told {
            Told::Idl(idl) => Some(Arc::clone(idl)),
            _ => None,
        }
    }
}
