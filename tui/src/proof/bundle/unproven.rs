//! What a bundle cannot prove, in words.

use super::Bundle;
use crate::proof::check::Mark;
use crate::proof::review::Review;
use crate::text::{clean, date_time};

/// Returns one line for each fact that the review of a bundle rests on and does not prove.
pub(crate) fn unproven_lines(bundle: &Bundle, review: &Review, knows_organization: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let withheld = bundle.withheld();
    if !withheld.is_empty() {
        lines.push(format!(
            "what was signed: the signed bytes contain {}, which is never exported; review the activity on a connected \
             machine",
            clean(&withheld.join(", "))
        ));
    }
    if !knows_organization {
        lines.push(
            "whose keys these are, and the root quorum: you have no known keys of this organization, so the bundle's \
             own were used"
                .to_owned(),
        );
    }
    let exported = date_time(bundle.exported_at());
    lines.push(format!(
        "that this is the current state: status, rule, users, policies and names are those that the daemon stated, \
         exported {exported} by the exporter's clock"
    ));
    lines.push("that no vote is missing: a bundle can omit votes".to_owned());
    lines.push("when votes were recorded: only the time of signing is signed".to_owned());
    if !review.activity.status.waits() {
        lines.push("what the activity did: the result is not part of a bundle".to_owned());
    }
    let stated = review.checks.iter().filter(|check| check.mark == Mark::Stated && check.id != "K11");
    lines.extend(stated.map(|check| format!("{}: {}", check.id, check.text)));
    lines
}
