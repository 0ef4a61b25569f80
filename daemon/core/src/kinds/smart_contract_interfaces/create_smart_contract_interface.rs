//! Registers the interface of a smart contract.

use quorate_chain::contract::{self, Abi, Idl};
use sha2::{Digest, Sha256};

use crate::error::Limit;
use crate::kinds::prelude::*;
use crate::limits::INTERFACE_BYTES;
use crate::model::InterfaceText;
use crate::model::smart_contract_interface::InterfaceType;

/// Longest text of an interface, in characters.
const INTERFACE: usize = 400_000;
/// Longest address, in bytes.
const ADDRESS: usize = 128;
/// Longest notes, in bytes.
const NOTES: usize = 4096;

/// Registers the interface of a smart contract: its ABI or IDL, with which calls to it can be decoded.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    smart_contract_address: Text<ADDRESS>,
    smart_contract_interface: Text<INTERFACE>,
    #[serde(rename = "type")]
    interface_type: InterfaceType,
    label: Label,
    #[serde(default)]
    notes: Text<NOTES>,
}

impl InterfaceType {
    /// Returns whether a text is an address on this platform.
    fn has_address(self, text: &str) -> bool {
        match self {
            Self::Ethereum => contract::ethereum_address(text).is_some(),
            Self::Solana => contract::solana_address(text).is_some(),
        }
    }

    /// Checks that a text is an interface for this platform.
    fn check(self, text: &str) -> Result<(), contract::InterfaceError> {
        match self {
            Self::Ethereum => Abi::parse(text).map(drop),
            Self::Solana => Idl::parse(text).map(drop),
        }
    }
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    smart_contract_interface_id: SmartContractInterfaceId,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE";
    const NUMBER: u16 = 93;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Create, Resource::SmartContractInterface));
    type Plan = ();
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        let (kind, address) = (self.interface_type, self.smart_contract_address.as_str());
        if !kind.has_address(address) {
            let text = "invalid request body: `smartContractAddress`: expected an address of its type";
            return Err(Wrong::Text(text).into());
        }
        kind.check(self.smart_contract_interface.as_str()).map_err(|error| {
            Wrong::Detail(format!("invalid request body: `smartContractInterface`: {error}"))
        })?;
        let present = &view.organization.records.smart_contract_interfaces;
        if present.iter().any(|one| one.interface_type == kind && one.is_at(address)) {
            return Err(Wrong::Text("smart contract address already has an interface").into());
        }
        view.check_room::<SmartContractInterface>(1)?;
        let size = present.iter().map(|one| one.size).fold(0, usize::saturating_add);
        if size.saturating_add(self.smart_contract_interface.as_str().len()) > INTERFACE_BYTES {
            return Err(Limit::Count("bytes of smart contract interfaces", INTERFACE_BYTES, None).into());
        }
        Ok(())
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        let text = self.smart_contract_interface.as_str();
        let interface = SmartContractInterface {
            id: SmartContractInterfaceId::random(context.random()),
            address: self.smart_contract_address.as_str().to_owned(),
            interface_type: self.interface_type,
            label: self.label,
            notes: self.notes.as_str().to_owned(),
            digest: const_hex::encode(Sha256::digest(text)),
            size: text.len(),
            created: context.now(),
        };
        let outcome = Outcome { smart_contract_interface_id: interface.id };
        context.change(Change::AddSmartContractInterface(interface, InterfaceText(text.to_owned())));
        Ok(outcome)
    }
}
