//! Payment methods: their ids.

use quorate_common::ids::OrganizationId;

/// Longest id of a payment method, in bytes.
pub const ID: usize = 256;

/// An id for a payment method that came without one.
pub fn own_id(random: [u8; 16]) -> String {
    OrganizationId::random(random).to_string()
}
