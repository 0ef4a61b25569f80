//! Forgets how the service is paid for.

use quorate_common::bounded::Text;

use crate::kinds::prelude::*;
use crate::make::billing;
use crate::model::PaymentMethod;

pub(in crate::kinds) struct DeletePaymentMethod;

/// Forgets how the service is paid for; without an id, whatever is recorded.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    payment_method_id: Text<{ billing::ID }>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    payment_method_id: String,
}

impl Form for Intent {
    type Kind = DeletePaymentMethod;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_PAYMENT_METHOD";
    const NUMBER: u16 = 26;
    const RESULT: &'static str = "deletePaymentMethodResult";
}

impl Kind for DeletePaymentMethod {
    const ACTS: Option<(Action, Resource)> = Some((Action::Delete, Resource::PaymentMethod));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = PaymentMethod;
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, PaymentMethod), Refusal> {
        let wanted = intent.payment_method_id.as_str();
        let present = view.organization.head.payment_method.as_ref();
        let found = present.filter(|method| wanted.is_empty() || method.id == wanted);
        Ok((Facts::default(), found.ok_or(Missing::Thing("payment method"))?.clone()))
    }

    fn execute(_: Intent, method: PaymentMethod, cx: &mut Cx<'_, '_>) -> Result<Outcome, Refusal> {
        cx.change(Change::SetPaymentMethod(None));
        Ok(Outcome { payment_method_id: method.id })
    }
}
