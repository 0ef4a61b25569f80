//! Deletes the sub-organization that the request names, with everything in it.

use crate::kinds::prelude::*;

/// Deletes the sub-organization that the request names, with all its keys.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    /// If true, also deletes keys that were never exported and may have no copy elsewhere.
    delete_without_export: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    sub_organization_uuid: OrganizationId,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION";
    const NUMBER: u16 = 76;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Delete, Resource::Organization));
    const GATE: Gate = Gate::RootUser;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        if view.organization.head.parent.is_none() {
            return Err(Wrong::Text("organization is not a sub-organization").into());
        }
        if self.delete_without_export == Some(true) { Ok(()) } else { view.all_exported() }
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        context.change(Change::Delete);
        Ok(Outcome { sub_organization_uuid: context.organization.id() })
    }
}
