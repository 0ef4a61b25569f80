//! Deletes the sub-organization that the request names, with everything in it.

use quorate_common::ids::OrganizationId;

use crate::kinds::prelude::*;
use crate::make::organization;

pub(in crate::kinds) struct DeleteSubOrganization;

/// Deletes the sub-organization that the request names, with all its keys.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    /// If true, also deletes keys that were never exported and may have no copy elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delete_without_export: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    sub_organization_uuid: OrganizationId,
}

impl Version for Intent {
    type Kind = DeleteSubOrganization;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION";
    const NUMBER: u16 = 76;
    const RESULT: &'static str = "deleteSubOrganizationResult";
}

impl Kind for DeleteSubOrganization {
    const ACTS: Option<(Action, Resource)> = Some((Action::Delete, Resource::Organization));
    const GATE: Gate = Gate::RootUser;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, ()), RequestError> {
        if view.organization.head.parent.is_none() {
            return Err(Wrong::Text("organization is not a sub-organization").into());
        }
        if intent.delete_without_export != Some(true) {
            organization::all_exported(view.organization)?;
        }
        Ok((Facts::default(), ()))
    }

    fn execute(_: Intent, (): (), context: &mut ExecutionContext<'_, '_>) -> Result<Outcome, RequestError> {
        context.change(Change::Delete);
        Ok(Outcome { sub_organization_uuid: context.organization.id() })
    }
}
