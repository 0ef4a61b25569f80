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

/// Where a policy asks for several people and another one lets fewer decide on the same requests.
pub(super) fn overlaps(house: &House, scenarios: &[Scenario], findings: &mut Vec<Finding>) {
    let allows = house.policies.iter().filter(|policy| policy.program.effect == Effect::Allow);
    let counted: Vec<(&NamedPolicy, usize)> = allows.map(|policy| (policy, fewest(policy, house))).collect();
    for (policy, people) in &counted {
        for (other, fewer) in counted.iter().filter(|(_, fewer)| fewer < people) {
            if !meet(policy, other, scenarios) {
                continue;
            }
            let text = format!(
                "where both apply, {fewer} of those that \"{}\" names may decide, and this asks for {}",
                other.name,
                if *people > 2 { "more than 2".to_owned() } else { people.to_string() }
            );
            findings.push(Finding {
                level: Level::Note,
                code: "fewer-people",
                policy_id: policy.id.clone(),
                policy_name: policy.name.clone(),
                expression: ExpressionKind::Consensus,
                text,
            });
        }
    }
}

/// Whether some request can meet both conditions.
fn meet(one: &NamedPolicy, other: &NamedPolicy, scenarios: &[Scenario]) -> bool {
    let conditions = [&one.program.condition, &other.program.condition];
    let parts: Vec<&Node> =
        conditions.into_iter().flatten().flat_map(|program| conjuncts(program.plan())).collect();
    scenarios.iter().any(|scenario| truth::all(&parts, scenario).truth)
}
