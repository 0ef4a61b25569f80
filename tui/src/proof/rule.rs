//! The rule that an activity waits for, evaluated here over the votes that verify.

use std::collections::BTreeSet;

use quorate_common::console::{Waiting, WaitingReason};
use quorate_common::ids::UserId;
use quorate_policy::decide::PolicyOutcome;
use quorate_policy::simulate::Simulation;

use super::{Evidence, Mark, Proposal, VoteProof};
use crate::policies::{Body, Rules};
use crate::text::quoted;

/// What the organization says of a proposal, by this console's reckoning.
pub(super) struct Reckoning {
    /// What it comes to, with reasons.
    pub(super) simulation: Simulation,
    /// Why it waits.
    reason: WaitingReason,
    /// Whether what policies say depends on the time, of which daemon and console have their own.
    is_timed: bool,
}

/// Evaluates the rule. Nothing where the record does not say what with; the error says why it cannot be done.
pub(super) fn evaluate(
    evidence: &Evidence<'_>,
    proposal: &Proposal,
    votes: &[VoteProof],
) -> Option<Result<Reckoning, String>> {
    evidence.record.grounds.as_ref()?;
    let votes = votes.iter().filter(|vote| vote.counts());
    let keys: Vec<_> = votes.map(|vote| (vote.user, vote.public_key.as_str())).collect();
    Some(reckon(evidence, proposal, &keys))
}

/// Evaluates the rule over approvals by these users with these keys.
pub(super) fn reckon(
    evidence: &Evidence<'_>,
    proposal: &Proposal,
    keys: &[(UserId, &str)],
) -> Result<Reckoning, String> {
    let grounds = evidence.record.grounds.clone().unwrap_or_default();
    let organization = &evidence.record.organization;
    let rules = Rules::of(organization, grounds.strict_deny_errors, evidence.now);
    if let Some((policy, flaw)) = rules.unreadable.first() {
        return Err(format!("policy {}: {flaw}", quoted(&policy.policy_name)));
    }
    let body: Body = serde_json::from_str(&proposal.message).map_err(|error| error.to_string())?;
    let made = body.made(organization, &grounds.signers)?;
    let approvals = keys.iter().filter_map(|(user, key)| rules.approval(&user.to_string(), Some(key)));
    let approvals: Vec<_> = approvals.collect();
    let simulation = made.simulate(&rules.house, &proposal.asker.to_string(), &approvals, evidence.now);
    Ok(Reckoning {
        reason: reason(&simulation, made.is_for_root_quorum_only()),
        is_timed: rules.house.policies.iter().any(|policy| policy.program.time.is_some()),
        simulation,
    })
}

/// Why it waits, as the daemon would say it.
fn reason(simulation: &Simulation, is_for_root_quorum_only: bool) -> WaitingReason {
    let says = |outcome| simulation.policies.iter().any(|said| said.explanation.outcome == outcome);
    if simulation.verdict == PolicyOutcome::Allow {
        WaitingReason::NextVote
    } else if is_for_root_quorum_only {
        WaitingReason::RootQuorumOnly
    } else if says(PolicyOutcome::DenyExplicit) {
        WaitingReason::PolicyDenies
    } else if says(PolicyOutcome::RequiresConsensus) {
        WaitingReason::PolicyConsensus
    } else {
        WaitingReason::NoPolicyAllows
    }
}

impl Reckoning {
    /// Why it waits, in words.
    pub(super) fn because(&self) -> String {
        match self.reason {
            WaitingReason::PolicyConsensus => self.simulation.because.clone(),
            reason => reason_word(reason).to_owned(),
        }
    }

    /// How the daemon's word differs from this, if it does. It fails where the daemon asks for fewer people than are
    /// asked for here, unless the two clocks may be the reason.
    pub(super) fn difference(&self, stated: &Waiting) -> Option<(Mark, String)> {
        let because = &self.simulation.because;
        if stated.reason != self.reason {
            let says = reason_word(stated.reason);
            let claims_more = rank(stated.reason) < rank(self.reason) && !self.is_timed;
            let mark = if claims_more { Mark::Failed } else { Mark::Care };
            return Some((mark, format!("the daemon says that {says}; evaluated here: {because}")));
        }
        let mut here: Vec<_> = self
            .simulation
            .policies
            .iter()
            .map(|said| (said.policy_id.clone(), said.explanation.outcome.wire_name().to_owned()))
            .collect();
        let mut there: Vec<_> = stated
            .policy_evaluations
            .iter()
            .map(|said| (said.policy_id.to_string(), said.outcome.clone()))
            .collect();
        here.sort_unstable();
        there.sort_unstable();
        if here != there {
            let differing = here.iter().find(|said| !there.contains(said));
            let name = differing.and_then(|(id, _)| {
                self.simulation
                    .policies
                    .iter()
                    .find(|said| said.policy_id == *id)
                    .map(|said| &said.policy_name)
            });
            let which = name.map_or_else(|| "a policy".to_owned(), |name| format!("policy {}", quoted(name)));
            return Some((
                Mark::Care,
                format!("the daemon says something else of {which}; evaluated here: {because}"),
            ));
        }
        let here: BTreeSet<&str> = self.simulation.open_to.iter().map(String::as_str).collect();
        let there: Vec<String> = stated.open_to.iter().map(ToString::to_string).collect();
        let added = there.iter().filter(|user| !here.contains(user.as_str())).count();
        let is_asked = self.simulation.verdict == PolicyOutcome::RequiresConsensus;
        (is_asked && added > 0).then(|| {
            (
                Mark::Care,
                format!(
                    "the daemon takes votes of {added} {} not help here; {because}",
                    if added == 1 { "user who does" } else { "users who do" }
                ),
            )
        })
    }
}

/// How many people a reason asks for, in order: the fewest first.
const fn rank(reason: WaitingReason) -> u8 {
    match reason {
        WaitingReason::NextVote => 0,
        WaitingReason::PolicyConsensus => 1,
        WaitingReason::NoPolicyAllows | WaitingReason::PolicyDenies | WaitingReason::RootQuorumOnly => 2,
    }
}

/// A reason as people say it.
const fn reason_word(reason: WaitingReason) -> &'static str {
    match reason {
        WaitingReason::NextVote => "nothing is missing any more",
        WaitingReason::PolicyConsensus => "the consensus of a policy is missing",
        WaitingReason::NoPolicyAllows => "no policy allows it",
        WaitingReason::PolicyDenies => "a policy denies it",
        WaitingReason::RootQuorumOnly => "only the root quorum decides",
    }
}
