//! Payment methods: their ids.

use quorate_common::ids::PaymentMethodId;

/// Longest id of a payment method, in bytes.
pub const ID: usize = 256;

/// An id for a payment method that came without one.
pub fn own_id(random: [u8; 16]) -> String {
    PaymentMethodId::random(random).to_string()
}
