//! Creates several policies: all of them or none.

use quorate_common::ids::PolicyId;

use crate::kinds::prelude::*;
use crate::make::policy;
use crate::params::PolicyParams;

pub(in crate::kinds) struct CreatePolicies;

/// Creates several policies: all of them or none.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    policies: AtMost<PolicyParams, BATCH>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    policy_ids: AtMost<PolicyId, BATCH>,
}

impl Version for Intent {
    type Kind = CreatePolicies;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_POLICIES";
    const NUMBER: u16 = 62;
    const RESULT: &'static str = "createPoliciesResult";
}

impl Kind for CreatePolicies {
    const ACTS: Option<(Action, Resource)> = Some((Action::Create, Resource::Policy));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, ()), RequestError> {
        not_empty(&intent.policies, "policies")?;
        policy::check_new(&intent.policies, view)?;
        Ok((Facts::default(), ()))
    }

    fn execute(
        intent: Intent,
        (): (),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        let ids = intent.policies.into_iter().map(|params| policy::add(params, context)).collect();
        Ok(Outcome { policy_ids: AtMost::cut(ids) })
    }
}
