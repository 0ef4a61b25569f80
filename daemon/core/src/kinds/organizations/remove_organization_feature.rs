//! Disables an organization feature.

use crate::kinds::prelude::*;
use crate::params::organization::FeaturesResult;

/// Disables an organization feature.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(in crate::kinds) struct Intent {
    name: FeatureName,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE";
    const NUMBER: u16 = 50;
}

impl Kind for Intent {
    const GATE: Gate = Gate::RootQuorum;
    type Plan = ();
    type Outcome = FeaturesResult;

    fn rules(&self, _: &View<'_>) -> Result<(), RequestError> {
        Ok(())
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<FeaturesResult, RequestError> {
        let mut after = context.organization.clone();
        after.head.features.remove(&self.name);
        context.change(Change::RemoveFeature(self.name));
        Ok(FeaturesResult { features: after.features() })
    }
}
