//! Deletes several policies: all of them or none.

use quorate_common::ids::PolicyId;

use crate::kinds::prelude::*;

pub(in crate::kinds) struct DeletePolicies;

/// Deletes several policies: all of them or none.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    policy_ids: AtMost<PolicyId, BATCH>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    policy_ids: AtMost<PolicyId, BATCH>,
}

impl Version for Intent {
    type Kind = DeletePolicies;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_POLICIES";
    const NUMBER: u16 = 103;
    const RESULT: &'static str = "deletePoliciesResult";
}

impl Kind for DeletePolicies {
    const ACTS: Option<(Action, Resource)> = Some((Action::Delete, Resource::Policy));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, ()), RequestError> {
        not_empty(&intent.policy_ids, "policyIds")?;
        distinct(intent.policy_ids.iter(), "policyIds")?;
        intent.policy_ids.iter().try_for_each(|id| view.policy(*id).map(drop))?;
        Ok((Facts::default(), ()))
    }

    fn execute(
        intent: Intent,
        (): (),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        intent.policy_ids.iter().for_each(|id| context.change(Change::RemovePolicy(*id)));
        Ok(Outcome { policy_ids: intent.policy_ids })
    }
}
