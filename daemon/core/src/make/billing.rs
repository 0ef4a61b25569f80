//! Ids of payment methods.

use quorate_common::ids::PaymentMethodId;

/// Longest id of a payment method, in bytes.
pub const ID: usize = 256;

/// Returns a new id for a payment method that was recorded without one.
pub fn new_id(random: [u8; 16]) -> String {
    PaymentMethodId::random(random).to_string()
}
