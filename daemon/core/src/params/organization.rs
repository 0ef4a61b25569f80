//! Results of changes of an organization.

use quorate_common::wire::Feature;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Serialize, JsonSchema)]
pub(crate) struct FeaturesResult {
    pub(crate) features: Vec<Feature>,
}
