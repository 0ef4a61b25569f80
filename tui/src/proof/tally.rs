//! Counts verified votes again, without the daemon's arithmetic.

use quorate_common::console::{WaitingReason, WaitingRule};
use quorate_common::ids::UserId;
use quorate_common::wire::PolicyOutcome;

use super::{Evidence, VoteProof};
use crate::kinds::Danger;

/// Who has agreed, how many must, and who is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Users whose verified approval counts here.
    pub(crate) counted: Vec<UserId>,
    /// Root users among them.
    pub(crate) root: Vec<UserId>,
    /// How many root users must agree.
    pub(crate) needed: u32,
    /// Users whose approval would still help, by the daemon's word, without those counted here.
    pub(crate) open_to: Vec<UserId>,
    /// The rule, by the daemon's word; absent when it does not wait.
    pub(crate) rule: Option<WaitingRule>,
    /// Why that rule, and what each policy says now; all by the daemon's word.
    pub(crate) reason: Option<WaitingReason>,
    pub(crate) policy_evaluations: Vec<PolicyOutcome>,
    /// When the oldest counted approval lapses, computed here.
    pub(crate) lapses_at: Option<u64>,
    /// Users that the daemon counts and this console does not.
    pub(crate) overclaimed: Vec<UserId>,
    /// What the daemon says is needed.
    pub(crate) stated_needed: Option<u32>,
    /// What has to be typed when the risk is high.
    pub(crate) danger: Option<Danger>,
}

impl Tally {
    /// Approvals as shown: of root users where the root quorum decides.
    pub(crate) fn has(&self) -> usize {
        self.has_list().len()
    }

    /// Who gave the approvals of [`Tally::has`].
    pub(crate) fn has_list(&self) -> &[UserId] {
        if self.rule == Some(WaitingRule::Policy) { &self.counted } else { &self.root }
    }

    /// How many are missing, if the rule is a number.
    pub(crate) fn short_by(&self) -> usize {
        usize::try_from(self.needed).unwrap_or(usize::MAX).saturating_sub(self.has())
    }
}

pub(super) fn count(evidence: &Evidence<'_>, votes: &[VoteProof]) -> Tally {
    let quorum = &evidence.record.organization.head.root_quorum;
    let live: Vec<&VoteProof> = votes.iter().filter(|vote| vote.counts()).collect();
    let mut counted: Vec<UserId> = Vec::new();
    for vote in &live {
        if !counted.contains(&vote.user) {
            counted.push(vote.user);
        }
    }
    let root = counted.iter().copied().filter(|user| quorum.user_ids.contains(user)).collect();
    let waiting = evidence.record.row.waiting.as_ref();
    let open_to = waiting.map(|waiting| waiting.open_to.clone()).unwrap_or_default();
    let overclaimed = waiting.map(|waiting| waiting.counted.clone()).unwrap_or_default();
    Tally {
        open_to: open_to.into_iter().filter(|user| !counted.contains(user)).collect(),
        overclaimed: overclaimed.into_iter().filter(|user| !counted.contains(user)).collect(),
        lapses_at: live
            .iter()
            .map(|vote| vote.cast.saturating_add(quorate_common::activity::VOTE_WINDOW_MILLIS))
            .min(),
        needed: quorum.threshold,
        stated_needed: waiting.map(|waiting| waiting.needed),
        rule: waiting.map(|waiting| waiting.rule),
        reason: waiting.map(|waiting| waiting.reason),
        policy_evaluations: waiting.map(|waiting| waiting.policy_evaluations.clone()).unwrap_or_default(),
        counted,
        root,
        danger: None,
    }
}
