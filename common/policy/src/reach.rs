//! Decides whether further votes could meet a consensus. The search is deterministic and bounded in steps.

use crate::budget::Budget;
use crate::contribution::contributes_within;
use crate::electorate::{Ballot, Electorate, Voters};
use crate::error::EvaluationError;
use crate::evaluate::{Evaluation, Roots};
use crate::program::Program;

/// Evaluates a consensus over the current approvals.
pub(crate) fn holds_now<'e>(
    program: &'e Program,
    approvals: &Voters<'e>,
    budget: &mut Budget,
) -> Result<bool, EvaluationError> {
    Evaluation::new(Roots::Voters(approvals.clone()), budget).truth(program.plan())
}

/// Returns whether further votes could make the consensus true and the proposer may wait for them.
///
/// The proposer may wait if they are a root user or contribute to the consensus. Otherwise any user could
/// leave requests pending under somebody else's policy, and no request would ever be denied.
pub(crate) fn reachable(program: &Program, electorate: &Electorate<'_>, budget: &mut Budget) -> bool {
    let proposer = electorate.proposer();
    let counts = proposer.is_root || contributes_within(program, electorate, &proposer.user_id, budget);
    counts && Search { program, electorate, budget }.could_hold()
}

struct Search<'e, 'a, 'b> {
    program: &'e Program,
    electorate: &'e Electorate<'a>,
    /// Once the budget is spent, the search stops and the consensus counts as unreachable.
    budget: &'b mut Budget,
}

impl<'e> Search<'e, '_, '_> {
    /// Tries all candidates together, then one more voter, then two more.
    ///
    /// A consensus such as `approvers.count() == 2` is false for all candidates together. So is a consensus
    /// on credentials that only some credentials of a voter satisfy.
    fn could_hold(&mut self) -> bool {
        let electorate: &'e Electorate<'_> = self.electorate;
        let ballots = electorate.ballots();
        let everyone: Vec<&Ballot<'_>> = ballots.iter().collect();
        if self.holds_with(&everyone) {
            return true;
        }
        let ways: Vec<Ballot<'_>> = ballots.iter().flat_map(Ballot::ways).collect();
        ways.iter().any(|one| self.holds_with(&[one])) || self.holds_with_two(&ways)
    }

    fn holds_with_two(&mut self, ways: &[Ballot<'e>]) -> bool {
        for (index, one) in ways.iter().enumerate() {
            let others = ways.iter().skip(index.saturating_add(1));
            for other in others.filter(|other| other.user_id != one.user_id) {
                if self.budget.is_spent() {
                    return false;
                }
                if self.holds_with(&[one, other]) {
                    return true;
                }
            }
        }
        false
    }

    fn holds_with(&mut self, added: &[&Ballot<'e>]) -> bool {
        let steps =
            added.iter().map(|ballot| ballot.len()).fold(self.electorate.len(), usize::saturating_add);
        if !self.budget.spend(steps) {
            return false;
        }
        let roots = Roots::Voters(self.electorate.voters(added));
        Evaluation::new(roots, self.budget).truth(self.program.plan()) == Ok(true)
    }
}
