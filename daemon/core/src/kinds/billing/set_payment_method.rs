//! Records the payment method. Nothing is charged, and only the last four digits of a card number are stored.

use quorate_common::bounded::{Email, Text};

use crate::kinds::prelude::*;
use crate::make::billing;
use crate::model::PaymentMethod;

pub(in crate::kinds) struct SetPaymentMethod;

/// Records the payment method by an externally assigned id.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    payment_method_id: Text<{ billing::ID }>,
    card_holder_email: Email,
    card_holder_name: Label,
}

/// The version-independent parameters.
pub(in crate::kinds) struct Request {
    id: Option<String>,
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

impl Version for Intent {
    type Kind = SetPaymentMethod;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_SET_PAYMENT_METHOD_V2";
    const NUMBER: u16 = 43;
    const RESULT: &'static str = "setPaymentMethodResult";
}

impl From<Intent> for Request {
    fn from(intent: Intent) -> Self {
        Self {
            id: Some(intent.payment_method_id.as_str().to_owned()),
            last_four: String::new(),
            holder_name: intent.card_holder_name,
            holder_email: intent.card_holder_email,
        }
    }
}

impl Kind for SetPaymentMethod {
    const ACTS: Option<(Action, Resource)> = Some((Action::Update, Resource::PaymentMethod));
    const GATE: Gate = Gate::Policy;
    type Intent = Request;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(request: &Request, _: &View<'_>) -> Result<(Facts, ()), RequestError> {
        if request.id.as_ref().is_some_and(String::is_empty) {
            return Err(Wrong::Empty("paymentMethodId").into());
        }
        Ok((Facts::default(), ()))
    }

    fn execute(
        request: Request,
        (): (),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        let id = request.id.unwrap_or_else(|| billing::new_id(context.random()));
        let method = PaymentMethod {
            id,
            last_four: request.last_four,
            holder_name: request.holder_name,
            holder_email: request.holder_email,
        };
        context.change(Change::SetPaymentMethod(Some(method.clone())));
        Ok(Outcome {
            last_four: method.last_four,
            card_holder_name: method.holder_name,
            card_holder_email: method.holder_email,
        })
    }
}

/// Version 1: the card itself. Only the last four digits of its number are stored.
pub(in crate::kinds) mod v1 {
    use super::{
        Deserialize, Email, JsonSchema, Label, Outcome, Request, Serialize, SetPaymentMethod, Version,
    };
    use crate::params::card::{CardNumber, Digits};

    /// Records a payment card. The last four digits of its number are stored; its security code is not.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub(in crate::kinds) struct Intent {
        number: CardNumber,
        cvv: Digits<3, 4>,
        expiry_month: Digits<2, 2>,
        expiry_year: Digits<4, 4>,
        card_holder_email: Email,
        card_holder_name: Label,
    }

    impl Version for Intent {
        type Kind = SetPaymentMethod;
        type Outcome = Outcome;
        const TYPE: &'static str = "ACTIVITY_TYPE_SET_PAYMENT_METHOD";
        const NUMBER: u16 = 24;
        const RESULT: &'static str = "setPaymentMethodResult";
        const MASKS: bool = true;

        fn mask(&mut self) {
            self.number.mask();
            self.cvv.mask();
        }
    }

    impl From<Intent> for Request {
        fn from(intent: Intent) -> Self {
            Self {
                id: None,
                last_four: intent.number.last_four().to_owned(),
                holder_name: intent.card_holder_name,
                holder_email: intent.card_holder_email,
            }
        }
    }
}
