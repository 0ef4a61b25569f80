//! Renames the organization.

use crate::kinds::prelude::*;

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
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME";
    const NUMBER: u16 = 121;
}

impl Kind for Intent {
    const GATE: Gate = Gate::RootQuorum;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(&self, _: &View<'_>) -> Result<(), RequestError> {
        Ok(())
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        context.change(Change::SetName(self.organization_name.clone()));
        Ok(Outcome { organization_id: context.organization.id(), organization_name: self.organization_name })
    }
}
