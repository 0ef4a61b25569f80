//! Results of changes of an organization.

use quorate_common::ids::OrganizationId;
use quorate_common::wire::Feature;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrganizationResult {
    pub(crate) organization_id: OrganizationId,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct FeaturesResult {
    pub(crate) features: Vec<Feature>,
}
