//! Returns the features and the root quorum of an organization.
//!
//! - `{}` is answered.
//! - `{"organizationId": "$unknown"}` is refused with 404: no organization found with the given ID

use crate::queries::prelude::*;

#[derive(Serialize, JsonSchema)]
pub(super) struct Configs {
    features: Vec<wire::Feature>,
    quorum: wire::Quorum,
}

/// Returns the features and the root quorum of an organization.
#[derive(Deserialize, JsonSchema)]
pub(super) struct GetOrganizationConfigs {}

impl Query for GetOrganizationConfigs {
    const COST: Cost = Cost::Small;
    type Answer = Configs;

    fn answer(self, context: &QueryContext<'_>) -> Result<Configs, RequestError> {
        Ok(Configs { features: context.organization.features(), quorum: context.organization.quorum() })
    }
}
