//! Smart contract interfaces.

use quorate_common::console::OrganizationDetail;
use quorate_common::wire::SmartContractInterface;

use crate::kinds::section::{Item, Listed, Row, SectionData, cells};
use crate::text::{clean, date_time, quoted};

impl Listed for SmartContractInterface {
    fn all(organization: &OrganizationDetail) -> &[Self] {
        &organization.smart_contract_interfaces
    }

    fn item(&self, _: &SectionData<'_>) -> Item {
        let kind = clean(self.interface_type.trim_start_matches("SMART_CONTRACT_INTERFACE_TYPE_"));
        let notes = if self.notes.is_empty() { "none".to_owned() } else { clean(&self.notes) };
        let (id, added) = (self.smart_contract_interface_id, date_time(self.created_at.millis()));
        let lines = vec![
            format!("id        {id} added {added}"),
            format!("contract  {kind} {}", clean(&self.smart_contract_address)),
            format!("notes     {notes}"),
        ];
        let row = cells([(&self.label, 18), (&kind, 8)], &self.smart_contract_address);
        Item::new(&self.label, row, lines)
    }

    fn line(&self, _: &OrganizationDetail) -> Row {
        let (label, address) = (quoted(&self.label), clean(&self.smart_contract_address));
        ("contract", format!("{} {label} {address}", self.smart_contract_interface_id))
    }
}
