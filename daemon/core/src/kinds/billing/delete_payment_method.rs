//! Deletes the recorded payment method.

use crate::kinds::prelude::*;
use crate::params::card::ExternalId;

/// Deletes the recorded payment method. Without an id, deletes whichever method is recorded.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    payment_method_id: ExternalId,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    payment_method_id: String,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_PAYMENT_METHOD";
    const NUMBER: u16 = 26;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Delete, Resource::PaymentMethod));
    type Plan = PaymentMethod;
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<PaymentMethod, RequestError> {
        let wanted = self.payment_method_id.as_str();
        let present = view.organization.head.payment_method.as_ref();
        let method = present.filter(|method| wanted.is_empty() || method.id == wanted);
        Ok(method.ok_or(Missing::Other("payment method"))?.clone())
    }

    fn execute(self, method: PaymentMethod, context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        context.change(Change::SetPaymentMethod(None));
        Ok(Outcome { payment_method_id: method.id })
    }
}
