//! The interface of a smart contract. Its text may be long, so it is a record of its own.

use quorate_common::bounded::Label;
use quorate_common::ids::{OrganizationId, SmartContractInterfaceId};
use quorate_common::wire::{self, SmartContractInterfaceReference, Timestamp};
use serde::{Deserialize, Serialize};

use super::Millis;
use super::layout::Entity;
use super::record::Record;
use super::shelf::shelved;

/// The type of interfaces that are an ABI.
pub const ETHEREUM: &str = "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM";
/// The type of interfaces that are an IDL.
pub const SOLANA: &str = "SMART_CONTRACT_INTERFACE_TYPE_SOLANA";

/// An interface without its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SmartContractInterface {
    /// Id.
    pub id: SmartContractInterfaceId,
    /// Address of the contract or program, as given.
    pub address: String,
    /// `SMART_CONTRACT_INTERFACE_TYPE_*`.
    pub interface_type: String,
    /// Name.
    pub label: Label,
    /// Notes.
    pub notes: String,
    /// SHA-256 of the text, hex.
    pub digest: String,
    /// Length of the text, in bytes.
    pub size: usize,
    /// Created at.
    pub created: Millis,
}

impl Record for SmartContractInterface {
    const NOUN: &'static str = "smart contract interface";
}

shelved!(
    SmartContractInterface,
    SmartContractInterfaceId,
    Entity::SmartContractInterface,
    smart_contract_interfaces
);

/// The text of an interface: JSON of an ABI or IDL.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InterfaceText(pub String);

impl Record for InterfaceText {
    const NOUN: &'static str = "interface text";
}

impl SmartContractInterface {
    /// Whether it is for the contract with this address. Ethereum has several ways to write one, Solana has one.
    pub fn is_at(&self, address: &str) -> bool {
        match self.interface_type.as_str() {
            ETHEREUM => self.address.eq_ignore_ascii_case(address),
            _ => self.address == address,
        }
    }

    /// As queries show it, with its text or without.
    pub fn wire(&self, organization: OrganizationId, text: InterfaceText) -> wire::SmartContractInterface {
        wire::SmartContractInterface {
            organization_id: organization,
            smart_contract_interface_id: self.id,
            smart_contract_address: self.address.clone(),
            smart_contract_interface: text.0,
            interface_type: self.interface_type.clone(),
            label: self.label.to_string(),
            notes: self.notes.clone(),
            created_at: Timestamp::of_millis(self.created),
            updated_at: Timestamp::of_millis(self.created),
        }
    }

    /// By what it is.
    pub fn reference(&self) -> SmartContractInterfaceReference {
        SmartContractInterfaceReference {
            smart_contract_interface_id: self.id,
            smart_contract_address: self.address.clone(),
            digest: self.digest.clone(),
        }
    }
}
