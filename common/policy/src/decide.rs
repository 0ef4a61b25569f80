//! From policies, facts and voters to outcomes: for each policy, and for the organization.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::DECISION_STEP_LIMIT;
use crate::budget::Budget;
use crate::electorate::Voters;
use crate::error::EvaluationError;
use crate::flaw::Flaw;
use crate::presence;
use crate::program::{ExpressionKind, Program};
use crate::reach;
use crate::value::Facts;

pub use crate::electorate::{Approver, Credential, Electorate, Requester};

/// What a policy does when it applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Effect {
    /// Permits the request, unless another policy denies it.
    #[serde(rename = "EFFECT_ALLOW")]
    Allow,
    /// Denies the request, whatever other policies permit.
    #[serde(rename = "EFFECT_DENY")]
    Deny,
}

/// What a policy, or all policies together, say about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PolicyOutcome {
    /// Applies and permits.
    #[serde(rename = "OUTCOME_ALLOW")]
    Allow,
    /// Applies and denies.
    #[serde(rename = "OUTCOME_DENY_EXPLICIT")]
    DenyExplicit,
    /// Does not apply.
    #[serde(rename = "OUTCOME_DENY_IMPLICIT")]
    DenyImplicit,
    /// Would permit if more people approved, and they still could.
    #[serde(rename = "OUTCOME_REQUIRES_CONSENSUS")]
    RequiresConsensus,
    /// Could not be evaluated; skipped, whatever its effect.
    #[serde(rename = "OUTCOME_ERROR")]
    Error,
    /// Would apply at another time.
    #[serde(rename = "OUTCOME_TIME_INACTIVE")]
    TimeInactive,
}

impl PolicyOutcome {
    /// The name on the wire.
    pub fn wire_name(self) -> &'static str {
        match self {
            Self::Allow => "OUTCOME_ALLOW",
            Self::DenyExplicit => "OUTCOME_DENY_EXPLICIT",
            Self::DenyImplicit => "OUTCOME_DENY_IMPLICIT",
            Self::RequiresConsensus => "OUTCOME_REQUIRES_CONSENSUS",
            Self::Error => "OUTCOME_ERROR",
            Self::TimeInactive => "OUTCOME_TIME_INACTIVE",
        }
    }
}

impl fmt::Display for PolicyOutcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.wire_name())
    }
}

/// A policy whose expressions have been read and checked. An absent expression counts as true.
#[derive(Clone, Debug)]
pub struct PolicyProgram {
    /// What it does when it applies.
    pub effect: Effect,
    /// Which requests it is about; all, if absent.
    pub condition: Option<Program>,
    /// Who must agree; the requester's own submission suffices, if absent.
    pub consensus: Option<Program>,
    /// When it is active; always, if absent.
    pub time: Option<Program>,
}

/// What is wrong with a policy. Its `Display` is the message of the answer to the policy's author.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid policy {}: Expression cannot be evaluated: {flaw}", kind.name())]
pub struct PolicyFlaw {
    /// The expression with the flaw.
    pub kind: ExpressionKind,
    /// The flaw.
    #[source]
    pub flaw: Flaw,
}

impl PolicyProgram {
    /// Reads and checks the expressions of a policy.
    ///
    /// `None` is an absent expression. An empty condition or consensus is a flaw, as at creation; whoever stores an absent
    /// expression as empty text gives `None` for it. An empty time expression is an absent one.
    ///
    /// # Errors
    /// The flaw of the first expression that has one.
    pub fn parse(
        effect: Effect,
        condition: Option<&str>,
        consensus: Option<&str>,
        time: Option<&str>,
    ) -> Result<Self, PolicyFlaw> {
        let read = |kind: ExpressionKind, source: Option<&str>| {
            let program = source.map(|source| Program::parse(kind, source)).transpose();
            program.map_err(|flaw| PolicyFlaw { kind, flaw })
        };
        Ok(Self {
            effect,
            condition: read(ExpressionKind::Condition, condition)?,
            consensus: read(ExpressionKind::Consensus, consensus)?,
            time: read(ExpressionKind::Time, time.filter(|source| !source.is_empty()))?,
        })
    }

    /// Roughly how many bytes the expressions take in memory.
    pub fn bytes(&self) -> usize {
        let programs = [&self.condition, &self.consensus, &self.time];
        programs.into_iter().flatten().map(Program::bytes).sum()
    }
}

/// How a policy came to its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// What the condition said.
    pub condition: Result<bool, EvaluationError>,
    /// What the consensus said about the approvals as they stand.
    pub consensus: Result<bool, EvaluationError>,
    /// What the time expression said.
    pub time: Result<bool, EvaluationError>,
    /// What follows.
    pub outcome: PolicyOutcome,
}

