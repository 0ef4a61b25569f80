//! Deletes a top-level organization without sub-organizations, with everything in it.

use crate::kinds::prelude::*;
use crate::params::organization::OrganizationResult;

/// Deletes the organization. All its keys must have been exported and all its sub-organizations deleted.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    organization_id: OrganizationId,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_ORGANIZATION";
    const NUMBER: u16 = 12;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Delete, Resource::Organization));
    const GATE: Gate = Gate::RootUser;
    type Plan = ();
    type Outcome = OrganizationResult;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        if view.organization.head.parent.is_some() {
            return Err(Wrong::ClosedToChildren("delete organizations").into());
        }
        if self.organization_id != view.organization.id() {
            let text =
                "invalid request body: `parameters.organizationId` must be the organization acted upon";
            return Err(Wrong::Text(text).into());
        }
        if view.records().has_children()? {
            return Err(Wrong::Text("organization has sub-organizations").into());
        }
        view.all_exported()
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<OrganizationResult, RequestError> {
        context.change(Change::Delete);
        Ok(OrganizationResult { organization_id: self.organization_id })
    }
}
