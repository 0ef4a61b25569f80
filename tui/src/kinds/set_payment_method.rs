//! Records how the service is paid for.

use super::{Kind, Reader, Scene, Story, Undecodable, Version};
use crate::text::{clean, quoted};

pub(super) struct SetPaymentMethod;

/// The version that holds the number of a card.
const WITH_NUMBER: &str = "ACTIVITY_TYPE_SET_PAYMENT_METHOD";

impl Kind for SetPaymentMethod {
    fn versions(&self) -> &'static [Version] {
        &[
            Version {
                activity_type: WITH_NUMBER,
                intent: "setPaymentMethodIntent",
                shape: "number cvv expiryMonth expiryYear cardHolderEmail cardHolderName",
            },
            Version {
                activity_type: "ACTIVITY_TYPE_SET_PAYMENT_METHOD_V2",
                intent: "setPaymentMethodIntentV2",
                shape: "paymentMethodId cardHolderEmail cardHolderName",
            },
        ]
    }

    fn title(&self) -> &'static str {
        "Set payment method"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let method = match parameters.maybe_text("number")? {
            Some(number) => card(number),
            None => quoted(parameters.text("paymentMethodId")?),
        };
        let (until, kept) = if parameters.has("number") {
            let (month, year) = (parameters.text("expiryMonth")?, parameters.text("expiryYear")?);
            (
                format!(", valid until {}/{}", clean(month), clean(year)),
                ", and no more than four digits are kept",
            )
        } else {
            (String::new(), "")
        };
        let holder = parameters.text("cardHolderName")?;
        let mut story = Story::new(
            format!("{method} of {}", quoted(holder)),
            format!(
                "Record as payment method {method}{until}, held by {} at {}. Nothing is charged{kept}.",
                quoted(holder),
                quoted(parameters.text("cardHolderEmail")?)
            ),
        );
        let after = format!("{method} of {}", quoted(holder));
        story.change("payment method", recorded(scene), after, "");
        Ok(story)
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

/// The payment method as the daemon says it is now.
pub(super) fn recorded(scene: &Scene<'_>) -> String {
    scene.organization.payment_method.as_ref().map_or_else(
        || "none".to_owned(),
        |method| {
            let told = if method.last_four.is_empty() {
                quoted(&method.payment_method_id)
            } else {
                card(&method.last_four)
            };
            format!("{told} of {}", quoted(&method.card_holder_name))
        },
    )
}

/// A card by no more than its last four digits.
fn card(number: &str) -> String {
    format!("a card ending in {}", clean(tail(number)))
}

fn tail(number: &str) -> &str {
    number.char_indices().rev().nth(3).and_then(|(start, _)| number.get(start..)).unwrap_or(number)
}
