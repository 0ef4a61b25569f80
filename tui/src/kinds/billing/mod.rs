//! Billing records: the payment method and the billing tier. Nothing is ever charged.

use super::Kind;

mod activate_billing_tier;
mod delete_payment_method;
mod set_payment_method;

pub(super) const KINDS: &[Kind] =
    &[activate_billing_tier::KIND, delete_payment_method::KIND, set_payment_method::KIND];
