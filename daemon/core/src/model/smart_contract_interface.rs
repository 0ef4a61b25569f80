//! Interfaces of smart contracts. The text may be long, so it is a separate record.

use quorate_common::bounded::Label;
use quorate_common::ids::{OrganizationId, SmartContractInterfaceId};
use quorate_common::wire::{self, SmartContractInterfaceReference, Timestamp};
use quorate_common::wire_enum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Millis;
use super::record::Record;

wire_enum! {
    /// Platform of a smart contract.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum InterfaceType {
        /// Ethereum; the interface is an ABI.
        Ethereum = "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM",
        /// Solana; the interface is an IDL.
        Solana = "SMART_CONTRACT_INTERFACE_TYPE_SOLANA",
    }
}

/// An interface without its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SmartContractInterface {
    /// Id.
    pub id: SmartContractInterfaceId,
    /// Address of the contract or program, as given.
    pub address: String,
    /// Platform of the contract.
    pub interface_type: InterfaceType,
    /// Name.
    pub label: Label,
    /// Notes of the author.
    pub notes: String,
    /// SHA-256 of the text, hex.
    pub digest: String,
    /// Length of the text, in bytes.
    pub size: usize,
    /// Time of creation.
    pub created: Millis,
}

/// The text of an interface: JSON of an ABI or IDL.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InterfaceText(pub String);

impl Record for InterfaceText {
    const NOUN: &'static str = "interface text";
}

impl SmartContractInterface {
    /// Returns whether the interface belongs to the contract with this address. Addresses of Ethereum are
    /// compared without case, those of Solana exactly.
    pub fn is_at(&self, address: &str) -> bool {
        match self.interface_type {
            InterfaceType::Ethereum => self.address.eq_ignore_ascii_case(address),
            InterfaceType::Solana => self.address == address,
        }
    }

    /// Converts to the wire form, with this text.
    pub fn wire(&self, organization: OrganizationId, text: InterfaceText) -> wire::SmartContractInterface {
        wire::SmartContractInterface {
            organization_id: organization,
            smart_contract_interface_id: self.id,
            smart_contract_address: self.address.clone(),
            smart_contract_interface: text.0,
            interface_type: self.interface_type.name().to_owned(),
            label: self.label.to_string(),
            notes: self.notes.clone(),
            created_at: Timestamp::from_millis(self.created),
            updated_at: Timestamp::from_millis(self.created),
        }
    }

    /// Converts to a reference: the id, the address and the digest of the text.
    pub fn reference(&self) -> SmartContractInterfaceReference {
        SmartContractInterfaceReference {
            smart_contract_interface_id: self.id,
            smart_contract_address: self.address.clone(),
            digest: self.digest.clone(),
        }
    }
}
