//! A new activity: judged, decided, and executed if nothing more is needed.

use quorate_common::activity::Status;

use super::commit::Settled;
use super::judge::{Ruled, Verdict};
use super::{Submission, Turn, can_flags};
use crate::answer::{CanFlags, activity_answer};
use crate::consensus::Approval;
use crate::kind::{Entry, Ready};
use crate::model::layout;
use crate::refusal::{Limit, Refusal};
use crate::view::View;
use crate::world::{Moment, Page};

impl<'a> Submission<'a> {
    /// Takes a new activity.
    pub(super) fn propose(
        &'a self,
        entry: &'static Entry,
        ready: Box<dyn Ready>,
        moment: &mut Moment<'_>,
    ) -> Result<Turn, Refusal> {
        let ruled = Ruled::new(entry, ready, self.view())?;
        // A wrong request is refused before anybody is asked. Something that is missing or taken is an
        // outcome of an activity, so the caller must first be one who may propose it.
        if let Some(wrong @ (Refusal::Intent(_) | Refusal::Unoffered(_))) = ruled.refusal() {
            return Err(wrong.clone());
        }
        let mut activity = self.new_activity(entry, ruled.intent(), moment)?;
        let (verdict, evaluations) = ruled.decide(&[self.approval()]);
        activity.evaluated(evaluations);
        let settled = match verdict {
            Verdict::Allowed(Ok(permit)) => permit.execute(moment)?,
            Verdict::Waits(None) => {
                self.room_to_wait()?;
                Settled::Waiting
            }
            Verdict::Allowed(Err(refusal)) | Verdict::Waits(Some(refusal)) => {
                Settled::Failed(refusal.fault())
            }
            Verdict::Denied(denied) => Settled::Failed(Refusal::Denied(denied).fault()),
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
