//! Compares how many approvals policies need when they apply to the same requests.

use super::scenario::Scenario;
use super::{Finding, Level, truth};
use crate::DECISION_STEP_LIMIT;
use crate::budget::Budget;
use crate::decide::{self, Approver, Effect, Electorate, PolicyOutcome, PolicyProgram, Proposer};
use crate::electorate::Ballot;
use crate::evaluate::{Evaluation, Roots};
use crate::expression_kind::ExpressionKind;
use crate::plan::{Node, conjuncts};
use crate::program::Program;
use crate::simulate::{NamedPolicy, OrganizationRules};
use crate::value::Value;

/// Returns the outcome of a policy whose condition and time hold, while no user of the organization has voted
/// yet.
pub(super) fn outcome_of_all(policy: &PolicyProgram, rules: &OrganizationRules) -> PolicyOutcome {
    let consensus = PolicyProgram { condition: None, time: None, ..policy.clone() };
    let electorate = no_votes(rules);
    decide::outcome(&consensus, &Value::List(Vec::new()), &electorate)
}

/// Returns the electorate before the first vote. The proposer is a root user and so may wait for any
/// consensus.
fn no_votes(rules: &OrganizationRules) -> Electorate<'_> {
    let proposer = Proposer { user_id: String::new(), is_root: true };
    Electorate::new(proposer, Vec::<Approver>::new(), || rules.users.clone())
}

/// Returns the fewest approvals that meet the consensus: 1, 2, or 3 for three or more.
fn fewest(policy: &NamedPolicy, rules: &OrganizationRules) -> usize {
    let Some(program) = &policy.program.consensus else { return 1 };
    let electorate = no_votes(rules);
    let ballots = electorate.ballots();
    let mut budget = Budget::new(DECISION_STEP_LIMIT);
    let mut holds = |added: &[&Ballot<'_>]| holds_with(program, &electorate, added, &mut budget);
    if ballots.iter().any(|one| holds(&[one])) {
        return 1;
    }
    let pairs = ballots
        .iter()
        .enumerate()
        .flat_map(|(index, one)| ballots.iter().skip(index.saturating_add(1)).map(move |other| (one, other)));
    for (one, other) in pairs {
        if holds(&[one, other]) {
            return 2;
        }
    }
    3
}

fn holds_with<'e>(
    program: &'e Program,
    electorate: &'e Electorate<'_>,
    added: &[&Ballot<'e>],
    budget: &mut Budget,
) -> bool {
    if !budget.spend(added.len()) {
        return false;
    }
    let roots = Roots::Voters(electorate.voters(added));
    Evaluation::new(roots, budget).truth(program.plan()) == Ok(true)
}

/// An allow policy and its properties.
struct Grant<'p> {
    policy: &'p NamedPolicy,
    /// Fewest approvals that meet the consensus, as returned by [`fewest`].
    approvals: usize,
    /// Conjuncts of the condition.
    parts: Vec<&'p Node>,
    /// For each scenario, whether the condition can be true.
    holds: Vec<bool>,
}

impl<'p> Grant<'p> {
    fn of(policy: &'p NamedPolicy, rules: &OrganizationRules, scenarios: &[Scenario]) -> Self {
        let condition = policy.program.condition.as_ref();
        let parts = condition.map(|program| conjuncts(program.plan())).unwrap_or_default();
        let holds = scenarios.iter().map(|scenario| truth::all(&parts, scenario).truth).collect();
        Self { policy, approvals: fewest(policy, rules), parts, holds }
    }

    /// Returns whether one request can meet both conditions.
    fn overlaps(&self, other: &Self) -> bool {
        let both = self.holds.iter().zip(&other.holds).any(|(one, other)| *one && *other);
        let parts: Vec<&Node> = self.parts.iter().chain(&other.parts).copied().collect();
        both && !truth::contradict(&parts)
    }
}

/// Reports each allow policy that another policy bypasses: it allows some of the same requests with fewer
/// approvals.
pub(super) fn overlaps(rules: &OrganizationRules, scenarios: &[Scenario], findings: &mut Vec<Finding>) {
    let allows = rules.policies.iter().filter(|policy| policy.program.effect == Effect::Allow);
    let grants: Vec<Grant<'_>> = allows.map(|policy| Grant::of(policy, rules, scenarios)).collect();
    for grant in &grants {
        let fewer = |other: &&Grant<'_>| other.approvals < grant.approvals && grant.overlaps(other);
        let Some(other) = grants.iter().filter(fewer).min_by_key(|other| other.approvals) else { continue };
        let required =
            if grant.approvals > 2 { "more than 2".to_owned() } else { grant.approvals.to_string() };
        let plural = if other.approvals == 1 { "" } else { "s" };
        let text = format!(
            "policy \"{}\" may allow the same requests with {} approval{plural} instead of {required}",
            other.policy.name, other.approvals,
        );
        findings.push(Finding {
            level: Level::Note,
            code: "fewer-people",
            policy_id: grant.policy.id.clone(),
            policy_name: grant.policy.name.clone(),
            expression: ExpressionKind::Consensus,
            text,
        });
    }
}
