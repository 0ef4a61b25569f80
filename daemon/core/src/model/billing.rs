//! The recorded payment method. The service charges nothing, and does not store card numbers.

use quorate_common::bounded::{Email, Label};
use quorate_common::wire;
use serde::{Deserialize, Serialize};

/// A recorded payment method.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentMethod {
    /// Id.
    pub id: String,
    /// Last four digits of the card; empty if only an id was given.
    pub last_four: String,
    /// Name of the card holder.
    pub holder_name: Label,
    /// Mail address of the card holder.
    pub holder_email: Email,
}

impl PaymentMethod {
    /// Converts to the form that the console shows.
    pub fn wire(&self) -> wire::PaymentMethod {
        wire::PaymentMethod {
            payment_method_id: self.id.clone(),
            last_four: self.last_four.clone(),
            card_holder_name: self.holder_name.to_string(),
            card_holder_email: self.holder_email.to_string(),
        }
    }
}
