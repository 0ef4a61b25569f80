//! Whether a consensus that is not met could still be met. Deterministic, bounded by steps.

use crate::contribution::contributes;
use crate::electorate::{Ballot, Electorate};
use crate::error::EvaluationError;
use crate::evaluate::{Evaluation, Roots};
use crate::program::Program;
use crate::{REACH_STEP_LIMIT, STEP_LIMIT};

/// Runs a consensus over the approvals as they stand.
pub(crate) fn holds_now(program: &Program, electorate: &Electorate<'_>) -> Result<bool, EvaluationError> {
    let roots = Roots::Voters(electorate.voters(&[]));
    Evaluation::new(roots, STEP_LIMIT).truth(program.plan())
}

/// Whether further votes could make the consensus true, and the requester is someone it is waiting with.
///
/// Without the second half any user could park requests for somebody else's policy, and nothing would ever be denied.
pub(crate) fn reachable(program: &Program, electorate: &Electorate<'_>) -> bool {
    let requester = electorate.requester();
    let takes_part = requester.is_root || contributes(program, electorate, &requester.user_id);
    takes_part && Search::new(program, electorate).could_hold()
}

struct Search<'e, 'a> {
    program: &'e Program,
    electorate: &'e Electorate<'a>,
    /// Falls to zero when the search gives up; then nothing is reachable.
    steps_left: u32,
}

impl<'e, 'a> Search<'e, 'a> {
    fn new(program: &'e Program, electorate: &'e Electorate<'a>) -> Self {
        Self { program, electorate, steps_left: REACH_STEP_LIMIT }
    }

    /// Tries everyone together, then one more voter, then two more: a consensus such as `approvers.count() == 2` is false for
    /// everyone together, and so is one about credentials that only some of a voter's credentials satisfy.
    fn could_hold(&mut self) -> bool {
        let ballots = self.electorate.ballots();
        let everyone: Vec<&Ballot<'_>> = ballots.iter().collect();
        if self.holds_with(&everyone) {
            return true;
        }
        let ways: Vec<Ballot<'_>> = ballots.iter().flat_map(Ballot::ways).collect();
        ways.iter().any(|one| self.holds_with(&[one])) || self.holds_with_two(&ways)
    }

    fn holds_with_two(&mut self, ways: &[Ballot<'_>]) -> bool {
        for (place, one) in ways.iter().enumerate() {
            let others = ways.iter().skip(place.saturating_add(1));
            for other in others.filter(|other| other.user_id != one.user_id) {
                if self.steps_left == 0 {
                    return false;
                }
                if self.holds_with(&[one, other]) {
                    return true;
                }
            }
        }
        false
    }

    fn holds_with(&mut self, added: &[&Ballot<'_>]) -> bool {
        let gathering = self.electorate.approver_count().saturating_add(added.len());
        self.spend(u32::try_from(gathering).unwrap_or(u32::MAX));
        let budget = self.steps_left;
        let roots = Roots::Voters(self.electorate.voters(added));
        let mut evaluation = Evaluation::new(roots, budget);
        let holds = evaluation.truth(self.program.plan());
        self.spend(budget.saturating_sub(evaluation.steps_left()));
        holds == Ok(true)
    }

    fn spend(&mut self, steps: u32) {
        self.steps_left = self.steps_left.saturating_sub(steps);
    }
}
