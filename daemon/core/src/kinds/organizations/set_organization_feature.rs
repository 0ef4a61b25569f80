//! Enables an organization feature, or changes its value.

use quorate_common::bounded::Text;
use quorate_common::wire::Feature;

use crate::kinds::prelude::*;
use crate::model::FeatureName;

pub(in crate::kinds) struct SetOrganizationFeature;

/// Enables an organization feature, or changes its value.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(in crate::kinds) struct Intent {
    name: FeatureName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    value: Option<Text<10240>>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::kinds) struct Outcome {
    features: Vec<Feature>,
}

impl Version for Intent {
    type Kind = SetOrganizationFeature;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE";
    const NUMBER: u16 = 49;
    const RESULT: &'static str = "setOrganizationFeatureResult";
}

impl Kind for SetOrganizationFeature {
    const ACTS: Option<(Action, Resource)> = None;
    const GATE: Gate = Gate::RootQuorum;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, ()), RequestError> {
        if intent.name == FeatureName::Webhook {
            let url = intent.value.as_ref().map_or("", Text::as_str);
            view.webhook_allowed(url).map_err(|why| Wrong::Detail(format!("invalid webhook URL: {why}")))?;
        }
        Ok((Facts::default(), ()))
    }

    fn execute(
        intent: Intent,
        (): (),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        let value = intent.value.map(|value| value.as_str().to_owned()).filter(|value| !value.is_empty());
        let mut after = context.organization.clone();
        after.head.features.insert(intent.name, value.clone());
        context.change(Change::SetFeature(intent.name, value));
        Ok(Outcome { features: after.features() })
    }
}
