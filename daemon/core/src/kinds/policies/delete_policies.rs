//! Deletes several policies: all of them or none.

use crate::kinds::prelude::*;
use crate::params::policy::PoliciesResult;

/// Deletes several policies: all of them or none.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    policy_ids: AtMost<PolicyId, BATCH>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_POLICIES";
    const NUMBER: u16 = 103;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Delete, Resource::Policy));
    type Plan = ();
    type Outcome = PoliciesResult;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        look_up_each(&self.policy_ids, "policyIds", |id| view.policy(id)).map(drop)
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<PoliciesResult, RequestError> {
        context.change_all(self.policy_ids.iter().copied().map(Change::RemovePolicy));
        Ok(PoliciesResult { policy_ids: self.policy_ids })
    }
}
