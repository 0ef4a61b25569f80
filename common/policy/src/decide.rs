//! Decides on requests: the outcome of each policy, and the verdict of the organization.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::DECISION_STEP_LIMIT;
use crate::budget::Budget;
use crate::electorate::Voters;
use crate::error::EvaluationError;
use crate::expression_error::ExpressionError;
use crate::expression_kind::ExpressionKind;
use crate::presence;
use crate::program::Program;
use crate::reach;
use crate::value::Facts;

pub use crate::electorate::{Approver, Credential, Electorate, Proposer};

/// The effect of a policy that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Effect {
    /// Permits the request, unless another policy denies it.
    #[serde(rename = "EFFECT_ALLOW")]
    Allow,
    /// Denies the request, even if other policies permit it.
    #[serde(rename = "EFFECT_DENY")]
    Deny,
}

/// The outcome of one policy, or of all policies together, for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PolicyOutcome {
    /// The policy applies and permits the request.
    #[serde(rename = "OUTCOME_ALLOW")]
    Allow,
    /// The policy applies and denies the request.
    #[serde(rename = "OUTCOME_DENY_EXPLICIT")]
    DenyExplicit,
    /// The policy does not apply.
    #[serde(rename = "OUTCOME_DENY_IMPLICIT")]
    DenyImplicit,
    /// The policy would permit the request with further approvals that are still possible.
    #[serde(rename = "OUTCOME_REQUIRES_CONSENSUS")]
    RequiresConsensus,
    /// The evaluation failed; the policy is skipped regardless of its effect.
    #[serde(rename = "OUTCOME_ERROR")]
    Error,
    /// The policy would apply at another time.
    #[serde(rename = "OUTCOME_TIME_INACTIVE")]
    TimeInactive,
}

impl PolicyOutcome {
    /// Returns the name on the wire.
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

/// A policy with parsed and checked expressions. An absent expression counts as true.
#[derive(Clone, Debug)]
pub struct PolicyProgram {
    /// Effect when the policy applies.
    pub effect: Effect,
    /// Selects the requests of the policy; all if absent.
    pub condition: Option<Program>,
    /// Determines who must approve; if absent, the proposer's own approval is enough.
    pub consensus: Option<Program>,
    /// Determines when the policy is active; always if absent.
    pub time: Option<Program>,
}

/// An error in a policy. Its `Display` is the message of the response to the author of the policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid policy {}: Expression cannot be evaluated: {error}", kind.name())]
pub struct PolicyError {
    /// Expression that contains the error.
    pub kind: ExpressionKind,
    /// Error in that expression.
    #[source]
    pub error: ExpressionError,
}

impl PolicyProgram {
    /// Parses and checks the expressions of a policy.
    ///
    /// `None` is an absent expression. An empty condition or consensus is an error; a caller that stores an
    /// absent expression as empty text must pass `None`. An empty time expression counts as absent.
    ///
    /// # Errors
    /// Returns the error of the first expression that has one, in the order condition, consensus, time.
    pub fn parse(
        effect: Effect,
        condition: Option<&str>,
        consensus: Option<&str>,
        time: Option<&str>,
    ) -> Result<Self, PolicyError> {
        let read = |kind: ExpressionKind, source: Option<&str>| {
            let program = source.map(|source| Program::parse(kind, source)).transpose();
            program.map_err(|error| PolicyError { kind, error })
        };
        Ok(Self {
            effect,
            condition: read(ExpressionKind::Condition, condition)?,
            consensus: read(ExpressionKind::Consensus, consensus)?,
            time: read(ExpressionKind::Time, time.filter(|source| !source.is_empty()))?,
        })
    }

