//! Returns one MFA policy of a user.
//!
//! - `{"userId": "$user", "mfaPolicyId": "$mfaPolicy"}` is answered.
//! - `{"userId": "$user", "mfaPolicyId": "$unknown"}` is refused with 404: no MFA policy found with the given ID

use quorate_common::ids::MfaPolicyId;

use crate::queries::prelude::*;

/// Returns one MFA policy of a user.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GetMfaPolicy {
    user_id: UserId,
    mfa_policy_id: MfaPolicyId,
}

impl Query for GetMfaPolicy {
    const COST: Cost = Cost::Small;
    type Answer = wire::MfaPolicy;

    fn answer(self, context: &QueryContext<'_>) -> Result<wire::MfaPolicy, RequestError> {
        let mut policies = super::user(context, self.user_id)?.mfa_policies.iter();
        let found = policies.find(|policy| policy.id == self.mfa_policy_id);
        Ok(found.ok_or(Missing::Other("MFA policy"))?.wire())
    }
}
