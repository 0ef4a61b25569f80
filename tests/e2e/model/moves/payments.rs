//! Payment methods of the service: recorded and never charged. Only the last four digits of a card are
//! stored, and nothing of its code.

use serde_json::{Value, json};

use super::{Move, people, put, text};
use crate::model::chooser::Chooser;
use crate::model::objections::{Code, Objections};
use crate::model::world::{Organization, PaymentMethod};

/// First digits of all card numbers.
pub(super) const CARD: &str = "424242424242";
/// Last digits. The later ones are invalid: too many digits, a gap, a letter.
const ENDS: [&str; 6] = ["0005", "1881", "4242", "12345", " 424", "424x"];
const GOOD_ENDS: usize = 3;
/// Card codes, the later of which are invalid.
const CODES: [&str; 4] = ["917", "9170", "91700", "91x"];
const GOOD_CODES: usize = 2;
/// Maximum length of an id, in characters.
const LONGEST_ID: usize = 256;

/// Holder of a card.
struct Holder {
    name: String,
    email: String,
}

impl Holder {
    fn choose(chooser: &mut Chooser<'_>) -> Self {
        let mut name = chooser.name("holder");
        // Whether the name on a card may contain control characters is not tested here.
        name.retain(|letter| !letter.is_control());
        Self { name, email: chooser.email() }
    }

    fn object(&self, objections: &mut Objections) {
        objections.label(&self.name);
        people::object_to_email(objections, Some(&self.email));
    }

    fn put_into(&self, parameters: &mut Value) {
        put(parameters, "cardHolderName", Some(self.name.as_str()));
        put(parameters, "cardHolderEmail", Some(self.email.as_str()));
    }

    /// Returns the answer to either version.
    fn result(&self, last_four: &str) -> Value {
        json!({ "lastFour": last_four, "cardHolderName": self.name, "cardHolderEmail": self.email })
    }
}

struct SetCard {
    number: String,
    code: &'static str,
    month: &'static str,
    year: &'static str,
    holder: Holder,
    is_wrong: bool,
}

struct SetId {
    id: String,
    holder: Holder,
}

pub(super) fn set(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let holder = Holder::choose(chooser);
    if chooser.choices.one_in(2) {
        let id = format!("pm_{}", chooser.choices.below(6));
        let wrong = chooser.one(&[0, LONGEST_ID + 1]);
        let id = if chooser.rarely() { "p".repeat(wrong) } else { id };
        return Box::new(SetId { id, holder });
    }
    let (end, code) = (chooser.one(&ENDS[..GOOD_ENDS]), chooser.one(&CODES[..GOOD_CODES]));
    let mut card =
        SetCard { number: format!("{CARD}{end}"), code, month: "12", year: "2031", holder, is_wrong: false };
    if chooser.rarely() {
        card.is_wrong = true;
        match chooser.choices.below(4) {
            0 => card.number = format!("{CARD}{}", chooser.one(&ENDS[GOOD_ENDS..])),
            1 => card.code = chooser.one(&CODES[GOOD_CODES..]),
            2 => card.month = chooser.one(&["1", "012"]),
            _ => card.year = chooser.one(&["31", "02031"]),
        }
    }
    Box::new(card)
}

impl SetCard {
    fn last_four(&self) -> &str {
        &self.number[CARD.len()..]
    }

    fn to_json(&self, number: &str, code: &str) -> Value {
        let mut parameters =
            json!({ "number": number, "cvv": code, "expiryMonth": self.month, "expiryYear": self.year });
        self.holder.put_into(&mut parameters);
        parameters
    }
}

impl Move for SetCard {
    fn name(&self) -> &'static str {
        "SET_PAYMENT_METHOD"
    }

    fn result_name(&self) -> &'static str {
        "setPaymentMethodResult"
    }

    fn parameters(&self) -> Value {
        self.to_json(&self.number, self.code)
    }

    fn recorded_parameters(&self) -> Value {
        let stars = |count: usize| "*".repeat(count);
        self.to_json(&format!("{}{}", stars(CARD.len()), self.last_four()), &stars(self.code.len()))
    }

    fn objections(&self, _organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        objections.invalid(self.is_wrong, "");
        self.holder.object(&mut objections);
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        assert_eq!(*result, self.holder.result(self.last_four()));
        organization.payment_method = Some(PaymentMethod { id: None });
    }
}

impl Move for SetId {
    fn name(&self) -> &'static str {
        "SET_PAYMENT_METHOD_V2"
    }

    fn result_name(&self) -> &'static str {
        "setPaymentMethodResult"
    }

    fn parameters(&self) -> Value {
        let mut parameters = json!({ "paymentMethodId": self.id });
        self.holder.put_into(&mut parameters);
        parameters
    }

    fn objections(&self, _organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        objections.invalid(self.id.is_empty() || self.id.len() > LONGEST_ID, "");
        self.holder.object(&mut objections);
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        // The card is stored elsewhere, so its digits are unknown.
        assert_eq!(*result, self.holder.result(""));
        organization.payment_method = Some(PaymentMethod { id: Some(self.id.clone()) });
    }
}

struct Delete {
    /// Id of the payment method, or `None` for any.
    id: Option<String>,
}

pub(super) fn delete(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let named = chooser.organization().payment_method.as_ref().and_then(|method| method.id.clone());
    let stray = format!("pm_{}", chooser.choices.below(6));
    Box::new(Delete { id: chooser.one(&[None, Some(()), Some(())]).map(|()| named.unwrap_or(stray)) })
}

impl Move for Delete {
    fn name(&self) -> &'static str {
        "DELETE_PAYMENT_METHOD"
    }

    fn result_name(&self) -> &'static str {
        "deletePaymentMethodResult"
    }

    fn parameters(&self) -> Value {
        let mut parameters = json!({});
        put(&mut parameters, "paymentMethodId", self.id.as_deref());
        parameters
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        let matches_id = |method: &PaymentMethod| self.id.is_none() || self.id == method.id;
        let exists = organization.payment_method.as_ref().is_some_and(matches_id);
        objections.when(!exists, Code::NotFound, "");
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        let method = organization.payment_method.take().expect("an existing payment method");
        let reported = text(&result["paymentMethodId"]);
        assert_eq!(method.id.unwrap_or_else(|| reported.clone()), reported);
    }
}

struct ActivateTier {
    product: String,
    plan: Option<&'static str>,
}

pub(super) fn activate_tier(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let product = format!("product {}", chooser.number());
    let product = if chooser.rarely() { String::new() } else { product };
    Box::new(ActivateTier { product, plan: chooser.one(&[None, Some("plan")]) })
}

impl Move for ActivateTier {
    fn name(&self) -> &'static str {
        "ACTIVATE_BILLING_TIER"
    }

    fn result_name(&self) -> &'static str {
        "activateBillingTierResult"
    }

    fn parameters(&self) -> Value {
        let mut parameters = json!({ "productId": self.product });
        put(&mut parameters, "orbPlanId", self.plan);
        parameters
    }

    fn objections(&self, _organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        objections.invalid(self.product.is_empty(), "");
        objections
    }

    fn apply(&self, _organization: &mut Organization, result: &Value) {
        assert_eq!(*result, json!({ "productId": self.product }));
    }
}
