//! Records a payment method.

use super::{Description, Kind, Reader, Scene, Undecodable, Version};
use crate::text::{clean, quoted};

pub(super) struct SetPaymentMethod;

/// The version whose parameters contain a card number.
const WITH_NUMBER: &str = "ACTIVITY_TYPE_SET_PAYMENT_METHOD";

impl Kind for SetPaymentMethod {
    fn versions(&self) -> &'static [Version] {
        &[
            Version {
                activity_type: WITH_NUMBER,
                intent: "setPaymentMethodIntent",
                schema: "number cvv expiryMonth expiryYear cardHolderEmail cardHolderName",
            },
            Version {
                activity_type: "ACTIVITY_TYPE_SET_PAYMENT_METHOD_V2",
                intent: "setPaymentMethodIntentV2",
                schema: "paymentMethodId cardHolderEmail cardHolderName",
            },
        ]
    }

    fn title(&self) -> &'static str {
        "Set payment method"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let method = match parameters.maybe_text("number")? {
            Some(number) => card(number),
            None => quoted(parameters.text("paymentMethodId")?),
        };
        let (until, kept) = if parameters.has("number") {
            let (month, year) = (parameters.text("expiryMonth")?, parameters.text("expiryYear")?);
            (
                format!(", valid until {}/{}", clean(month), clean(year)),
                ", and only the last four digits are stored",
            )
        } else {
            (String::new(), "")
        };
        let holder = parameters.text("cardHolderName")?;
        let mut description = Description::new(
            format!("{method} of {}", quoted(holder)),
            format!(
                "Record as payment method {method}{until}, held by {} at {}. Nothing is charged{kept}.",
                quoted(holder),
                quoted(parameters.text("cardHolderEmail")?)
            ),
        );
        let after = format!("{method} of {}", quoted(holder));
        description.change("payment method", recorded(scene), after, "");
        Ok(description)
    }

    fn abridged(&self, member: &str, text: &str) -> Option<String> {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match member {
            "number" if digits => Some(format!("{}{}", "*".repeat(text.len().saturating_sub(4)), tail(text))),
            "cvv" if digits => Some("*".repeat(text.len())),
            _ => None,
        }
    }

    fn hidden(&self, activity_type: &str) -> Option<&'static str> {
        (activity_type == WITH_NUMBER).then_some("the daemon hides a card's number")
    }
}

/// Returns the current payment method, as the daemon states it.
pub(super) fn recorded(scene: &Scene<'_>) -> String {
    scene.organization.payment_method.as_ref().map_or_else(
        || "none".to_owned(),
        |method| {
            let method_text = if method.last_four.is_empty() {
                quoted(&method.payment_method_id)
            } else {
                card(&method.last_four)
            };
            format!("{method_text} of {}", quoted(&method.card_holder_name))
        },
    )
}

/// Returns a card by its last four digits at most.
fn card(number: &str) -> String {
    format!("a card ending in {}", clean(tail(number)))
}

fn tail(number: &str) -> &str {
    number.char_indices().rev().nth(3).and_then(|(start, _)| number.get(start..)).unwrap_or(number)
}
