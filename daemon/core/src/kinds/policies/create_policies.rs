//! Creates several policies: all of them or none.

use crate::kinds::prelude::*;
use crate::make::policy;
use crate::params::PolicyParams;
use crate::params::policy::PoliciesResult;

/// Creates several policies: all of them or none.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    policies: AtMost<PolicyParams, BATCH>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_POLICIES";
    const NUMBER: u16 = 62;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Create, Resource::Policy));
    type Plan = ();
    type Outcome = PoliciesResult;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        not_empty(&self.policies, "policies")?;
        policy::check_new(&self.policies, view)
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<PoliciesResult, RequestError> {
        let ids = self.policies.into_iter().map(|params| policy::add(params, context)).collect();
        Ok(PoliciesResult { policy_ids: AtMost::cut(ids) })
    }
}
