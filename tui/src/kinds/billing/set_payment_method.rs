//! Records a payment method.

use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind {
    abridged: &[("number", last_digits), ("cvv", no_digits)],
    hidden: Some((&["ACTIVITY_TYPE_SET_PAYMENT_METHOD"], "the daemon hides a card's number")),
    ..Kind::new("SET_PAYMENT_METHOD", "Set payment method", describe)
};

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let method = match parameters.maybe_text("number")? {
        Some(number) => card(number),
        None => quoted(parameters.text("paymentMethodId")?),
    };
    let (until, kept) = if parameters.has("number") {
        let (month, year) = (parameters.text("expiryMonth")?, parameters.text("expiryYear")?);
        (
            format!(", valid until {}/{},", clean(month), clean(year)),
            ", and only the last four digits are stored",
        )
    } else {
        (String::new(), "")
    };
    let holder = parameters.text("cardHolderName")?;
    let mut description = Description::new(
        format!("{method} of {}", quoted(holder)),
        format!(
            "Record {method}{until} as the payment method. Its holder is {} at {}. Nothing is charged{kept}.",
            quoted(holder),
            quoted(parameters.text("cardHolderEmail")?)
        ),
    );
    let after = format!("{method} of {}", quoted(holder));
    description.change("payment method", recorded(context), after);
    Ok(description)
}

/// Returns the current payment method, as the daemon states it.
pub(super) fn recorded(context: &ReviewContext<'_>) -> String {
    context.organization.payment_method.as_ref().map_or_else(
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

fn last_digits(number: &str) -> Option<String> {
    let hidden = "*".repeat(number.len().saturating_sub(4));
    is_digits(number).then(|| format!("{hidden}{}", tail(number)))
}

fn no_digits(code: &str) -> Option<String> {
    is_digits(code).then(|| "*".repeat(code.len()))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
