//! Records the payment method. Nothing is charged, and only the last four digits of a card number are stored.

use quorate_common::ids::PaymentMethodId;

use crate::kinds::prelude::*;
use crate::params::card::{CardNumber, Digits, ExternalId};

/// Records a payment card. The last four digits of its number are stored; its security code is not.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct V1 {
    number: CardNumber,
    cvv: Digits<3, 4>,
    expiry_month: Digits<2, 2>,
    expiry_year: Digits<4, 4>,
    card_holder_email: Email,
    card_holder_name: Label,
}

/// Records the payment method by an externally assigned id.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct V2 {
    payment_method_id: ExternalId,
    card_holder_email: Email,
    card_holder_name: Label,
}

/// The version-independent parameters.
pub(in crate::kinds) struct Request {
    id: Option<ExternalId>,
    last_four: String,
    holder_name: Label,
    holder_email: Email,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    last_four: String,
    card_holder_name: Label,
    card_holder_email: Email,
}

impl Version for V1 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_SET_PAYMENT_METHOD";
    const NUMBER: u16 = 24;
    const MASKS: bool = true;

    fn mask(&mut self) {
        self.number.mask();
        self.cvv.mask();
    }
}

impl Version for V2 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_SET_PAYMENT_METHOD_V2";
    const NUMBER: u16 = 43;
    const RESULT: Option<&'static str> = Some("setPaymentMethodResult");
}

impl From<V1> for Request {
    fn from(V1 { number, card_holder_name: holder_name, card_holder_email: holder_email, .. }: V1) -> Self {
        Self { id: None, last_four: number.last_four().to_owned(), holder_name, holder_email }
    }
}

impl From<V2> for Request {
    fn from(intent: V2) -> Self {
        Self {
            id: Some(intent.payment_method_id),
            last_four: String::new(),
            holder_name: intent.card_holder_name,
            holder_email: intent.card_holder_email,
        }
    }
}

impl Kind for Request {
    const ACTS: Acts = Some((Action::Update, Resource::PaymentMethod));
    type Plan = ();
    type Outcome = Outcome;

    fn rules(&self, _: &View<'_>) -> Result<(), RequestError> {
        let is_empty = self.id.as_ref().is_some_and(|id| id.as_str().is_empty());
        if is_empty { Err(Wrong::Empty("paymentMethodId").into()) } else { Ok(()) }
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        let new_id = || PaymentMethodId::random(context.random()).to_string();
        let id = self.id.map_or_else(new_id, ExternalId::into_string);
        let method = PaymentMethod {
            id,
            last_four: self.last_four,
            holder_name: self.holder_name,
            holder_email: self.holder_email,
        };
        context.change(Change::SetPaymentMethod(Some(method.clone())));
        Ok(Outcome {
            last_four: method.last_four,
            card_holder_name: method.holder_name,
            card_holder_email: method.holder_email,
        })
    }
}
