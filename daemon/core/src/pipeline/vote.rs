//! Votes: approving, rejecting, and what an approval sets in motion.

use quorate_common::activity::Selection;

use super::commit::{Commit, Settled};
use super::judge::{Ruled, Verdict};
use super::{Submission, Turn, Voters, can_flags, in_time, voters};
use crate::answer::{CanFlags, activity_answer};
use crate::consensus::live_approvals;
use crate::cx::Left;
use crate::kind::{Ballot, Entry, Ready, nothing};
use crate::model::ActivityRecord;
use crate::records;
use crate::refusal::{Denied, Missing, Refusal};
use crate::view::View;
use crate::world::Moment;

impl Submission<'_> {
    /// Takes a vote on another activity.
    pub(super) fn vote(
        &self,
        entry: &Entry,
        ready: &dyn Ready,
        ballot: Ballot,
        moment: &mut Moment<'_>,
    ) -> Result<Turn, Refusal> {
        let target = self.ballot_target(ballot)?;
        if target.status.is_terminal() {
            return self.show(&target);
        }
        let voters = voters(self.world, &target, &self.target, self.now)?;
        let mine = target.proposer == self.caller.user;
        if !voters.open_to.contains(&self.caller.user) && !mine {
            return Err(Denied::NotYours.into());
        }
        let approved = voters.has_approved(&self.caller);
        if ballot.selection == Selection::Approved && approved {
            return self.show(&target);
        }
        let mut own = self.new_activity(entry, ready.intent(), moment)?;
        let left = Left::default();
        let mut commit = self.commit();
        match ballot.selection {
            Selection::Approved => {
                let target = self.approve(target, &mut commit, moment)?;
                self.record(&mut own, Settled::Completed(nothing(), left), &mut commit)?;
                self.voted(&target, commit)
            }
            Selection::Rejected => {
                self.reject(target, &mut commit, moment)?;
                self.record(&mut own, Settled::Completed(nothing(), left), &mut commit)?;
                let answer = activity_answer(&own, &self.target, CanFlags::default())?;
                Ok(Turn { answer: Ok(answer), commit: Some(commit), corrupt: None })
            }
        }
    }

    /// A vote whose body was taken before.
    pub(super) fn vote_again(&self, known: &ActivityRecord, ballot: Ballot) -> Result<Turn, Refusal> {
        match ballot.selection {
            Selection::Approved => self.show(&self.ballot_target(ballot)?),
            Selection::Rejected => self.show(known),
        }
    }

    /// A second user sent the very body of an activity that waits.
    ///
    /// The stored vote shows the body with the stamp, so anyone who can read the activity can send both again. A body
    /// is therefore one vote of a user and of a key at most, also after that vote has expired, and it must be in time.
    pub(super) fn second(&self, known: ActivityRecord, moment: &mut Moment<'_>) -> Result<Turn, Refusal> {
        if self.has_voted_with_this_body(&known) {
            return self.show(&known);
        }
        let Voters { open_to: eligible, approvals, .. } = voters(self.world, &known, &self.target, self.now)?;
        let voted = approvals.iter().any(|approval| approval.user == self.caller.user);
        if voted || !eligible.contains(&self.caller.user) {
            return self.show(&known);
        }
        in_time(self.stamped, self.now)?;
        let mut commit = self.commit();
        let target = self.approve(known, &mut commit, moment)?;
        self.voted(&target, commit)
    }

    /// Whether the caller, or another user with the caller's key, voted on the activity by sending its own body.
    fn has_voted_with_this_body(&self, known: &ActivityRecord) -> bool {
        known.votes.iter().any(|vote| {
            let is_theirs = vote.user == self.caller.user || vote.public_key == self.caller.stamp.public_key;
            is_theirs && known.proposal() == Some(vote.message.as_str())
        })
    }

    fn ballot_target(&self, ballot: Ballot) -> Result<ActivityRecord, Refusal> {
        let found =
            records::activity_by_fingerprint(self.world, &self.target, &ballot.fingerprint, self.now)?;
        found.ok_or_else(|| Missing::Fingerprint.into())
    }

    /// Adds the approval, decides again with the people and policies of now, and runs what is permitted.
    fn approve(
        &self,
        mut target: ActivityRecord,
        commit: &mut Commit,
        moment: &mut Moment<'_>,
    ) -> Result<ActivityRecord, Refusal> {
        target.votes.push(self.vote_record(Selection::Approved, moment)?);
        let view = View::new(self.world, &self.target, target.proposer, None, self.now);
        let approvals = live_approvals(&target, &self.target, self.now);
        let (verdict, evaluations) = Ruled::again(&target, view)?.decide(&approvals);
        let settled = match verdict {
            Verdict::Allowed(Ok(permit)) => permit.execute(moment)?,
            Verdict::Allowed(Err(refusal)) => Settled::Failed(refusal.fault()),
            // What its rules now deny stays open: the root quorum may still complete it.
            Verdict::Waits(_) | Verdict::Denied(_) => Settled::Waiting,
        };
        target.evaluated(evaluations);
        self.settle(&mut target, settled, commit)?;
        Ok(target)
    }

    /// One rejection by a voter is final.
    fn reject(
        &self,
        mut target: ActivityRecord,
        commit: &mut Commit,
        moment: &mut Moment<'_>,
    ) -> Result<(), Refusal> {
        target.votes.push(self.vote_record(Selection::Rejected, moment)?);
        self.settle(&mut target, Settled::Rejected, commit)
    }

    fn voted(&self, target: &ActivityRecord, commit: Commit) -> Result<Turn, Refusal> {
        let after = self.shown(&commit);
        let can = can_flags(self.world, target, after, &self.caller, self.now)?;
        let answer = activity_answer(target, after, can)?;
        Ok(Turn { answer: Ok(answer), commit: Some(commit), corrupt: None })
    }
}
