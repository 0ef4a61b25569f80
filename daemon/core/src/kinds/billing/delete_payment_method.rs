//! Deletes the recorded payment method.

use quorate_common::bounded::Text;

use crate::kinds::prelude::*;
use crate::make::billing;
use crate::model::PaymentMethod;

pub(in crate::kinds) struct DeletePaymentMethod;

/// Deletes the recorded payment method. Without an id, deletes whichever method is recorded.
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

impl Version for Intent {
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

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, PaymentMethod), RequestError> {
        let wanted = intent.payment_method_id.as_str();
        let present = view.organization.head.payment_method.as_ref();
        let method = present.filter(|method| wanted.is_empty() || method.id == wanted);
        Ok((Facts::default(), method.ok_or(Missing::Other("payment method"))?.clone()))
    }

    fn execute(
        _: Intent,
        method: PaymentMethod,
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        context.change(Change::SetPaymentMethod(None));
        Ok(Outcome { payment_method_id: method.id })
    }
}
