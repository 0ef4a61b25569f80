//! The outcome of a policy and the verdict of an organization, step by step as in the specification.

use quorate_policy::decide::{Effect, PolicyOutcome, VerdictContext};

use crate::evaluator::evaluate;
use crate::fact::{Fact, Failed};
use crate::people::People;
use crate::tree::Tree;

/// A policy. An absent expression is true.
pub(crate) struct Policy {
    pub(crate) effect: Effect,
    pub(crate) condition: Option<Tree>,
    pub(crate) consensus: Option<Tree>,
    pub(crate) time: Option<Tree>,
}

/// The results of the three expressions, and the outcome.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Judgement {
    pub(crate) condition: Result<bool, Failed>,
    pub(crate) consensus: Result<bool, Failed>,
    pub(crate) time: Result<bool, Failed>,
    pub(crate) outcome: PolicyOutcome,
}

impl Policy {
    pub(crate) fn judge(&self, facts: &[(&'static str, Fact)], people: &People) -> Judgement {
        let run = |tree: &Option<Tree>, roots: &[(&'static str, Fact)]| {
            tree.as_ref().map_or(Ok(true), |tree| evaluate(tree, roots))
        };
        let condition = run(&self.condition, facts);
        let consensus = run(&self.consensus, &people.roots());
        let time = run(&self.time, facts);
        let outcome = self.outcome(condition, consensus, time, people);
        Judgement { condition, consensus, time, outcome }
    }

    fn outcome(
        &self,
        condition: Result<bool, Failed>,
        consensus: Result<bool, Failed>,
        time: Result<bool, Failed>,
        people: &People,
    ) -> PolicyOutcome {
        let (Ok(condition), Ok(consensus), Ok(time)) = (condition, consensus, time) else {
            return PolicyOutcome::Error;
        };
        if !condition {
            return PolicyOutcome::DenyImplicit;
        }
        if consensus && !time {
            return PolicyOutcome::TimeInactive;
        }
        match (consensus, self.effect) {
            (true, Effect::Allow) => PolicyOutcome::Allow,
            (true, Effect::Deny) => PolicyOutcome::DenyExplicit,
            (false, Effect::Allow) if self.consensus.as_ref().is_some_and(|tree| people.can_reach(tree)) => {
                PolicyOutcome::RequiresConsensus
            }
            (false, _) => PolicyOutcome::DenyImplicit,
        }
    }
}

/// Returns the verdict of the organization from the outcomes of its policies.
pub(crate) fn verdict(context: VerdictContext, outcomes: &[PolicyOutcome]) -> PolicyOutcome {
    let has = |wanted: PolicyOutcome| outcomes.contains(&wanted);
    if context.root_quorum_is_met {
        return PolicyOutcome::Allow;
    }
    let waits_for_roots =
        if context.proposer_is_root { PolicyOutcome::RequiresConsensus } else { PolicyOutcome::DenyImplicit };
    if context.root_quorum_only {
        return waits_for_roots;
    }
    if has(PolicyOutcome::DenyExplicit) {
        return if context.proposer_is_root { waits_for_roots } else { PolicyOutcome::DenyExplicit };
    }
    if has(PolicyOutcome::Allow) || context.is_self_service {
        return PolicyOutcome::Allow;
    }
    if has(PolicyOutcome::RequiresConsensus) { PolicyOutcome::RequiresConsensus } else { waits_for_roots }
}
