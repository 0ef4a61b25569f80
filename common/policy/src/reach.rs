//! Whether a consensus that is not met could still be met. Deterministic, bounded by steps.

use crate::budget::Budget;
use crate::contribution::takes_part;
use crate::electorate::{Ballot, Electorate, Voters};
use crate::error::EvaluationError;
use crate::evaluate::{Evaluation, Roots};
use crate::program::Program;

/// Runs a consensus over the approvals as they stand.
pub(crate) fn holds_now<'e>(
    program: &'e Program,
    approvals: &Voters<'e>,
    budget: &mut Budget,
) -> Result<bool, EvaluationError> {
    Evaluation::new(Roots::Voters(approvals.clone()), budget).truth(program.plan())
}

/// Whether further votes could make the consensus true, and the requester is someone it is waiting with.
///
/// Without the second half any user could park requests for somebody else's policy, and nothing would ever be denied.
pub(crate) fn reachable(program: &Program, electorate: &Electorate<'_>, budget: &mut Budget) -> bool {
    let requester = electorate.requester();
    let counts = requester.is_root || takes_part(program, electorate, &requester.user_id, budget);
    counts && Search { program, electorate, budget }.could_hold()
}

struct Search<'e, 'a, 'b> {
    program: &'e Program,
    electorate: &'e Electorate<'a>,
    /// When it is spent the search gives up; then nothing is reachable.
    budget: &'b mut Budget,
}

impl<'e> Search<'e, '_, '_> {
    /// Tries everyone together, then one more voter, then two more: a consensus such as `approvers.count() == 2` is false for
    /// everyone together, and so is one about credentials that only some of a voter's credentials satisfy.
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
        for (place, one) in ways.iter().enumerate() {
            let others = ways.iter().skip(place.saturating_add(1));
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
        let gathering =
            added.iter().map(|ballot| ballot.len()).fold(self.electorate.len(), usize::saturating_add);
        if !self.budget.spend(gathering) {
            return false;
        }
        let roots = Roots::Voters(self.electorate.voters(added));
        Evaluation::new(roots, self.budget).truth(self.program.plan()) == Ok(true)
    }
}