    /// Returns the approximate size of the expressions in memory in bytes.
    pub fn bytes(&self) -> usize {
        let programs = [&self.condition, &self.consensus, &self.time];
        programs.into_iter().flatten().map(Program::bytes).sum()
    }
}

/// The outcome of a policy with the results of its expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// Result of the condition.
    pub condition: Result<bool, EvaluationError>,
    /// Result of the consensus over the current approvals.
    pub consensus: Result<bool, EvaluationError>,
    /// Result of the time expression.
    pub time: Result<bool, EvaluationError>,
    /// Outcome of the policy.
    pub outcome: PolicyOutcome,
}

/// Returns the outcome of a policy for a request with the current approvals.
///
/// All three expressions are evaluated, and an error in any of them makes the outcome
/// [`PolicyOutcome::Error`]. If the consensus of an allow policy is not met but reachable, the request waits.
/// The consensus is reachable if both hold:
///
/// 1. It is true for all approvers and candidates with all their credentials, or for the approvers with one
///    or two more candidates.
/// 2. The proposer is a root user or [contributes](crate::contributes) to the consensus.
pub fn outcome(policy: &PolicyProgram, facts: &dyn Facts, electorate: &Electorate<'_>) -> PolicyOutcome {
    evaluation(policy, facts, electorate).outcome
}

/// Returns the same as [`outcome`], with the result of each expression.
pub fn evaluation(policy: &PolicyProgram, facts: &dyn Facts, electorate: &Electorate<'_>) -> Evaluation {
    let request = Request { facts, electorate, approvals: electorate.voters(&[]) };
    request.evaluate(policy, &mut Budget::new(DECISION_STEP_LIMIT))
}

/// A request that policies are evaluated for.
struct Request<'e, 'a> {
    facts: &'e dyn Facts,
    electorate: &'e Electorate<'a>,
    /// Roots of a consensus over the current approvals.
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

/// Treatment of deny policies whose evaluation fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DenyErrors {
    /// The policy is skipped, like any policy whose evaluation fails.
    #[default]
    Skip,
    /// The policy denies if the facts contain all namespaces that its condition reads.
    ///
    /// A failure for a request of another kind has no effect: otherwise a policy on one chain would block all
    /// requests on other chains.
    Deny,
}

impl DenyErrors {
    fn outcome(self, policy: &PolicyProgram, facts: &dyn Facts, evaluation: &Evaluation) -> PolicyOutcome {
        let failed = policy.effect == Effect::Deny && evaluation.outcome == PolicyOutcome::Error;
        let condition = policy.condition.as_ref();
        let is_concerned = || {
            evaluation.condition != Ok(false)
                && condition.is_none_or(|program| presence::namespaces_are_present(program, facts))
        };
        if self == Self::Deny && failed && is_concerned() {
            PolicyOutcome::DenyExplicit
        } else {
            evaluation.outcome
        }
    }
}

/// Returns the same as [`outcome`], but with [`DenyErrors::Deny`].
pub fn strict_outcome(
    policy: &PolicyProgram,
    facts: &dyn Facts,
    electorate: &Electorate<'_>,
) -> PolicyOutcome {
    DenyErrors::Deny.outcome(policy, facts, &evaluation(policy, facts, electorate))
}

/// Returns whether the consensus of an allow policy is reachable. A deny policy never makes a request wait.
fn is_reachable(policy: &PolicyProgram, electorate: &Electorate<'_>, budget: &mut Budget) -> bool {
    let program = policy.consensus.as_ref().filter(|_| policy.effect == Effect::Allow);
    program.is_some_and(|program| reach::reachable(program, electorate, budget))
}

/// The outcomes of all policies for one subject of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubjectOutcomes {
    /// Outcome of each policy, in the order of the policies.
    pub outcomes: Vec<PolicyOutcome>,
    /// Whether the policies exceeded [`DECISION_STEP_LIMIT`]. Then no policy permits anything.
    pub is_exhausted: bool,
}

