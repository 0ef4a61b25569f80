//! Counts the verified votes, independently of the daemon's count.

use quorate_common::activity::Status;
use quorate_common::console::{WaitingReason, WaitingRule};
use quorate_common::ids::UserId;
use quorate_common::wire::{MfaStatus, PolicyOutcome};

use super::evidence::Evidence;
use super::votes::VoteProof;
use crate::kinds::Danger;

/// The verified approvals, the required number, and the users who can still approve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Users whose verified approval counts here.
    pub(crate) counted: Vec<UserId>,
    /// Root users among them.
    pub(crate) root: Vec<UserId>,
    /// Root quorum threshold, as the daemon states.
    pub(crate) needed: u32,
    /// Users whose approval would still count, as the daemon states, without those counted here.
    pub(crate) open_to: Vec<UserId>,
    /// The rule, as the daemon states; absent if the activity does not wait.
    pub(crate) rule: Option<WaitingRule>,
    /// Why this rule applies, as the daemon states.
    pub(crate) reason: Option<WaitingReason>,
    /// MFA policies that the proposer and the voters do not meet yet, as the daemon states. Their approvals are not
    /// counted, except that of the proposer.
    pub(crate) unmet: Vec<MfaStatus>,
    /// The proposer, if the activity waited for their proofs, none of which is required anymore: it is executed with
    /// their next approval, as the daemon states.
    pub(crate) resumes_with: Option<UserId>,
    /// Current outcome of each policy, as the daemon states.
    pub(crate) policy_evaluations: Vec<PolicyOutcome>,
    /// When the oldest counted approval expires, computed here, in milliseconds since the Unix epoch.
    pub(crate) expires_at: Option<u64>,
    /// Users whose approvals the daemon counts but this console does not.
    pub(crate) overclaimed: Vec<UserId>,
    /// Required number of approvals, as the daemon states.
    pub(crate) stated_needed: Option<u32>,
    /// The value to type if the risk is high.
    pub(crate) danger: Option<Danger>,
}

impl Tally {
    /// Returns the number of approvals to show: those of root users if the root quorum decides.
    pub(crate) fn has(&self) -> usize {
        self.has_list().len()
    }

    /// Returns the users whose approvals [`Tally::has`] counts.
    pub(crate) fn has_list(&self) -> &[UserId] {
        if self.rule == Some(WaitingRule::Policy) { &self.counted } else { &self.root }
    }

    /// Returns whether a further approval of a user who approved makes a difference: it proves an authentication
    /// method, or executes the activity because none is required anymore.
    pub(crate) fn may_approve_again(&self, user: UserId) -> bool {
        self.resumes_with == Some(user) || self.unmet.iter().any(|unmet| unmet.user_id == user)
    }

    /// Returns the number of missing approvals, if the rule is a number.
    pub(crate) fn short_by(&self) -> usize {
        usize::try_from(self.needed).unwrap_or(usize::MAX).saturating_sub(self.has())
    }
}

pub(super) fn count(evidence: &Evidence<'_>, votes: &[VoteProof]) -> Tally {
    let quorum = &evidence.record.organization.head.root_quorum;
    let unmet = unmet(evidence);
    let is_unmet = |vote: &VoteProof| unmet.iter().any(|unmet| unmet.user_id == vote.user);
    let proposer = votes.iter().find(|vote| vote.proposes).map(|vote| vote.user);
    let counts = |vote: &&VoteProof| vote.counts() && (proposer == Some(vote.user) || !is_unmet(vote));
    let live: Vec<&VoteProof> = votes.iter().filter(counts).collect();
    let mut counted: Vec<UserId> = Vec::new();
    for vote in &live {
        if !counted.contains(&vote.user) {
            counted.push(vote.user);
        }
    }
    let root = counted.iter().copied().filter(|user| quorum.user_ids.contains(user)).collect();
    let waiting = evidence.record.row.waiting.as_ref();
    let open_to = waiting.map(|waiting| waiting.open_to.clone()).unwrap_or_default();
    let is_met = waiting.is_some_and(|waiting| waiting.reason == WaitingReason::NextVote);
    let waited = evidence.record.row.activity.status == Status::AuthenticatorsNeeded;
    let resumes = |user: &UserId| is_met && waited && !unmet.iter().any(|unmet| unmet.user_id == *user);
    let overclaimed = waiting.map(|waiting| waiting.counted.clone()).unwrap_or_default();
    Tally {
        open_to: open_to.into_iter().filter(|user| !counted.contains(user)).collect(),
        overclaimed: overclaimed.into_iter().filter(|user| !counted.contains(user)).collect(),
        expires_at: live
            .iter()
            .map(|vote| vote.cast.saturating_add(quorate_common::activity::VOTE_WINDOW_MILLIS))
            .min(),
        needed: quorum.threshold,
        stated_needed: waiting.map(|waiting| waiting.needed),
        rule: waiting.map(|waiting| waiting.rule),
        reason: waiting.map(|waiting| waiting.reason),
        policy_evaluations: waiting.map(|waiting| waiting.policy_evaluations.clone()).unwrap_or_default(),
        resumes_with: proposer.filter(resumes),
        counted,
        root,
        danger: None,
        unmet,
    }
}

/// Returns the MFA policies that are not met, as the daemon states.
pub(super) fn unmet(evidence: &Evidence<'_>) -> Vec<MfaStatus> {
    let waiting = evidence.record.row.waiting.as_ref();
    let mfa = waiting.map(|waiting| waiting.mfa.as_slice()).unwrap_or_default();
    mfa.iter().filter(|status| !status.satisfied).cloned().collect()
}
