//! Records the chosen billing product. Nothing is charged, and nothing depends on the record.

use quorate_common::bounded::Text;

use crate::kinds::prelude::*;
use crate::make::billing;

pub(in crate::kinds) struct ActivateBillingTier;

/// Records the chosen billing product. Nothing is charged, and nothing depends on it.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    product_id: Text<{ billing::ID }>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    orb_plan_id: Option<Text<{ billing::ID }>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    product_id: Text<{ billing::ID }>,
}

impl Version for Intent {
    type Kind = ActivateBillingTier;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_ACTIVATE_BILLING_TIER";
    const NUMBER: u16 = 25;
    const RESULT: &'static str = "activateBillingTierResult";
}

impl Kind for ActivateBillingTier {
    const ACTS: Option<(Action, Resource)> = Some((Action::Create, Resource::Subscription));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(intent: &Intent, _: &View<'_>) -> Result<(Facts, ()), RequestError> {
        if intent.product_id.as_str().is_empty() {
            return Err(Wrong::Empty("productId").into());
        }
        Ok((Facts::default(), ()))
    }

    fn execute(
        intent: Intent,
        (): (),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        context.change(Change::SetBillingTier(intent.product_id.as_str().to_owned()));
        Ok(Outcome { product_id: intent.product_id })
    }
}
