//! Smart contract interfaces: at most one for each address of a chain, created and deleted.

use serde_json::{Value, json};

use super::{Move, text};
use crate::model::chooser::Chooser;
use crate::model::objections::{Code, Objections};
use crate::model::world::{ContractInterface, Organization};

const INTERFACES: usize = 100;
/// Maximum length of an interface, in characters.
const LONGEST: usize = 400_000;
/// Length of an interface that exceeds one record of the store, in characters.
const LONG: usize = 60_000;
const UNKNOWN_INTERFACE: &str = "no smart contract interface found";

const ETHEREUM: &str = "ETHEREUM";
/// Addresses by chain: few, so that some are in use and some are free again.
const ADDRESSES: [(&str, &[&str]); 2] = [
    (
        ETHEREUM,
        &[
            "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48",
            "0xA0B86991C6218B36C1D19D4A2E9EB0CE3606EB48",
            "0xdac17f958d2ee523a2206206994597c13d831ec7",
            "0x00000000000000000000000000000000deadbeef",
            "0x00000000000000000000000000000000DeadBeef",
            "0x6b175474e89094c44da98b954eedeac495271d0f",
        ],
    ),
    (
        "SOLANA",
        &[
            "11111111111111111111111111111111",
            "JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4",
            "So11111111111111111111111111111111111111112",
            "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
        ],
    ),
];

struct Create {
    chain: &'static str,
    address: &'static str,
    text: String,
    label: String,
    notes: &'static str,
    /// Whether the address belongs to the other chain.
    is_mismatched: bool,
    /// Whether the text is neither an ABI nor an IDL.
    is_invalid: bool,
}

pub(super) fn create(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let (own, other) = if chooser.choices.one_in(2) { (0, 1) } else { (1, 0) };
    let is_mismatched = chooser.rarely();
    let address = chooser.one(ADDRESSES[if is_mismatched { other } else { own }].1);
    let chain = ADDRESSES[own].0;
    let is_invalid = chooser.rarely();
    let text = if is_invalid { invalid_text(chooser) } else { valid_text(chooser, chain) };
    let label = chooser.name("contract");
    Box::new(Create {
        chain,
        address,
        text,
        label,
        notes: chooser.one(&["", "a note"]),
        is_mismatched,
        is_invalid,
    })
}

/// Returns a text that is not JSON, not an ABI, or too long.
fn invalid_text(chooser: &mut Chooser<'_>) -> String {
    match chooser.choices.below(4) {
        0 => String::new(),
        1 => String::from("[{]"),
        2 => String::from("\"transfer\""),
        _ => format!("[{}]", " ".repeat(LONGEST)),
    }
}

fn valid_text(chooser: &mut Chooser<'_>, chain: &str) -> String {
    let padding = if chooser.choices.one_in(12) { " ".repeat(LONG) } else { String::new() };
    let name = format!("transfer{}", chooser.number());
    if chain == ETHEREUM {
        format!("[{{\"type\": \"function\", \"name\": \"{name}\", \"inputs\": []}}{padding}]")
    } else {
        format!(
            "{{\"instructions\": [{{\"name\": \"{name}\", \"accounts\": [], \"args\": []}}], \"types\": []{padding}}}"
        )
    }
}

impl Create {
    /// Returns whether an interface is for the same contract: Ethereum has two notations of an address,
    /// Solana has one.
    fn is_for(&self, other: &ContractInterface) -> bool {
        let is_same = other.address == self.address;
        let is_alike = other.address.eq_ignore_ascii_case(self.address);
        other.chain == self.chain && (is_same || (self.chain == ETHEREUM && is_alike))
    }
}

impl Move for Create {
    fn name(&self) -> &'static str {
        "CREATE_SMART_CONTRACT_INTERFACE"
    }

    fn result_name(&self) -> &'static str {
        "createSmartContractInterfaceResult"
    }

    fn parameters(&self) -> Value {
        json!({
            "smartContractAddress": self.address,
            "smartContractInterface": self.text,
            "type": format!("SMART_CONTRACT_INTERFACE_TYPE_{}", self.chain),
            "label": self.label,
            "notes": self.notes,
        })
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        objections.label(&self.label);
        objections.invalid(self.is_mismatched || self.is_invalid, "");
        let is_taken = organization.contract_interfaces.iter().any(|other| self.is_for(other));
        // A duplicate is rejected, but the API does not specify the code.
        objections.invalid(is_taken, "");
        objections.when(is_taken, Code::AlreadyExists, "");
        objections.capacity(organization.contract_interfaces.len(), 1, INTERFACES, "");
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        organization.contract_interfaces.push(ContractInterface {
            id: text(&result["smartContractInterfaceId"]),
            address: self.address.to_owned(),
            chain: self.chain,
            text: self.text.clone(),
            label: self.label.clone(),
            notes: self.notes,
        });
    }
}

struct Delete {
    id: String,
}

pub(super) fn delete(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    Box::new(Delete { id: chooser.id(&chooser.organization().contract_interface_ids()) })
}

impl Move for Delete {
    fn name(&self) -> &'static str {
        "DELETE_SMART_CONTRACT_INTERFACE"
    }

    fn result_name(&self) -> &'static str {
        "deleteSmartContractInterfaceResult"
    }

    fn parameters(&self) -> Value {
        json!({ "smartContractInterfaceId": self.id })
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        let is_there = organization.contract_interface_ids().contains(&self.id);
        objections.exists(&self.id, is_there, UNKNOWN_INTERFACE);
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        assert_eq!(*result, json!({ "smartContractInterfaceId": self.id }));
        organization.contract_interfaces.retain(|interface| interface.id != self.id);
        organization.deleted_ids.push(self.id.clone());
    }
}
