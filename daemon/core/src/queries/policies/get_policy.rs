//! Returns one policy.
//!
//! - `{"policyId": "$policy"}` is answered.
//! - `{"policyId": "$unknown"}` is refused with 404: no policy found with the given ID

use crate::queries::prelude::*;

/// Returns one policy.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GetPolicy {
    policy_id: PolicyId,
}

impl Query for GetPolicy {
    const COST: Cost = Cost::Small;
    type Answer = wire::Policy;

    fn answer(self, context: &QueryContext<'_>) -> Result<wire::Policy, RequestError> {
        let found = context.organization.policy(self.policy_id).ok_or(Missing::Other("policy"))?;
        Ok(found.policy.wire())
    }
}
