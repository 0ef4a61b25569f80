//! Deletes a policy.

use quorate_common::ids::PolicyId;

use crate::kinds::prelude::*;

pub(in crate::kinds) struct DeletePolicy;

/// Deletes a policy.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    policy_id: PolicyId,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    policy_id: PolicyId,
}

impl Version for Intent {
    type Kind = DeletePolicy;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_POLICY";
    const NUMBER: u16 = 13;
    const RESULT: &'static str = "deletePolicyResult";
}

impl Kind for DeletePolicy {
    const ACTS: Option<(Action, Resource)> = Some((Action::Delete, Resource::Policy));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, ()), RequestError> {
        view.policy(intent.policy_id)?;
        Ok((Facts::default(), ()))
    }

    fn execute(
        intent: Intent,
        (): (),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        context.change(Change::RemovePolicy(intent.policy_id));
        Ok(Outcome { policy_id: intent.policy_id })
    }
}
