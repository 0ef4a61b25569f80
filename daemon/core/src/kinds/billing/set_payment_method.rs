//! Records how the service is paid for. Nothing is charged, and the number of a card is not kept.

use quorate_common::bounded::{Email, Text};

use crate::kinds::prelude::*;
use crate::make::billing;
use crate::model::PaymentMethod;

pub(in crate::kinds) struct SetPaymentMethod;

/// Records how the service is paid for, by an id of somebody else's.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    payment_method_id: Text<{ billing::ID }>,
    card_holder_email: Email,
    card_holder_name: Label,
}

/// The parameters in no version's names.
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

impl Form for Intent {
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

    fn rules(request: &Request, _: &View<'_>) -> Result<(Facts, ()), Refusal> {
        if request.id.as_ref().is_some_and(String::is_empty) {
            return Err(Wrong::Empty("paymentMethodId").into());
        }
        Ok((Facts::default(), ()))
    }

    fn execute(request: Request, (): (), cx: &mut Cx<'_, '_>) -> Result<Outcome, Refusal> {
        let id = request.id.unwrap_or_else(|| billing::own_id(cx.random()));
        let method = PaymentMethod {
            id,
            last_four: request.last_four,
            holder_name: request.holder_name,
            holder_email: request.holder_email,
        };
        cx.change(Change::SetPaymentMethod(Some(method.clone())));
        Ok(Outcome {
            last_four: method.last_four,
            card_holder_name: method.holder_name,
            card_holder_email: method.holder_email,
        })
    }
}

/// First version: the card itself, of which only the last four digits are kept.
pub(in crate::kinds) mod v1 {
    use super::{Deserialize, Email, Form, JsonSchema, Label, Outcome, Request, Serialize, SetPaymentMethod};
    use crate::params::card::{CardNumber, Digits};

    /// Records the card that pays; of its number only the last four digits are kept, of its code nothing.
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

    impl Form for Intent {
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
