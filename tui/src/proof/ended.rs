//! Reviews of activities that have ended. The organization has changed since they were decided, by their own effects
//! among others, so nothing is compared with its present state.

use quorate_common::activity::Activity;
use quorate_common::console::{OrganizationDetail, OrganizationHead};
use quorate_common::wire::Quorum;

use super::proposal::Proposal;
use crate::kinds::{self, Decoded, Flag, ReviewContext};

/// Why the review of an ended activity shows no comparison.
const NOTE: &str = "The activity has ended: effects and flags that depend on the present state of the organization are not shown.";

/// Returns why a review shows no comparison with the present state, if so.
pub(super) fn note(activity: &Activity) -> Option<&'static str> {
    activity.status.is_terminal().then_some(NOTE)
}

/// Removes from the description of an ended activity what compares with the present state. A flag holds for the signed
/// bytes alone if an organization without records raises the same one.
pub(super) fn detach(proposal: &Proposal, context: &ReviewContext<'_>, decoded: &mut Decoded) {
    let quorum = Quorum { threshold: 0, user_ids: Vec::new() };
    let head = OrganizationHead { root_quorum: quorum, ..context.organization.head.clone() };
    let empty = OrganizationDetail::of(head);
    let bare = ReviewContext { proposer: context.proposer, book: context.book, ..ReviewContext::of(&empty) };
    let bare = kinds::decode(&proposal.activity_type, &proposal.parameters, &bare).description;
    let description = &mut decoded.description;
    let holds = |flag: &Flag| !flag.of_now && bare.flags.contains(flag);
    description.flags.retain(holds);
    description.changes.clear();
    description.execution_error = None;
}
