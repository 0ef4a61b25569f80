//! Deletes the recorded payment method.

use super::set_payment_method::recorded;
use super::{Description, Kind, Level, Reader, Scene, Undecodable, Version};
use crate::text::quoted;

pub(super) struct DeletePaymentMethod;

impl Kind for DeletePaymentMethod {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_PAYMENT_METHOD",
            intent: "deletePaymentMethodIntent",
            schema: "paymentMethodId",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete payment method"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let id = parameters.maybe_text("paymentMethodId")?;
        let which = id.map_or_else(|| " that is recorded".to_owned(), |id| format!(" {}", quoted(id)));
        let mut description = Description::new(
            id.map_or_else(|| recorded(scene), quoted),
            format!("Delete the payment method{which}. Nothing depends on it."),
        );
        description.change("payment method", recorded(scene), "none", "");
        let known = scene.organization.payment_method.as_ref();
        if known.is_none_or(|known| id.is_some_and(|id| known.payment_method_id != id)) {
            description.flag(Level::Med, "unknown-payment-method", "No such payment method is recorded now.");
        }
        Ok(description)
    }
}
