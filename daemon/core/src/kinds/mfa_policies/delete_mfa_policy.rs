//! Deletes an MFA policy of a user. A user who deletes one of their own must meet it.

use quorate_common::ids::MfaPolicyId;

use crate::kinds::prelude::*;
use crate::make::mfa_policy;
use crate::params::mfa_policy::MfaPolicyResult;

/// Deletes an MFA policy of a user.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    user_id: UserId,
    mfa_policy_id: MfaPolicyId,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_MFA_POLICY";
    const NUMBER: u16 = 142;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Delete, Resource::MfaPolicy));
    type Plan = User;
    type Outcome = MfaPolicyResult;

    fn rules(&self, view: &View<'_>) -> Result<User, RequestError> {
        let user = view.user(self.user_id)?;
        mfa_policy::find(user, self.mfa_policy_id)?;
        Ok(user.clone())
    }

    fn facts(&self, user: &User, view: &View<'_>) -> Result<Facts, RequestError> {
        Ok(mfa_policy::guarded(user, view, |policy| policy.id == self.mfa_policy_id))
    }

    fn execute(self, mut user: User, context: &mut Execution<'_>) -> Result<MfaPolicyResult, RequestError> {
        user.mfa_policies.retain(|policy| policy.id != self.mfa_policy_id);
        context.update_user(user);
        Ok(MfaPolicyResult { mfa_policy_id: self.mfa_policy_id })
    }
}
