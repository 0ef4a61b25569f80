//! Removes the interface of a smart contract.

use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};
use crate::text::clean;

pub(super) struct DeleteSmartContractInterface;

impl Kind for DeleteSmartContractInterface {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_SMART_CONTRACT_INTERFACE",
            intent: "deleteSmartContractInterfaceIntent",
            shape: "smartContractInterfaceId",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete contract interface"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let id = parameters.text("smartContractInterfaceId")?;
        let named = scene.interface_named(id);
        let known = scene.interface(id);
        let contract = known.map_or_else(String::new, |one| {
            format!(" of the contract {}", clean(&one.smart_contract_address))
        });
        let mut story = Story::new(
            named.clone(),
            format!(
                "Delete the interface {named}{contract}. Calls of the contract are not read by it any more."
            ),
        );
        let before = scene.organization.smart_contract_interfaces.len();
        story.change("interfaces", before.to_string(), before.saturating_sub(1).to_string(), "");
        if known.is_none() {
            story.flag(Level::Med, "unknown-interface", format!("{named} is not in this organization now"));
        }
        Ok(story)
    }
}
