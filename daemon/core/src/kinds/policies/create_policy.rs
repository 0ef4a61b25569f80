//! Creates a policy.

use quorate_common::ids::PolicyId;

use crate::kinds::prelude::*;
use crate::make::policy;
use crate::params::PolicyParams;

pub(in crate::kinds) struct CreatePolicy;

/// Creates a policy: whom it allows or denies what, and whose consent that needs.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(in crate::kinds) struct Intent(PolicyParams);

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    policy_id: PolicyId,
}

impl Form for Intent {
    type Kind = CreatePolicy;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_POLICY_V3";
    const NUMBER: u16 = 28;
    const RESULT: &'static str = "createPolicyResult";
}

impl Kind for CreatePolicy {
    const ACTS: Option<(Action, Resource)> = Some((Action::Create, Resource::Policy));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, ()), Refusal> {
        policy::check_new(std::slice::from_ref(&intent.0), view)?;
        Ok((Facts::default(), ()))
    }

    fn execute(intent: Intent, (): (), cx: &mut Cx<'_, '_>) -> Result<Outcome, Refusal> {
        Ok(Outcome { policy_id: policy::add(intent.0, cx) })
    }
}
