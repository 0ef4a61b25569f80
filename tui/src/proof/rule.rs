//! Evaluates the rule that an activity waits for, over the verified votes.

use std::collections::BTreeSet;

use quorate_common::console::{Waiting, WaitingReason};
use quorate_common::ids::UserId;
use quorate_policy::decide::PolicyOutcome;
use quorate_policy::simulate::Simulation;

use super::check::Mark;
use super::evidence::Evidence;
use super::proposal::Proposal;
use super::tally;
use super::votes::VoteProof;
use crate::policies::{Body, Rules};
use crate::text::quoted;

/// The decision of the organization on a proposal, as this console evaluates it.
pub(super) struct Evaluation {
    /// The decision with its reasons.
    pub(super) simulation: Simulation,
    /// Why the activity waits.
    reason: WaitingReason,
    /// Whether a policy depends on the time. The clocks of daemon and console can differ.
    is_timed: bool,
}

/// Evaluates the rule over the votes that count. Returns `None` if the record does not contain the required
/// data.
///
/// # Errors
///
/// The inner result fails with the reason if the rule cannot be evaluated.
pub(super) fn evaluate(
    evidence: &Evidence<'_>,
    proposal: &Proposal,
    votes: &[VoteProof],
) -> Option<Result<Evaluation, String>> {
    evidence.record.rule_inputs.as_ref()?;
    // As the daemon states, approvals of users who must still authenticate do not count.
    let unmet = tally::unmet(evidence);
    let is_unmet = |user: UserId| user != proposal.proposer && unmet.iter().any(|one| one.user_id == user);
    let votes = votes.iter().filter(|vote| vote.counts() && !is_unmet(vote.user));
    let keys: Vec<_> = votes.map(|vote| (vote.user, vote.public_key.as_str())).collect();
    Some(evaluate_approvals(evidence, proposal, &keys))
}

/// Evaluates the rule over approvals by these users with these keys.
///
/// # Errors
///
/// Fails with the reason if a policy or the request cannot be evaluated here.
pub(super) fn evaluate_approvals(
    evidence: &Evidence<'_>,
    proposal: &Proposal,
    keys: &[(UserId, &str)],
) -> Result<Evaluation, String> {
    let rule_inputs = evidence.record.rule_inputs.clone().unwrap_or_default();
    let organization = &evidence.record.organization;
    let rules = Rules::of(organization, rule_inputs.strict_deny_errors, evidence.now);
    if let Some((policy, error)) = rules.unreadable.first() {
        return Err(format!("policy {}: {error}", quoted(&policy.policy_name)));
    }
    let body: Body = serde_json::from_str(&proposal.message).map_err(|error| error.to_string())?;
    let parsed = body.parsed(organization, &rule_inputs.signers)?;
    let approvals = keys.iter().filter_map(|(user, key)| rules.approval(&user.to_string(), Some(key)));
    let approvals: Vec<_> = approvals.collect();
    let simulation = parsed.simulate(&rules.parsed, &proposal.proposer.to_string(), &approvals, evidence.now);
    Ok(Evaluation {
        reason: reason(&simulation, parsed.is_for_root_quorum_only()),
        is_timed: rules.parsed.policies.iter().any(|policy| policy.program.time.is_some()),
        simulation,
    })
}

/// Returns why the activity waits, as the daemon would state it.
fn reason(simulation: &Simulation, is_for_root_quorum_only: bool) -> WaitingReason {
    let has_outcome =
        |outcome| simulation.policies.iter().any(|policy| policy.explanation.outcome == outcome);
    if simulation.verdict == PolicyOutcome::Allow {
        WaitingReason::NextVote
    } else if is_for_root_quorum_only {
        WaitingReason::RootQuorumOnly
    } else if has_outcome(PolicyOutcome::DenyExplicit) {
        WaitingReason::PolicyDenies
    } else if has_outcome(PolicyOutcome::RequiresConsensus) {
        WaitingReason::PolicyConsensus
    } else {
        WaitingReason::NoPolicyAllows
    }
}

impl Evaluation {
    /// Returns why the activity waits, as text.
    pub(super) fn because(&self) -> String {
        match self.reason {
            WaitingReason::PolicyConsensus => self.simulation.because.clone(),
            reason => reason_word(reason).to_owned(),
        }
    }

    /// Returns how the daemon's statement differs from this evaluation, if it does. The check fails if the
    /// daemon requires fewer people than this evaluation, unless different clocks can explain it.
    pub(super) fn difference(&self, stated: &Waiting) -> Option<(Mark, String)> {
        let because = &self.simulation.because;
        // What a proposer must prove first is in addition to the rule.
        if stated.reason != self.reason && stated.reason != WaitingReason::Authenticators {
            let stated_reason = reason_word(stated.reason);
            let claims_more = rank(stated.reason) < rank(self.reason) && !self.is_timed;
            let mark = if claims_more { Mark::Failed } else { Mark::Attention };
            return Some((
                mark,
                format!("the daemon states that {stated_reason}; evaluated here: {because}"),
            ));
        }
        let mut computed: Vec<_> = self
            .simulation
            .policies
            .iter()
            .map(|policy| (policy.policy_id.clone(), policy.explanation.outcome.wire_name().to_owned()))
            .collect();
        let mut stated_outcomes: Vec<_> = stated
            .policy_evaluations
            .iter()
            .map(|policy| (policy.policy_id.to_string(), policy.outcome.clone()))
            .collect();
        computed.sort_unstable();
        stated_outcomes.sort_unstable();
        if computed != stated_outcomes {
            let differing = computed.iter().find(|policy| !stated_outcomes.contains(policy));
            let name = differing.and_then(|(id, _)| {
                self.simulation
                    .policies
                    .iter()
                    .find(|policy| policy.policy_id == *id)
                    .map(|policy| &policy.policy_name)
            });
            let which = name.map_or_else(|| "a policy".to_owned(), |name| format!("policy {}", quoted(name)));
            return Some((
                Mark::Attention,
                format!("the daemon states another outcome of {which}; evaluated here: {because}"),
            ));
        }
        let here: BTreeSet<&str> = self.simulation.open_to.iter().map(String::as_str).collect();
        let there: Vec<String> = stated.open_to.iter().map(ToString::to_string).collect();
        let added = there.iter().filter(|user| !here.contains(user.as_str())).count();
        let needs_approval = self.simulation.verdict == PolicyOutcome::RequiresConsensus;
        (needs_approval && added > 0).then(|| {
            (
                Mark::Attention,
                format!(
                    "the daemon accepts votes of {added} {} not count here; {because}",
                    if added == 1 { "user whose vote does" } else { "users whose votes do" }
                ),
            )
        })
    }
}

/// Ranks reasons by the number of people they require, fewest first.
const fn rank(reason: WaitingReason) -> u8 {
    match reason {
        WaitingReason::NextVote => 0,
        WaitingReason::PolicyConsensus => 1,
        WaitingReason::NoPolicyAllows
        | WaitingReason::PolicyDenies
        | WaitingReason::RootQuorumOnly
        | WaitingReason::Authenticators => 2,
    }
}

/// Returns a reason as text.
const fn reason_word(reason: WaitingReason) -> &'static str {
    match reason {
        WaitingReason::NextVote => "nothing is missing",
        WaitingReason::PolicyConsensus => "the consensus of a policy is missing",
        WaitingReason::NoPolicyAllows => "no policy allows it",
        WaitingReason::PolicyDenies => "a policy denies it",
        WaitingReason::RootQuorumOnly => "only the root quorum decides",
        WaitingReason::Authenticators => "the proposer must prove a second method",
    }
}
