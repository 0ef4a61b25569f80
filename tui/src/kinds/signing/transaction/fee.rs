//! Detects unusually high fees.

use crate::kinds::prelude::*;

/// A fee above the sent amount divided by this number is high.
const HIGH_PART: u128 = 20;
/// A fee of at least this many times the usual one is high, whatever amount is sent.
const HIGH_TIMES: u128 = 20;

/// Flags a fee above `usual`, unless it is a small part of the amount `sent` to others and not extremely
/// high. All amounts are in the smallest unit of the chain's own coin; `format_amount` formats them.
pub(super) fn flag_high_fee(
    fee: u128,
    usual: u128,
    sent: u128,
    format_amount: impl Fn(u128) -> String,
    description: &mut Description,
) {
    let is_small = fee.saturating_mul(HIGH_PART) <= sent && fee < usual.saturating_mul(HIGH_TIMES);
    if fee > usual && !is_small {
        let (fee, sent) = (format_amount(fee), format_amount(sent));
        let text = format!("Costs an unusually high fee: up to {fee} for {sent} sent.");
        description.flag_with_word("high-fee", text, "FEE");
    }
}
