//! Renames the organization.

use quorate_common::ids::OrganizationId;

use crate::kinds::prelude::*;

pub(in crate::kinds) struct UpdateOrganizationName;

/// Renames the organization.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    organization_name: Label,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    organization_id: OrganizationId,
    organization_name: Label,
}

impl Version for Intent {
    type Kind = UpdateOrganizationName;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME";
    const NUMBER: u16 = 121;
    const RESULT: &'static str = "updateOrganizationNameResult";
}

impl Kind for UpdateOrganizationName {
    const ACTS: Option<(Action, Resource)> = None;
    const GATE: Gate = Gate::RootQuorum;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(_: &Intent, _: &View<'_>) -> Result<(Facts, ()), RequestError> {
        Ok((Facts::default(), ()))
    }

    fn execute(
        intent: Intent,
        (): (),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        context.change(Change::SetName(intent.organization_name.clone()));
        Ok(Outcome {
            organization_id: context.organization.id(),
            organization_name: intent.organization_name,
        })
    }
}
