//! Returns one smart contract interface.
//!
//! - `{"smartContractInterfaceId": "$interface"}` is answered.
//! - `{"smartContractInterfaceId": "$unknown"}` is refused with 404: no smart contract interface found with the given ID

use crate::queries::prelude::*;

/// Returns one smart contract interface with its text.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GetSmartContractInterface {
    smart_contract_interface_id: SmartContractInterfaceId,
}

impl Query for GetSmartContractInterface {
    type Answer = wire::SmartContractInterface;

    fn answer(self, context: &QueryContext<'_>) -> Result<wire::SmartContractInterface, RequestError> {
        let missing = Missing::Other("smart contract interface");
        let found =
            context.organization.records.smart_contract_interfaces.get(self.smart_contract_interface_id);
        let found = found.map(|found| super::with_text(context, found)).transpose()?.flatten();
        Ok(found.ok_or(missing)?)
    }
}
