//! Votes: approvals, rejections, and the execution that an approval can trigger.

use quorate_common::activity::Selection;

use super::commit::{Commit, Transition};
use super::judge::{CheckedRequest, Verdict};
use super::{Attempt, Submission, Voters, can_flags, in_time, voters};
use crate::answer::{CanFlags, activity_answer};
use crate::consensus::live_approvals;
use crate::error::{Denied, Missing, RequestError};
use crate::execution::Effects;
use crate::kind::{Ballot, Entry, PreparedRequest, empty_object};
use crate::model::ActivityRecord;
use crate::records;
use crate::view::View;
use crate::world::Runtime;

impl Submission<'_> {
    /// Processes a vote on another activity.
    pub(super) fn vote(
        &self,
        entry: &Entry,
        prepared: &dyn PreparedRequest,
        ballot: Ballot,
        runtime: &mut Runtime<'_>,
    ) -> Result<Attempt, RequestError> {
        let target = self.ballot_target(ballot)?;
        if target.status.is_terminal() {
            return self.show(&target);
        }
        let voters = voters(self.world, &target, &self.target, self.now)?;
        let is_proposer = target.proposer == self.caller.user;
        if !voters.open_to.contains(&self.caller.user) && !is_proposer {
            return Err(Denied::NotAuthorized.into());
        }
        let approved = voters.has_approved(&self.caller);
        if ballot.selection == Selection::Approved && approved {
            return self.show(&target);
        }
        let mut own = self.new_activity(entry, prepared.intent(), runtime)?;
        let effects = Effects::default();
        let mut commit = self.commit();
        match ballot.selection {
            Selection::Approved => {
                let target = self.approve(target, &mut commit, runtime)?;
                self.record(&mut own, Transition::Completed(empty_object(), effects), &mut commit)?;
                self.answer_vote(&target, commit)
            }
            Selection::Rejected => {
                self.reject(target, &mut commit, runtime)?;
                self.record(&mut own, Transition::Completed(empty_object(), effects), &mut commit)?;
                let answer = activity_answer(&own, &self.target, CanFlags::default())?;
                Ok(Attempt { answer: Ok(answer), commit: Some(commit), corrupt: None })
            }
        }
    }

    /// Answers a vote whose body was processed before.
    pub(super) fn vote_again(&self, known: &ActivityRecord, ballot: Ballot) -> Result<Attempt, RequestError> {
        match ballot.selection {
            Selection::Approved => self.show(&self.ballot_target(ballot)?),
            Selection::Rejected => self.show(known),
        }
    }

    /// Counts the body of a waiting activity, sent again by a second user, as an approval.
    ///
    /// The stored vote contains the body and the stamp, so anyone who can read the activity can send both
    /// again. A body is therefore at most one vote per user and per key, even after that vote has expired.
    /// Its timestamp must still be valid.
    pub(super) fn approve_by_same_body(
        &self,
        known: ActivityRecord,
        runtime: &mut Runtime<'_>,
    ) -> Result<Attempt, RequestError> {
        if self.has_voted_with_this_body(&known) {
            return self.show(&known);
        }
        let Voters { open_to: eligible, approvals, .. } = voters(self.world, &known, &self.target, self.now)?;
        let has_voted = approvals.iter().any(|approval| approval.user == self.caller.user);
        if has_voted || !eligible.contains(&self.caller.user) {
            return self.show(&known);
        }
        in_time(self.stamped, self.now)?;
        let mut commit = self.commit();
        let target = self.approve(known, &mut commit, runtime)?;
        self.answer_vote(&target, commit)
    }

    /// Returns whether the caller, or another user with the caller's key, already voted by sending the
    /// activity's own body.
    fn has_voted_with_this_body(&self, known: &ActivityRecord) -> bool {
        known.votes.iter().any(|vote| {
            let is_theirs = vote.user == self.caller.user || vote.public_key == self.caller.stamp.public_key;
            is_theirs && known.proposal() == Some(vote.message.as_str())
        })
    }

    fn ballot_target(&self, ballot: Ballot) -> Result<ActivityRecord, RequestError> {
        let found =
            records::activity_by_fingerprint(self.world, &self.target, &ballot.fingerprint, self.now)?;
        found.ok_or_else(|| Missing::Fingerprint.into())
    }

    /// Adds the approval, decides again with the current users and policies, and executes the activity if it
    /// is permitted.
    fn approve(
        &self,
        mut target: ActivityRecord,
        commit: &mut Commit,
        runtime: &mut Runtime<'_>,
    ) -> Result<ActivityRecord, RequestError> {
        target.votes.push(self.vote_record(Selection::Approved, runtime)?);
        let view = View::new(self.world, &self.target, target.proposer, None, self.now);
        let approvals = live_approvals(&target, &self.target, self.now);
        let (verdict, evaluations) = CheckedRequest::from_record(&target, view)?.decide(&approvals);
        let transition = match verdict {
            Verdict::Allowed(Ok(permit)) => permit.execute(runtime)?,
            Verdict::Allowed(Err(error)) => Transition::Failed(error.api_error()),
            // An activity that is denied now keeps waiting: the root quorum may still complete it.
            Verdict::Waits(_) | Verdict::Denied(_) => Transition::Waiting,
        };
        target.set_evaluations(evaluations);
        self.apply(&mut target, transition, commit)?;
        Ok(target)
    }

    /// Rejects the activity. One rejection by a voter is final.
    fn reject(
        &self,
        mut target: ActivityRecord,
        commit: &mut Commit,
        runtime: &mut Runtime<'_>,
    ) -> Result<(), RequestError> {
        target.votes.push(self.vote_record(Selection::Rejected, runtime)?);
        self.apply(&mut target, Transition::Rejected, commit)
    }

    fn answer_vote(&self, target: &ActivityRecord, commit: Commit) -> Result<Attempt, RequestError> {
        let after = self.shown(&commit);
        let can = can_flags(self.world, target, after, &self.caller, self.now)?;
        let answer = activity_answer(target, after, can)?;
        Ok(Attempt { answer: Ok(answer), commit: Some(commit), corrupt: None })
    }
}
