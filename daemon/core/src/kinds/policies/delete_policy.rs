//! Deletes a policy.

use crate::kinds::prelude::*;
use crate::params::policy::PolicyResult;

/// Deletes a policy.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    policy_id: PolicyId,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_POLICY";
    const NUMBER: u16 = 13;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Delete, Resource::Policy));
    type Plan = ();
    type Outcome = PolicyResult;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        view.policy(self.policy_id).map(drop)
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<PolicyResult, RequestError> {
        context.change(Change::RemovePolicy(self.policy_id));
        Ok(PolicyResult { policy_id: self.policy_id })
    }
}
