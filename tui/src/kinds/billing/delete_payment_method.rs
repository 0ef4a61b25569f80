//! Deletes the recorded payment method.

use super::set_payment_method::recorded;
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("DELETE_PAYMENT_METHOD", "Delete payment method", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let id = parameters.maybe_text("paymentMethodId")?;
    let which = id.map_or_else(|| " that is recorded".to_owned(), |id| format!(" {}", quoted(id)));
    let mut description = Description::new(
        id.map_or_else(|| recorded(context), quoted),
        format!("Delete the payment method{which}. Nothing depends on it."),
    );
    description.change("payment method", recorded(context), "none");
    let known = context.organization.payment_method.as_ref();
    if known.is_none_or(|known| id.is_some_and(|id| known.payment_method_id != id)) {
        description.flag_medium("unknown-payment-method", "No such payment method is recorded now.");
    }
    Ok(description)
}
