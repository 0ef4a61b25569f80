//! Deletes the interface of a smart contract.

use quorate_common::ids::SmartContractInterfaceId;

use crate::kinds::prelude::*;
use crate::model::SmartContractInterface;

pub(in crate::kinds) struct DeleteSmartContractInterface;

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
    type Kind = DeleteSmartContractInterface;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_SMART_CONTRACT_INTERFACE";
    const NUMBER: u16 = 94;
    const RESULT: &'static str = "deleteSmartContractInterfaceResult";
}

impl Kind for DeleteSmartContractInterface {
    const ACTS: Option<(Action, Resource)> = Some((Action::Delete, Resource::SmartContractInterface));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, ()), RequestError> {
        view.collection_item::<SmartContractInterface>(intent.smart_contract_interface_id)?;
        Ok((Facts::default(), ()))
    }

    fn execute(
        intent: Intent,
        (): (),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        context.change(Change::RemoveSmartContractInterface(intent.smart_contract_interface_id));
        Ok(Outcome { smart_contract_interface_id: intent.smart_contract_interface_id })
    }
}
