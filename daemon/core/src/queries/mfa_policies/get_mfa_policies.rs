//! Returns the MFA policies of a user.
//!
//! - `{"userId": "$user"}` is answered.
//! - `{"userId": "$unknown"}` is refused with 404: unable to find user $unknown in organization $organization

use crate::model::MfaPolicy;
use crate::queries::prelude::*;

/// Returns the MFA policies of a user, in their order.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GetMfaPolicies {
    user_id: UserId,
}

impl Query for GetMfaPolicies {
    const COST: Cost = Cost::Small;
    type Answer = Vec<wire::MfaPolicy>;

    fn answer(self, context: &QueryContext<'_>) -> Result<Vec<wire::MfaPolicy>, RequestError> {
        Ok(super::user(context, self.user_id)?.mfa_policies.iter().map(MfaPolicy::wire).collect())
    }
}
