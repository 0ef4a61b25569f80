//! How many people a policy needs, and where another one needs fewer.

use super::scenario::Scenario;
use super::{Finding, Level, conjuncts, truth};
use crate::DECISION_STEP_LIMIT;
use crate::budget::Budget;
use crate::decide::{self, Approver, Effect, Electorate, PolicyOutcome, PolicyProgram, Requester};
use crate::electorate::Ballot;
use crate::evaluate::{Evaluation, Roots};
use crate::plan::Node;
use crate::program::{ExpressionKind, Program};
use crate::simulate::{House, NamedPolicy};
use crate::value::Value;

/// What the consensus of a policy comes to when it is still to be met by anybody of the organization.
pub(super) fn outcome_of_all(policy: &PolicyProgram, house: &House) -> PolicyOutcome {
    let consensus = PolicyProgram { condition: None, time: None, ..policy.clone() };
    let electorate = nobody(house);
    decide::outcome(&consensus, &Value::List(Vec::new()), &electorate)
}

/// Voters of whom none has voted; who asks has a part in everything.
fn nobody(house: &House) -> Electorate<'_> {
    let requester = Requester { user_id: String::new(), is_root: true };
    Electorate::new(requester, Vec::<Approver>::new(), || house.users.clone())
}

/// With how few approvals the consensus is met: one, two, or more than that.
fn fewest(policy: &NamedPolicy, house: &House) -> usize {
    let Some(program) = &policy.program.consensus else { return 1 };
    let electorate = nobody(house);
    let ballots = electorate.ballots();
    let mut budget = Budget::new(DECISION_STEP_LIMIT);
    let mut holds = |added: &[&Ballot<'_>]| holds_with(program, &electorate, added, &mut budget);
    if ballots.iter().any(|one| holds(&[one])) {
        return 1;
    }
    let pairs = ballots
        .iter()
        .enumerate()
        .flat_map(|(place, one)| ballots.iter().skip(place.saturating_add(1)).map(move |other| (one, other)));
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

/// A policy that allows, and what is known of it.
struct Grant<'p> {
    policy: &'p NamedPolicy,
    /// With how few approvals it is met.
    people: usize,
    /// The parts of its condition.
    parts: Vec<&'p Node>,
    /// For each sort of request whether its condition can hold.
    holds: Vec<bool>,
}

impl<'p> Grant<'p> {
    fn of(policy: &'p NamedPolicy, house: &House, scenarios: &[Scenario]) -> Self {
        let condition = policy.program.condition.as_ref();
        let parts = condition.map(|program| conjuncts(program.plan())).unwrap_or_default();
        let holds = scenarios.iter().map(|scenario| truth::all(&parts, scenario).truth).collect();
        Self { policy, people: fewest(policy, house), parts, holds }
    }

    /// Whether some request can meet both conditions.
    fn meets(&self, other: &Self) -> bool {
        let both = self.holds.iter().zip(&other.holds).any(|(one, other)| *one && *other);
        let parts: Vec<&Node> = self.parts.iter().chain(&other.parts).copied().collect();
        both && !truth::contradict(&parts)
    }
}

/// Where a policy asks for several people and another one lets fewer decide on the same requests.
pub(super) fn overlaps(house: &House, scenarios: &[Scenario], findings: &mut Vec<Finding>) {
    let allows = house.policies.iter().filter(|policy| policy.program.effect == Effect::Allow);
    let grants: Vec<Grant<'_>> = allows.map(|policy| Grant::of(policy, house, scenarios)).collect();
    for grant in &grants {
        let fewer = |other: &&Grant<'_>| other.people < grant.people && grant.meets(other);
        let Some(other) = grants.iter().filter(fewer).min_by_key(|other| other.people) else { continue };
        let asked = if grant.people > 2 { "more than 2".to_owned() } else { grant.people.to_string() };
        let text = format!(
            "where both apply, {} of those that \"{}\" names may decide, and this asks for {asked}",
            other.people, other.policy.name,
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
