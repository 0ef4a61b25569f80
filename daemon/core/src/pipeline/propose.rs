//! A new activity: it is judged, and executed if it needs no further approval.

use quorate_common::activity::Status;

use super::commit::Transition;
use super::judge::{CheckedRequest, Verdict};
use super::{Attempt, Submission, can_flags};
use crate::answer::{CanFlags, activity_answer};
use crate::consensus::Approval;
use crate::error::{Limit, RequestError};
use crate::kind::{Entry, PreparedRequest};
use crate::model::layout;
use crate::view::View;
use crate::world::{Page, Runtime};

impl<'a> Submission<'a> {
    /// Processes a new activity.
    pub(super) fn propose(
        &'a self,
        entry: &'static Entry,
        prepared: Box<dyn PreparedRequest>,
        runtime: &mut Runtime<'_>,
    ) -> Result<Attempt, RequestError> {
        let checked = CheckedRequest::new(entry, prepared, self.view())?;
        // An invalid request is refused before policies are evaluated. A missing or conflicting object is an
        // outcome of the activity, so the caller must first be authorized to propose it.
        if let Some(invalid @ (RequestError::Intent(_) | RequestError::Unimplemented(_))) =
            checked.rule_error()
        {
            return Err(invalid.clone());
        }
        let mut activity = self.new_activity(entry, checked.intent(), runtime)?;
        let (verdict, evaluations) = checked.decide(&[self.approval()]);
        activity.set_evaluations(evaluations);
        let transition = match verdict {
            Verdict::Allowed(Ok(permit)) => permit.execute(runtime)?,
            Verdict::Waits(None) => {
                self.check_waiting_limit()?;
                Transition::Waiting
            }
            Verdict::Allowed(Err(error)) | Verdict::Waits(Some(error)) => {
                Transition::Failed(error.api_error())
            }
            Verdict::Denied(denied) => Transition::Failed(RequestError::Denied(denied).api_error()),
        };
        let failure = match &transition {
            Transition::Failed(error) => Some(error.clone()),
            _ => None,
        };
        let mut commit = self.commit();
        self.record(&mut activity, transition, &mut commit)?;
        let after = self.shown(&commit);
        let can = match activity.status {
            Status::ConsensusNeeded => can_flags(self.world, &activity, after, &self.caller, self.now)?,
            _ => CanFlags::default(),
        };
        let answer = match failure {
            Some(error) => Err(error),
            None => Ok(activity_answer(&activity, after, can)?),
        };
        Ok(Attempt { answer, commit: Some(commit), corrupt: None })
    }

    /// Returns the view that kinds get.
    pub(super) fn view(&'a self) -> View<'a> {
        View::new(self.world, &self.target, self.caller.user, self.caller.invitation, self.now)
    }

    /// Returns the approval that the request itself represents.
    pub(super) fn approval(&self) -> Approval {
        Approval {
            user: self.caller.user,
            public_key: self.caller.stamp.public_key.clone(),
            created: self.now,
        }
    }

    /// Checks that the limit allows one more activity to wait for votes.
    fn check_waiting_limit(&self) -> Result<(), RequestError> {
        let limit = self.world.limits().waiting_activities;
        let prefix = layout::activities_of_status(self.target.id(), Status::ConsensusNeeded);
        let waiting = self.world.records().keys(Page::first(&prefix, limit))?.len();
        if waiting < limit { Ok(()) } else { Err(Limit::Waiting(limit).into()) }
    }
}
