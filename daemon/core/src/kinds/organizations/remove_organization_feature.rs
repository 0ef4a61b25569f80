//! Disables an organization feature.

use quorate_common::wire::Feature;

use crate::kinds::prelude::*;
use crate::model::FeatureName;

pub(in crate::kinds) struct RemoveOrganizationFeature;

/// Disables an organization feature.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(in crate::kinds) struct Intent {
    name: FeatureName,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::kinds) struct Outcome {
    features: Vec<Feature>,
}

impl Version for Intent {
    type Kind = RemoveOrganizationFeature;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE";
    const NUMBER: u16 = 50;
    const RESULT: &'static str = "removeOrganizationFeatureResult";
}

impl Kind for RemoveOrganizationFeature {
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
        let mut after = context.organization.clone();
        after.head.features.remove(&intent.name);
        context.change(Change::RemoveFeature(intent.name));
        Ok(Outcome { features: after.features() })
    }
}