/// Evaluates all policies for a request, with at most [`DECISION_STEP_LIMIT`] steps of the budget.
///
/// If the steps run out, explicit denials found before that are kept, and every other outcome becomes
/// [`PolicyOutcome::Error`].
pub fn evaluate_policies<'p>(
    policies: impl IntoIterator<Item = &'p PolicyProgram>,
    facts: &'p dyn Facts,
    electorate: &'p Electorate<'_>,
    deny_errors: DenyErrors,
    budget: &mut Budget,
) -> SubjectOutcomes {
    let request = Request { facts, electorate, approvals: electorate.voters(&[]) };
    let (mut outcomes, is_exhausted) = budget.within(DECISION_STEP_LIMIT, |budget| {
        let mut outcome = |policy: &'p PolicyProgram| {
            let evaluation = request.evaluate(policy, budget);
            deny_errors.outcome(policy, facts, &evaluation)
        };
        let outcomes: Vec<_> = policies.into_iter().map(&mut outcome).collect();
        (outcomes, budget.is_spent())
    });
    if is_exhausted {
        for outcome in outcomes.iter_mut().filter(|outcome| **outcome != PolicyOutcome::DenyExplicit) {
            *outcome = PolicyOutcome::Error;
        }
    }
    SubjectOutcomes { outcomes, is_exhausted }
}

impl SubjectOutcomes {
    /// Returns the verdict of the organization; see [`verdict`].
    pub fn verdict(&self, context: VerdictContext) -> PolicyOutcome {
        // Users may change their own credentials without a policy, but a policy that was not evaluated could
        // deny it.
        let is_self_service = context.is_self_service && !self.is_exhausted;
        verdict(VerdictContext { is_self_service, ..context }, self.outcomes.iter().copied())
    }
}

/// What decides on a request besides the policies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "four independent facts, not states of one machine")]
pub struct VerdictContext {
    /// Whether the approving root users reach the threshold of the root quorum.
    pub root_quorum_is_met: bool,
    /// Whether only the root quorum decides on requests of this type.
    pub root_quorum_only: bool,
    /// Whether the proposer belongs to the root quorum.
    pub proposer_is_root: bool,
    /// Whether the proposer creates or deletes their own credentials and changes nothing else.
    pub is_self_service: bool,
}

/// Returns the verdict of the organization on a request: [`PolicyOutcome::Allow`],
/// [`PolicyOutcome::DenyExplicit`], [`PolicyOutcome::DenyImplicit`] or [`PolicyOutcome::RequiresConsensus`].
///
/// A met root quorum overrides everything, including explicit denials. A root user's request therefore waits
/// for the quorum even while a policy denies it; no policy can permit it then.
pub fn verdict(context: VerdictContext, outcomes: impl IntoIterator<Item = PolicyOutcome>) -> PolicyOutcome {
    let waits_for_root =
        if context.proposer_is_root { PolicyOutcome::RequiresConsensus } else { PolicyOutcome::DenyImplicit };
    if context.root_quorum_is_met {
        return PolicyOutcome::Allow;
    }
    if context.root_quorum_only {
        return waits_for_root;
    }
    let mut allowed = context.is_self_service;
    let mut denied = false;
    let mut waits = false;
    for outcome in outcomes {
        allowed |= outcome == PolicyOutcome::Allow;
        denied |= outcome == PolicyOutcome::DenyExplicit;
        waits |= outcome == PolicyOutcome::RequiresConsensus;
    }
    match (denied, allowed, waits) {
        (true, _, _) if context.proposer_is_root => PolicyOutcome::RequiresConsensus,
        (true, _, _) => PolicyOutcome::DenyExplicit,
        (false, true, _) => PolicyOutcome::Allow,
        (false, false, true) => PolicyOutcome::RequiresConsensus,
        (false, false, false) => waits_for_root,
    }
}

/// Returns the strictest of the verdicts on the payloads of a request, so that a batch is never weaker than
/// its members.
///
/// Without any verdict, it returns [`PolicyOutcome::DenyImplicit`].
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
        let parsed = PolicyProgram::parse(Effect::Allow, condition, consensus, time);
        let error = parsed.err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), expected);
    }

    #[test]
    fn policy_errors_have_the_messages_of_the_wire() {
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
