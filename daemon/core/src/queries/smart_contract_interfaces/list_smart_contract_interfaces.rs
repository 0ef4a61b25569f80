//! Lists all smart contract interfaces.
//!
//! - `{}` is answered.
//! - `{"organizationId": "$unknown"}` is refused with 404: no organization found with the given ID

use crate::queries::prelude::*;

/// Returns all smart contract interfaces with their texts, oldest first.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ListSmartContractInterfaces {}

impl Query for ListSmartContractInterfaces {
    type Answer = Vec<wire::SmartContractInterface>;

    fn answer(self, context: &QueryContext<'_>) -> Result<Vec<wire::SmartContractInterface>, RequestError> {
        let interfaces = context.organization.records.smart_contract_interfaces.iter();
        let created = |interface: &&SmartContractInterface| (interface.created, interface.id);
        let interfaces = oldest_first(interfaces, created, |interface| super::with_text(context, interface));
        Ok(interfaces.into_iter().filter_map(Result::transpose).collect::<Result<_, _>>()?)
    }
}
