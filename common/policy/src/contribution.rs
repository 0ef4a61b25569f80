//! Decides whether a user contributes to a consensus, and so may keep a request waiting and vote on it.

use crate::budget::Budget;
use crate::electorate::{APPROVERS, CREDENTIALS, Electorate};
use crate::evaluate::{Evaluation, Roots};
use crate::operand::{Elements, Operand};
use crate::plan::{Each, Node, Step};
use crate::program::Program;
use crate::syntax::Quantifier;
use crate::{DECISION_STEP_LIMIT, STEP_LIMIT};

/// Returns whether a user contributes to a consensus.
///
/// A user contributes if the predicate of an `any` or `filter` over `approvers` or `credentials` is true for
/// them or one of their credentials. Any user contributes to a consensus that counts all approvers without a
/// predicate. A user who is neither an approver nor a candidate of the electorate never contributes.
///
/// This is one of the requirements for a reachable consensus; see [`crate::decide::outcome`].
pub fn contributes(program: &Program, electorate: &Electorate<'_>, user_id: &str) -> bool {
    contributes_within(program, electorate, user_id, &mut Budget::new(STEP_LIMIT))
}

/// Returns, for each user, whether they contribute to at least one of the programs.
///
/// The search takes at most [`DECISION_STEP_LIMIT`] steps of the budget. Users that are checked after that
/// limit do not contribute.
pub fn contributors(
    programs: &[&Program],
    electorate: &Electorate<'_>,
    user_ids: &[String],
    budget: &mut Budget,
) -> Vec<bool> {
    budget.within(DECISION_STEP_LIMIT, |budget| {
        let mut counts = |user: &String| {
            programs.iter().any(|program| contributes_within(program, electorate, user, budget))
        };
        user_ids.iter().map(&mut counts).collect()
    })
}

/// Returns the same as [`contributes`], within a budget of steps.
pub(crate) fn contributes_within(
    program: &Program,
    electorate: &Electorate<'_>,
    user_id: &str,
    budget: &mut Budget,
) -> bool {
    let Some(member) = electorate.member(user_id) else {
        return false;
    };
    let readable = |record| Operand::of(record).ok();
    let own = UserElements {
        user: readable(member.record).into_iter().collect(),
        credentials: member.credentials.into_iter().filter_map(readable).collect(),
    };
    let added: Vec<_> = member.added.iter().collect();
    let roots = Roots::Voters(electorate.voters(&added));
    counts_in(program.plan(), &mut Evaluation::new(roots, budget), &own)
}

/// The elements of the two consensus roots that belong to one user.
struct UserElements<'a> {
    user: Vec<Operand<'a>>,
    credentials: Vec<Operand<'a>>,
}

impl<'a> UserElements<'a> {
    fn of_root(&self, node: &Node) -> Option<&[Operand<'a>]> {
        match node.step {
            Step::Root(APPROVERS) => Some(&self.user),
            Step::Root(CREDENTIALS) => Some(&self.credentials),
            _ => None,
        }
    }
}

/// Returns whether the user contributes to a part. A part that fails or runs out of steps does not count.
fn counts_in<'a>(node: &'a Node, evaluation: &mut Evaluation<'a, '_>, own: &UserElements<'a>) -> bool {
    if evaluation.spend(node, 1).is_err() {
        return false;
    }
    match &node.step {
        Step::Count(of) if matches!(of.step, Step::Root(APPROVERS)) => true,
        Step::Each(each) => {
            let Each { of, quantifier, predicate, .. } = &**each;
            counts_in(of, evaluation, own) || counts_in_each(of, *quantifier, predicate, evaluation, own)
        }
        _ => node.parts().into_iter().any(|part| counts_in(part, evaluation, own)),
    }
}

fn counts_in_each<'a>(
    of: &'a Node,
    quantifier: Quantifier,
    predicate: &'a Node,
    evaluation: &mut Evaluation<'a, '_>,
    own: &UserElements<'a>,
) -> bool {
    let voters = own.of_root(of);
    let chooses = voters.is_some() && quantifier != Quantifier::All;
    let elements = match voters {
        Some(own) => own.to_vec(),
        None => elements_of(of, evaluation),
    };
    elements.into_iter().any(|element| {
        evaluation.with_variable(element, |inner| {
            (chooses && inner.truth(predicate) == Ok(true)) || counts_in(predicate, inner, own)
        })
    })
}

fn elements_of<'a>(list: &'a Node, evaluation: &mut Evaluation<'a, '_>) -> Vec<Operand<'a>> {
    match evaluation.operand(list) {
        Ok(Operand::List(Elements::Borrowed(values))) => {
            values.iter().filter_map(|value| Operand::of(value).ok()).collect()
        }
        Ok(Operand::List(Elements::Computed(operands))) => operands.to_vec(),
        _ => Vec::new(),
    }
}
