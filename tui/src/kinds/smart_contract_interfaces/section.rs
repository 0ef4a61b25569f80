//! Smart contract interfaces.

use quorate_common::console::OrganizationDetail;
use quorate_common::wire::SmartContractInterface;

use crate::kinds::section::{Item, Row, Section, SectionData, cells};
use crate::text::{clean, date_time, quoted};

pub(in crate::kinds) const SECTION: Section =
    Section { name: "Contracts", count: |detail| detail.smart_contract_interfaces.len(), items: interfaces };

/// Returns the smart contract interfaces, without their texts.
fn interfaces(data: &SectionData<'_>) -> Vec<Item> {
    let item = |one: &SmartContractInterface| {
        let kind = clean(one.interface_type.trim_start_matches("SMART_CONTRACT_INTERFACE_TYPE_"));
        let notes = if one.notes.is_empty() { "none".to_owned() } else { clean(&one.notes) };
        let lines = vec![
            format!(
                "id        {} added {}",
                one.smart_contract_interface_id,
                date_time(one.created_at.millis())
            ),
            format!("contract  {kind} {}", clean(&one.smart_contract_address)),
            format!("notes     {notes}"),
        ];
        let row = cells([(&one.label, 18), (&kind, 8)], &one.smart_contract_address);
        Item::new(&one.label, row, lines)
    };
    data.detail.smart_contract_interfaces.iter().map(item).collect()
}

/// Returns the lines of `quorate org get`.
pub(in crate::kinds) fn lines(organization: &OrganizationDetail) -> Vec<Row> {
    let line = |one: &SmartContractInterface| {
        let (label, address) = (quoted(&one.label), clean(&one.smart_contract_address));
        ("contract", format!("{} {label} {address}", one.smart_contract_interface_id))
    };
    organization.smart_contract_interfaces.iter().map(line).collect()
}
