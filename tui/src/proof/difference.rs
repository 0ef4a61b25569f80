//! Whether a newer record of an activity still is what was reviewed.

use quorate_common::activity::Vote;

use super::review::Review;
use super::states::state_text;
use crate::text::clock;

/// Describes a difference between the shown review and a newer one that makes the shown copy outdated.
pub(crate) fn difference(shown: &Review, fresh: &Review) -> Option<String> {
    let bytes = |review: &Review| review.proposal.as_ref().map(|proposal| proposal.message.clone());
    if bytes(shown) != bytes(fresh) || shown.activity.fingerprint != fresh.activity.fingerprint {
        return Some("the signed bytes".to_owned());
    }
    if shown.activity.intent != fresh.activity.intent
        || shown.activity.activity_type != fresh.activity.activity_type
    {
        return Some("the daemon's intent".to_owned());
    }
    if shown.activity.status != fresh.activity.status {
        return Some(format!("it is now {}", state_text(&fresh.activity, &fresh.organization)));
    }
    if votes(shown) != votes(fresh) {
        let old = shown.votes.len();
        let new: Vec<String> = fresh
            .votes
            .iter()
            .skip(old)
            .map(|vote| format!("{} voted {}", vote.name, clock(vote.cast)))
            .collect();
        return Some(if new.is_empty() { "the votes".to_owned() } else { new.join(", ") });
    }
    if shown.tally.rule != fresh.tally.rule
        || shown.tally.needed != fresh.tally.needed
        || shown.tally.counted != fresh.tally.counted
    {
        return Some("the rule or the tally".to_owned());
    }
    if visible_state(shown) != visible_state(fresh) {
        return Some("the state of the organization".to_owned());
    }
    (shown.blocked() != fresh.blocked()).then(|| "the outcome of a check".to_owned())
}

/// Returns the votes as they were cast, without the current data of the voters.
fn votes(review: &Review) -> Vec<Vote> {
    let votes = review.activity.votes.iter().cloned();
    votes.map(|vote| Vote { user: None, ..vote }).collect()
}

/// Returns the parts of a review that depend on the organization and not on the passing time. Other changes
/// of the organization do not affect the decision.
fn visible_state(review: &Review) -> impl PartialEq {
    let flags: Vec<_> = review.flags.iter().map(|flag| (flag.name, flag.level)).collect();
    let Review { sentence, fields, facts, changes, unknown_members, proposer, transfer, .. } = review.clone();
    (sentence, fields, facts, changes, unknown_members, proposer, transfer, flags)
}