/// What a policy says about a request, given the approvals as they stand.
///
/// All three expressions are evaluated, and an error in any is the outcome of the whole. A consensus that is not met keeps a
/// request alive when the policy allows and the consensus is reachable:
///
/// 1. it is true for approvers and candidates together with all their credentials, or for the approvers with one or two more
///    candidates;
/// 2. the requester is a root user, or [contributes](crate::contributes) to it.
pub fn outcome(policy: &PolicyProgram, facts: &dyn Facts, electorate: &Electorate<'_>) -> PolicyOutcome {
    evaluation(policy, facts, electorate).outcome
}

/// Like [`outcome`], with what each expression said.
pub fn evaluation(policy: &PolicyProgram, facts: &dyn Facts, electorate: &Electorate<'_>) -> Evaluation {
    let request = Request { facts, electorate, approvals: electorate.voters(&[]) };
    request.evaluate(policy, &mut Budget::new(DECISION_STEP_LIMIT))
}

/// What policies are asked about.
struct Request<'e, 'a> {
    facts: &'e dyn Facts,
    electorate: &'e Electorate<'a>,
    /// As they stand.
    approvals: Voters<'e>,
}

impl<'e> Request<'e, '_> {
    fn evaluate(&self, policy: &'e PolicyProgram, budget: &mut Budget) -> Evaluation {
        let Self { facts, electorate, approvals } = self;
        let mut over_facts = |program: &Option<Program>| {
            program.as_ref().map_or(Ok(true), |program| program.run(*facts, budget))
        };
        let condition = over_facts(&policy.condition);
        let time = over_facts(&policy.time);
        let consensus = match &policy.consensus {
            None => Ok(true),
            Some(program) => reach::holds_now(program, approvals, budget),
        };
        let outcome = match (&condition, &consensus, &time) {
            (Ok(true), Ok(true), Ok(true)) => match policy.effect {
                Effect::Allow => PolicyOutcome::Allow,
                Effect::Deny => PolicyOutcome::DenyExplicit,
            },
            (Ok(true), Ok(true), Ok(false)) => PolicyOutcome::TimeInactive,
            (Ok(true), Ok(false), Ok(_)) if is_reachable(policy, electorate, budget) => {
                PolicyOutcome::RequiresConsensus
            }
            (Ok(_), Ok(_), Ok(_)) => PolicyOutcome::DenyImplicit,
            _ => PolicyOutcome::Error,
        };
        Evaluation { condition, consensus, time, outcome }
    }
}

/// What becomes of a denying policy that fails over a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DenyErrors {
    /// It is skipped, like any policy that fails.
    #[default]
    Skip,
    /// It denies if everything its condition is about is among the facts. Its failure over a request of another kind
    /// stays without effect: otherwise a rule about one chain would block all requests on the others.
    Deny,
}

impl DenyErrors {
    fn outcome(self, policy: &PolicyProgram, facts: &dyn Facts, said: &Evaluation) -> PolicyOutcome {
        let failed = policy.effect == Effect::Deny && said.outcome == PolicyOutcome::Error;
        let condition = policy.condition.as_ref();
        let concerned = || {
            said.condition != Ok(false)
                && condition.is_none_or(|program| presence::namespaces_are_present(program, facts))
        };
        if self == Self::Deny && failed && concerned() { PolicyOutcome::DenyExplicit } else { said.outcome }
    }
}

/// Like [`outcome`], for an operator who chose what becomes of denying policies that fail.
pub fn strict_outcome(
    policy: &PolicyProgram,
    facts: &dyn Facts,
    electorate: &Electorate<'_>,
) -> PolicyOutcome {
    DenyErrors::Deny.outcome(policy, facts, &evaluation(policy, facts, electorate))
}

/// A consensus on a denying policy applies or does not; it never makes a request wait.
fn is_reachable(policy: &PolicyProgram, electorate: &Electorate<'_>, budget: &mut Budget) -> bool {
    let program = policy.consensus.as_ref().filter(|_| policy.effect == Effect::Allow);
    program.is_some_and(|program| reach::reachable(program, electorate, budget))
}

/// What all policies say about a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ruling {
    /// What each policy says, in their order.
    pub outcomes: Vec<PolicyOutcome>,
    /// The policies ask for more work than a decision may cause. Then none of them permits anything.
    pub is_exhausted: bool,
}

/// Asks all policies about a request. Together they may take [`DECISION_STEP_LIMIT`] steps of the budget; what a denial
/// said before they are used up stays, and everything else fails.
pub fn consult<'p>(
    policies: impl IntoIterator<Item = &'p PolicyProgram>,
    facts: &'p dyn Facts,
    electorate: &'p Electorate<'_>,
    deny_errors: DenyErrors,
    budget: &mut Budget,
) -> Ruling {
    let request = Request { facts, electorate, approvals: electorate.voters(&[]) };
    let (mut outcomes, is_exhausted) = budget.within(DECISION_STEP_LIMIT, |budget| {
        let mut said = |policy: &'p PolicyProgram| {
            let said = request.evaluate(policy, budget);
            deny_errors.outcome(policy, facts, &said)
        };
        let outcomes: Vec<_> = policies.into_iter().map(&mut said).collect();
        (outcomes, budget.is_spent())
    });
    if is_exhausted {
        for outcome in outcomes.iter_mut().filter(|outcome| **outcome != PolicyOutcome::DenyExplicit) {
            *outcome = PolicyOutcome::Error;
        }
    }
    Ruling { outcomes, is_exhausted }
}

