//! Records the chosen billing product. Nothing is charged, and nothing depends on the record.

use crate::kinds::prelude::*;
use crate::params::card::ExternalId;

/// Records the chosen billing product. Nothing is charged, and nothing depends on it.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    product_id: ExternalId,
    orb_plan_id: Option<ExternalId>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    product_id: ExternalId,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_ACTIVATE_BILLING_TIER";
    const NUMBER: u16 = 25;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Create, Resource::Subscription));
    type Plan = ();
    type Outcome = Outcome;

    fn rules(&self, _: &View<'_>) -> Result<(), RequestError> {
        let is_empty = self.product_id.as_str().is_empty();
        if is_empty { Err(Wrong::Empty("productId").into()) } else { Ok(()) }
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        context.change(Change::SetBillingTier(self.product_id.as_str().to_owned()));
        Ok(Outcome { product_id: self.product_id })
    }
}
