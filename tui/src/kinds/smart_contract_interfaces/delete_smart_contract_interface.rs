//! Deletes the interface of a smart contract.

use crate::kinds::prelude::*;

pub(super) const KIND: Kind =
    Kind::new("DELETE_SMART_CONTRACT_INTERFACE", "Delete contract interface", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let id = parameters.text("smartContractInterfaceId")?;
    let named = context.interface_named(id);
    let known = context.interface(id);
    let contract = known
        .map_or_else(String::new, |one| format!(" of the contract {}", clean(&one.smart_contract_address)));
    let mut description = Description::new(
        named.clone(),
        format!(
            "Delete the interface {named}{contract}. Calls of the contract are no longer decoded with it."
        ),
    );
    description.change_removed("interfaces", context.organization.smart_contract_interfaces.len(), 1);
    description.flag_if_missing("unknown-interface", known.is_some(), &named);
    Ok(description)
}
