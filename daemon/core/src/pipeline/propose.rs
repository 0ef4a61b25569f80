//! A new activity: judged, decided, and executed if nothing more is needed.

use quorate_common::activity::Status;

use super::commit::Settled;
use super::{Submission, Turn, can_flags};
use crate::answer::{CanFlags, activity_answer};
use crate::consensus::Approval;
use crate::cx::Cx;
use crate::kind::{Entry, Ready};
use crate::model::layout;
use crate::policy::{Case, Decided, Decision, Facts, Permit, decide};
use crate::refusal::{Limit, Refusal};
use crate::view::View;
use crate::world::{Moment, Page};

impl<'a> Submission<'a> {
    /// Takes a new activity.
    pub(super) fn propose(
        &'a self,
        entry: &'static Entry,
        mut ready: Box<dyn Ready>,
        moment: &mut Moment<'_>,
    ) -> Result<Turn, Refusal> {
        let view = self.view();
        // A wrong request is refused before anybody is asked. Something that is missing or taken is an
        // outcome of an activity, so the caller must first be one who may propose it.
        let (facts, flaw) = match ready.rules(&view) {
            Ok(facts) => (facts, None),
            Err(wrong @ (Refusal::Intent(_) | Refusal::Corrupt(_) | Refusal::Unoffered(_))) => {
                return Err(wrong);
            }
            Err(outcome) => {
                // Whoever may change their own credentials learns what speaks against it.
                let own_credentials_of = ready.own_credentials_of();
                (Facts { own_credentials_of, ..Facts::default() }, Some(outcome))
            }
        };
        let approvals = [self.approval()];
        let case = Case {
            organization: &self.target,
            entry,
            intent: ready.intent(),
            facts: &facts,
            proposer: self.caller.user,
            approvals: &approvals,
            deny_errors: self.world.deny_errors(),
            now: self.now,
        };
        let Decided { decision, evaluations } = decide(&case);
        let mut activity = self.new_activity(entry, ready.intent(), moment)?;
        activity.evaluated(evaluations);
        let settled = match (decision, flaw) {
            (Decision::Deny(denied), _) => Settled::Failed(Refusal::Denied(denied).fault()),
            (_, Some(flaw)) => Settled::Failed(flaw.fault()),
            (Decision::Wait(_), None) => {
                self.room_to_wait()?;
                Settled::Waiting
            }
            (Decision::Permit(permit), None) => execute(ready, permit, view, moment)?,
        };
        let failure = match &settled {
            Settled::Failed(fault) => Some(fault.clone()),
            _ => None,
        };
        let mut commit = self.commit();
        self.record(&mut activity, settled, &mut commit)?;
        let after = self.shown(&commit);
        let can = match activity.status {
            Status::ConsensusNeeded => can_flags(self.world, &activity, after, &self.caller, self.now)?,
            _ => CanFlags::default(),
        };
        let answer = match failure {
            Some(fault) => Err(fault),
            None => Ok(activity_answer(&activity, after, can)?),
        };
        Ok(Turn { answer, commit: Some(commit), corrupt: None })
    }

    /// What kinds see.
    pub(super) fn view(&'a self) -> View<'a> {
        View::new(self.world, &self.target, self.caller.user, self.caller.invitation, self.now)
    }

    /// The approval that the request itself is.
    pub(super) fn approval(&self) -> Approval {
        Approval {
            user: self.caller.user,
            public_key: self.caller.stamp.public_key.clone(),
            created: self.now,
        }
    }

    /// One more activity may wait.
    fn room_to_wait(&self) -> Result<(), Refusal> {
        let limit = self.world.limits().waiting_activities;
        let prefix = layout::activities_of_status(self.target.id(), Status::ConsensusNeeded);
        let waiting = self.world.records().keys(Page::first(&prefix, limit))?.len();
        if waiting < limit { Ok(()) } else { Err(Limit::Waiting(limit).into()) }
    }
}

/// Runs an activity that has its permit. What goes wrong now is the activity's failure; only faults of
/// ours end the turn.
pub(super) fn execute(
    ready: Box<dyn Ready>,
    permit: Permit,
    view: View<'_>,
    moment: &mut Moment<'_>,
) -> Result<Settled, Refusal> {
    let mut own = Moment { now: moment.now, entropy: &mut *moment.entropy };
    let mut cx = Cx::new(view, &mut own);
    match ready.execute(permit, &mut cx) {
        Ok(result) => Ok(Settled::Completed(result, cx.finish())),
        Err(corrupt @ Refusal::Corrupt(_)) => Err(corrupt),
        Err(refusal) => Ok(Settled::Failed(refusal.fault())),
    }
}
