//! Deletes the interface of a smart contract.

use super::{Description, Kind, Level, Reader, Scene, Undecodable, Version};
use crate::text::clean;

pub(super) struct DeleteSmartContractInterface;

impl Kind for DeleteSmartContractInterface {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_SMART_CONTRACT_INTERFACE",
            intent: "deleteSmartContractInterfaceIntent",
            schema: "smartContractInterfaceId",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete contract interface"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let id = parameters.text("smartContractInterfaceId")?;
        let named = scene.interface_named(id);
        let known = scene.interface(id);
        let contract = known.map_or_else(String::new, |one| {
            format!(" of the contract {}", clean(&one.smart_contract_address))
        });
        let mut description = Description::new(
            named.clone(),
            format!(
                "Delete the interface {named}{contract}. Calls of the contract are no longer decoded with it."
            ),
        );
        let before = scene.organization.smart_contract_interfaces.len();
        description.change("interfaces", before.to_string(), before.saturating_sub(1).to_string(), "");
        if known.is_none() {
            description.flag(
                Level::Med,
                "unknown-interface",
                format!("{named} does not exist in this organization now."),
            );
        }
        Ok(description)
    }
}
