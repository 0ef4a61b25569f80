//! Billing records: the payment method and the billing tier. Nothing is ever charged.

use super::prelude::*;

mod activate_billing_tier;
mod delete_payment_method;
mod set_payment_method;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<activate_billing_tier::Intent>(),
    entry::<delete_payment_method::Intent>(),
    entry::<set_payment_method::V1>(),
    entry::<set_payment_method::V2>(),
];