impl Ruling {
    /// What the organization says, see [`verdict`].
    pub fn verdict(&self, standing: Standing) -> PolicyOutcome {
        // Changing credentials of one's own needs no policy, but one that was not asked could deny it.
        let is_self_service = standing.is_self_service && !self.is_exhausted;
        verdict(Standing { is_self_service, ..standing }, self.outcomes.iter().copied())
    }
}

/// What the organization knows about a request apart from its policies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "four independent facts, not states of one machine")]
pub struct Standing {
    /// The approving root users reach the threshold of the root quorum.
    pub root_quorum_is_met: bool,
    /// Only the root quorum decides requests of this type.
    pub root_quorum_only: bool,
    /// The requester belongs to the root quorum.
    pub requester_is_root: bool,
    /// The requester creates or deletes credentials of his own and touches nothing else.
    pub is_self_service: bool,
}

/// What the organization says about a request: [`PolicyOutcome::Allow`], [`PolicyOutcome::DenyExplicit`],
/// [`PolicyOutcome::DenyImplicit`] or [`PolicyOutcome::RequiresConsensus`].
///
/// A met root quorum overrides everything, explicit denials included. So a root user's request waits for the quorum even while
/// a policy denies it; no policy can permit it then.
pub fn verdict(standing: Standing, outcomes: impl IntoIterator<Item = PolicyOutcome>) -> PolicyOutcome {
    let waits_for_root = if standing.requester_is_root {
        PolicyOutcome::RequiresConsensus
    } else {
        PolicyOutcome::DenyImplicit
    };
    if standing.root_quorum_is_met {
        return PolicyOutcome::Allow;
    }
    if standing.root_quorum_only {
        return waits_for_root;
    }
    let mut allowed = standing.is_self_service;
    let mut denied = false;
    let mut waits = false;
    for outcome in outcomes {
        allowed |= outcome == PolicyOutcome::Allow;
        denied |= outcome == PolicyOutcome::DenyExplicit;
        waits |= outcome == PolicyOutcome::RequiresConsensus;
    }
    match (denied, allowed, waits) {
        (true, _, _) if standing.requester_is_root => PolicyOutcome::RequiresConsensus,
        (true, _, _) => PolicyOutcome::DenyExplicit,
        (false, true, _) => PolicyOutcome::Allow,
        (false, false, true) => PolicyOutcome::RequiresConsensus,
        (false, false, false) => waits_for_root,
    }
}

/// The verdict on a request that holds several payloads, of which each was judged by itself: the strictest one, so that a batch
/// is never weaker than its members. No payload at all permits nothing.
pub fn strictest(verdicts: impl IntoIterator<Item = PolicyOutcome>) -> PolicyOutcome {
    let rank = |verdict: &PolicyOutcome| match verdict {
        PolicyOutcome::Allow => 0_u8,
        PolicyOutcome::DenyImplicit | PolicyOutcome::Error | PolicyOutcome::TimeInactive => 1,
        PolicyOutcome::RequiresConsensus => 2,
        PolicyOutcome::DenyExplicit => 3,
    };
    verdicts.into_iter().max_by_key(rank).unwrap_or(PolicyOutcome::DenyImplicit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(condition: Option<&str>, consensus: Option<&str>, time: Option<&str>, expected: Option<&str>) {
        let read = PolicyProgram::parse(Effect::Allow, condition, consensus, time);
        let flaw = read.err().map(|flaw| flaw.to_string());
        assert_eq!(flaw.as_deref(), expected);
    }

    #[test]
    fn a_flaw_is_told_in_the_words_clients_know() {
        check(None, None, None, None);
        check(Some("true"), Some("true"), Some("true"), None);
        check(None, None, Some(""), None);
        check(
            Some(""),
            None,
            None,
            Some(
                "invalid policy condition: Expression cannot be evaluated: parse error: Unrecognized EOF found at 0",
            ),
        );
        check(
            None,
            Some(""),
            None,
            Some(
                "invalid policy consensus: Expression cannot be evaluated: parse error: Unrecognized EOF found at 0",
            ),
        );
        check(
            Some("activity.nope == 'x'"),
            None,
            None,
            Some("invalid policy condition: Expression cannot be evaluated: field does not exist: nope"),
        );
        check(
            None,
            None,
            Some("activity.kind == 'x'"),
            Some("invalid policy time: Expression cannot be evaluated: field does not exist: activity"),
        );
    }
}
