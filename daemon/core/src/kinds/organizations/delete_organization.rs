//! Deletes a top-level organization without sub-organizations, with everything in it.

use quorate_common::ids::OrganizationId;

use crate::kinds::prelude::*;
use crate::make::organization;

pub(in crate::kinds) struct DeleteOrganization;

/// Deletes the organization. All its keys must have been exported and all its sub-organizations deleted.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    organization_id: OrganizationId,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    organization_id: OrganizationId,
}

impl Version for Intent {
    type Kind = DeleteOrganization;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_ORGANIZATION";
    const NUMBER: u16 = 12;
    const RESULT: &'static str = "deleteOrganizationResult";
}

impl Kind for DeleteOrganization {
    const ACTS: Option<(Action, Resource)> = Some((Action::Delete, Resource::Organization));
    const GATE: Gate = Gate::RootUser;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, ()), RequestError> {
        if view.organization.head.parent.is_some() {
            return Err(Wrong::ClosedToChildren("delete organizations").into());
        }
        if intent.organization_id != view.organization.id() {
            let text =
                "invalid request body: `parameters.organizationId` must be the organization acted upon";
            return Err(Wrong::Text(text).into());
        }
        if view.records().has_children()? {
            return Err(Wrong::Text("organization has sub-organizations").into());
        }
        organization::all_exported(view.organization)?;
        Ok((Facts::default(), ()))
    }

    fn execute(
        intent: Intent,
        (): (),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        context.change(Change::Delete);
        Ok(Outcome { organization_id: intent.organization_id })
    }
}
