//! Votes: approvals, rejections, and the execution that an approval can trigger.

use quorate_common::activity::Selection;

use super::commit::{Commit, Transition};
use super::pending::Verdict;
use super::{Attempt, Pending, Submission, Voters, in_time};
use crate::authentication::{Authentication, UsedToken};
use crate::error::{Denied, Missing, RequestError};
use crate::execution::Effects;
use crate::kind::{Ballot, Entry, Executed, PreparedRequest, empty_object};
use crate::make::verification;
use crate::model::ActivityRecord;
use crate::model::one_time_code::TokenUsage;
use crate::records;
use crate::view::OwnRecords;
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
        self.check_voting_key()?;
        let target = self.ballot_target(ballot)?;
        if target.status.is_terminal() {
            return if self.is_attested() { Err(Denied::Token.into()) } else { self.show(&target) };
        }
        let pending = self.pending(&target)?;
        let voters = pending.voters(&target);
        let is_proposer = target.proposer == self.caller.user;
        if let Some(denied) = self.denied_by_credential(pending.entry(), &pending)? {
            return Err(denied.into());
        }
        if !voters.open_to.contains(&self.caller.user) && !is_proposer {
            return Err(Denied::NotAuthorized.into());
        }
        if self.is_attested() {
            self.check_token(&voters)?;
        }
        let is_repeated = || voters.is_repeated(&self.approval(), target.status, &self.caller);
        if ballot.selection == Selection::Approved && is_repeated() {
            return self.answer(&target, &self.target, Some(&pending));
        }
        let mut own = self.new_activity(entry, prepared.intent(), runtime)?;
        let executed = Executed { result: empty_object(), shown_once: None };
        let voted = Transition::Completed(executed, Effects::default());
        let mut commit = self.commit();
        if let Some(token) = self.token() {
            self.apply_claim(&token.claim(TokenUsage::Login), token.ends, &mut commit)?;
        }
        let attempt = match ballot.selection {
            Selection::Approved => {
                let (target, pending) = self.approve(target, pending, &mut commit, runtime)?;
                self.record(&mut own, voted, &mut commit)?;
                self.answer(&target, self.shown(&commit), pending.as_ref())?
            }
            Selection::Rejected => {
                self.reject(target, &mut commit, runtime)?;
                self.record(&mut own, voted, &mut commit)?;
                self.show(&own)?
            }
        };
        Ok(attempt.with(commit))
    }

    /// Returns the verification token of an attested stamp.
    fn token(&self) -> Option<UsedToken> {
        self.caller.attestation.as_ref().and_then(|attestation| attestation.token)
    }

    /// Refuses an attested stamp, unless it proves the next step of an MFA policy of a user who has approved already, and
    /// its verification token was neither used for a step nor for a login.
    fn check_token(&self, voters: &Voters) -> Result<(), RequestError> {
        let own = self.approval();
        if own.authentication == Some(Authentication::WeakCode) {
            return Err(Denied::WeakCode.into());
        }
        if !voters.admits_token(&own) {
            return Err(Denied::Token.into());
        }
        let Some(token) = self.token() else { return Ok(()) };
        let records = OwnRecords::of(self.world, self.target.id());
        verification::check_unused(&token, TokenUsage::Login, records)
    }

    /// Refuses votes by recovery keys, also on recoveries.
    fn check_voting_key(&self) -> Result<(), RequestError> {
        if self.caller.is_recovery { Err(Denied::RecoveryKey.into()) } else { Ok(()) }
    }

    fn pending(&self, target: &ActivityRecord) -> Result<Pending<'_>, RequestError> {
        Ok(Pending::of(self.world, target, &self.target, self.now)?)
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
        self.check_voting_key()?;
        let pending = self.pending(&known)?;
        let voters = pending.voters(&known);
        let has_voted = voters.approvals.iter().any(|approval| approval.user == self.caller.user);
        let is_repeated = || voters.is_repeated(&self.approval(), known.status, &self.caller);
        if has_voted || !voters.open_to.contains(&self.caller.user) || is_repeated() {
            return self.answer(&known, &self.target, Some(&pending));
        }
        in_time(self.sent.stamped, self.now, self.world.installation().restored())?;
        if let Some(denied) = self.denied_by_credential(pending.entry(), &pending)? {
            return Err(denied.into());
        }
        let mut commit = self.commit();
        let (target, pending) = self.approve(known, pending, &mut commit, runtime)?;
        Ok(self.answer(&target, self.shown(&commit), pending.as_ref())?.with(commit))
    }

    /// Returns whether the caller, or another user with the caller's key, already voted by sending the
    /// activity's own body.
    fn has_voted_with_this_body(&self, known: &ActivityRecord) -> bool {
        known.votes.iter().any(|vote| {
            let is_theirs = vote.user == self.caller.user || vote.public_key == self.caller.stamp.public_key;
            is_theirs && known.proposal() == Some(vote.message.as_str())
        })
    }

    pub(super) fn ballot_target(&self, ballot: Ballot) -> Result<ActivityRecord, RequestError> {
        let found =
            records::activity_by_fingerprint(self.world, &self.target, &ballot.fingerprint, self.now)?;
        found.ok_or_else(|| Missing::Fingerprint.into())
    }

    /// Adds the approval, decides again with the current users and policies, and executes the activity if it
    /// is permitted. Otherwise also returns the activity as it waits now: the vote changes nothing that its
    /// rules and policies depend on.
    fn approve<'a>(
        &'a self,
        mut target: ActivityRecord,
        pending: Pending<'a>,
        commit: &mut Commit,
        runtime: &mut Runtime<'_>,
    ) -> Result<(ActivityRecord, Option<Pending<'a>>), RequestError> {
        target.votes.push(self.vote_record(Selection::Approved, runtime)?);
        let approvals = pending.approvals(&target);
        let (verdict, evaluations) = pending.decide(&approvals);
        let (mut transition, pending) = match verdict {
            Verdict::Allowed(Ok(permit)) => (permit.execute(runtime)?, None),
            Verdict::Allowed(Err(error)) => (Transition::failed(&error), None),
            // An activity that is denied now keeps waiting: the root quorum may still complete it.
            Verdict::Waits(pending, status) | Verdict::Denied(_, pending, status) => {
                (Transition::Waiting(status), Some(pending))
            }
        };
        target.set_evaluations(evaluations);
        let shown_once = transition.shown_once().filter(|_| target.proposer == self.caller.user);
        self.apply(&mut target, transition, commit)?;
        // The record keeps the masked result.
        target.result = shown_once.unwrap_or(target.result);
        Ok((target, pending))
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
}
