//! Enables an organization feature, or changes its value.

use crate::kinds::prelude::*;
use crate::params::organization::FeaturesResult;

/// Enables an organization feature, or changes its value.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
pub(in crate::kinds) struct Intent {
    name: FeatureName,
    value: Option<Text<10240>>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE";
    const NUMBER: u16 = 49;
}

impl Kind for Intent {
    const GATE: Gate = Gate::RootQuorum;
    type Plan = ();
    type Outcome = FeaturesResult;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        if self.name == FeatureName::Webhook {
            let url = self.value.as_ref().map_or("", Text::as_str);
            view.installation()
                .webhook_allowed(url)
                .map_err(|why| Wrong::Detail(format!("invalid webhook URL: {why}")))?;
        }
        Ok(())
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<FeaturesResult, RequestError> {
        let value = self.value.map(|value| value.as_str().to_owned()).filter(|value| !value.is_empty());
        let mut after = context.organization.clone();
        after.head.features.insert(self.name, value.clone());
        context.change(Change::SetFeature(self.name, value));
        Ok(FeaturesResult { features: after.features() })
    }
}
