//! Deletes the interface of a smart contract.

use crate::kinds::prelude::*;

/// Deletes the interface of a smart contract.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    smart_contract_interface_id: SmartContractInterfaceId,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    smart_contract_interface_id: SmartContractInterfaceId,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_SMART_CONTRACT_INTERFACE";
    const NUMBER: u16 = 94;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Delete, Resource::SmartContractInterface));
    type Plan = ();
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        view.collection_item::<SmartContractInterface>(self.smart_contract_interface_id).map(drop)
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        context.change(Change::remove::<SmartContractInterface>(self.smart_contract_interface_id));
        Ok(Outcome { smart_contract_interface_id: self.smart_contract_interface_id })
    }
}
