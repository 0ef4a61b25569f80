//! Interfaces of smart contracts.

use super::prelude::*;
use crate::error::Corrupt;
use crate::records;

mod get_smart_contract_interface;
mod list_smart_contract_interfaces;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<get_smart_contract_interface::GetSmartContractInterface>(
        "get_smart_contract_interface",
        "smartContractInterface",
    ),
    entry::<list_smart_contract_interfaces::ListSmartContractInterfaces>(
        "list_smart_contract_interfaces",
        "smartContractInterfaces",
    ),
];

/// Returns an interface with its text, or `None` if the text was deleted since the snapshot was read.
fn with_text(
    context: &QueryContext<'_>,
    interface: &SmartContractInterface,
) -> Result<Option<wire::SmartContractInterface>, Corrupt> {
    let text = records::interface_text(context.world.records(), context.id(), interface.id)?;
    Ok(text.map(|text| interface.wire(context.id(), text)))
}
