//! Lists all policies.
//!
//! - `{}` is answered.
//! - `{"organizationId": "$unknown"}` is refused with 404: no organization found with the given ID

use crate::queries::prelude::*;

/// Returns all policies, oldest first.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ListPolicies {}

impl Query for ListPolicies {
    type Answer = Vec<wire::Policy>;

    fn answer(self, context: &QueryContext<'_>) -> Result<Vec<wire::Policy>, RequestError> {
        let policies = context.organization.policies().map(|parsed| &parsed.policy);
        Ok(oldest_first(policies, |policy| (policy.created, policy.id), Policy::wire))
    }
}
