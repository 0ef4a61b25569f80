//! Whether a fee is one that people pay.

use crate::kinds::{Level, Story};

/// A fee is high from one part in so many of what is sent.
const HIGH_PART: u128 = 20;
/// A fee is high from so many times the usual one, whatever is sent.
const HIGH_TIMES: u128 = 20;

/// Flags a fee that is more than `usual`, unless it is a small part of what is `sent` to others and not very much; all in the
/// smallest parts of the chain's own coin, which `told` writes.
pub(super) fn judge(fee: u128, usual: u128, sent: u128, told: impl Fn(u128) -> String, story: &mut Story) {
    let is_small = fee.saturating_mul(HIGH_PART) <= sent && fee < usual.saturating_mul(HIGH_TIMES);
    if fee > usual && !is_small {
        let text = format!("the fee may be {} for {} sent", told(fee), told(sent));
        story.flag(Level::High, "high-fee", text);
        story.danger("the word FEE", "FEE");
    }
}
