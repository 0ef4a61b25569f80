//! What is recorded of paying for the service. Nothing is ever charged, and no number of a card is kept.

use quorate_common::bounded::{Email, Label};
use quorate_common::wire;
use serde::{Deserialize, Serialize};

/// How the service is paid for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentMethod {
    /// Id.
    pub id: String,
    /// Last four digits of a card; empty when only an id was given.
    pub last_four: String,
    /// Who holds it.
    pub holder_name: Label,
    /// Mail address of the holder.
    pub holder_email: Email,
}

impl PaymentMethod {
    /// As the console shows it.
    pub fn wire(&self) -> wire::PaymentMethod {
        wire::PaymentMethod {
            payment_method_id: self.id.clone(),
            last_four: self.last_four.clone(),
            card_holder_name: self.holder_name.to_string(),
            card_holder_email: self.holder_email.to_string(),
        }
    }
}
