//! A new activity: it is judged, and executed if it needs no further approval.

use quorate_common::activity::Status;

use super::commit::Transition;
use super::pending::{Pending, Verdict};
use super::{Attempt, Submission};
use crate::authentication::Authentication;
use crate::consensus::Approval;
use crate::error::{Denied, Limit, RequestError};
use crate::kind::{Entry, PreparedRequest};
use crate::kinds::access;
use crate::make::verification;
use crate::model::last_use::Credential;
use crate::model::layout;
use crate::model::one_time_code::TokenUsage;
use crate::view::{self, Caller, View};
use crate::world::{Page, Runtime};

impl<'a> Submission<'a> {
    /// Processes a new activity.
    pub(super) fn propose(
        &'a self,
        entry: &'static Entry,
        prepared: Box<dyn PreparedRequest>,
        runtime: &mut Runtime<'_>,
    ) -> Result<Attempt, RequestError> {
        let mut checked = Pending::new(self.world, entry, prepared, self.view())?;
        let is_decided_by_parent = self.home.id() != self.target.id();
        if is_decided_by_parent {
            checked = checked.decided_by(&self.home);
        }
        if self.is_attested() {
            checked = checked.attested();
        }
        // An invalid request is refused before policies are evaluated. A missing or conflicting object is an
        // outcome of the activity, so the caller must first be authorized to propose it.
        if let Some(invalid @ (RequestError::Intent(_) | RequestError::Unimplemented(_))) =
            checked.rule_error()
        {
            return Err(invalid.clone());
        }
        // A verification token opens one session.
        let token = self.caller.attestation.as_ref().and_then(|attestation| attestation.token);
        if let Some(token) = token {
            verification::check_unused(&token, TokenUsage::Login, self.view().records())?;
        }
        let mut activity = self.new_activity(entry, checked.intent(), runtime)?;
        // Other credentials could register a passkey here that a policy on `CREATE_AUTHENTICATORS` denies them.
        let denied_by_credential = match self.denied_by_credential(entry, &checked)? {
            None if entry.recovers() && !self.caller.is_recovery => Some(Denied::NoRecoveryKey),
            denied => denied,
        };
        let (verdict, evaluations) = checked.decide(&[self.approval()]);
        let denied = |denied: Denied| Transition::failed(&denied.into());
        let (mut transition, pending) = match (denied_by_credential, verdict) {
            (None, Verdict::Allowed(Ok(permit))) => (permit.execute(runtime)?, None),
            (None, Verdict::Allowed(Err(error))) => (Transition::failed(&error), None),
            // Only users of the organization vote on its activities, and anonymous clients must not fill the list of waiting ones.
            (None, Verdict::Waits(pending, status))
                if is_decided_by_parent
                    || pending.has_secret()
                    || self.is_attested()
                    || self.is_of_proxy() =>
            {
                let is_weak = self.approval().authentication == Some(Authentication::WeakCode);
                let reason = match status {
                    Status::AuthenticatorsNeeded if is_weak => Denied::WeakCode,
                    Status::AuthenticatorsNeeded => Denied::Authenticators,
                    _ if is_decided_by_parent => Denied::Policies(evaluations.clone()),
                    _ => Denied::Waiting,
                };
                (denied(reason), None)
            }
            (None, Verdict::Waits(pending, status)) => {
                if let Some(error) = pending.rule_error() {
                    (Transition::failed(error), None)
                } else {
                    self.check_waiting_limit()?;
                    (Transition::Waiting(status), Some(pending))
                }
            }
            (Some(reason), _) | (None, Verdict::Denied(reason, _, _)) => (denied(reason), None),
        };
        if let (Transition::Completed(_, effects), Some(token)) = (&mut transition, token) {
            effects.claims.push((token.claim(TokenUsage::Login), token.ends));
        }
        activity.set_evaluations(evaluations);
        let shown_once = transition.shown_once();
        let mut commit = self.commit();
        self.record(&mut activity, transition, &mut commit)?;
        // The record keeps the masked result.
        activity.result = shown_once.unwrap_or(activity.result);
        let attempt = match &activity.failure {
            Some(error) => Attempt::of(Err(error.clone())),
            // An activity that waits changes nothing that its rules and policies depend on.
            None => self.answer(&activity, self.shown(&commit), pending.as_ref())?,
        };
        Ok(attempt.with(commit))
    }

    /// Returns why the caller's credential does not permit a request or a vote on it, if it does not. A recovery key
    /// only recovers. A session without a profile permits what its user may do. With a profile, the request must be
    /// within its scope, and must not change how users sign in: a new credential or contact would not be limited.
    pub(super) fn denied_by_credential(
        &self,
        entry: &Entry,
        request: &Pending<'_>,
    ) -> Result<Option<Denied>, RequestError> {
        if self.caller.is_recovery && !entry.recovers() {
            return Ok(Some(Denied::RecoveryKey));
        }
        let Some(profile) = self.caller.session_profile else { return Ok(None) };
        let own_key = match self.caller.used {
            Some(Credential::ApiKey(key)) => Some(key),
            _ => None,
        };
        let changes_access = access::is_changed_by(entry.activity_type, request.intent(), own_key);
        let profile = view::session_profile(self.world, &self.home, profile)?;
        let is_permitted = !changes_access
            && profile.is_some_and(|profile| request.is_within(&profile.scope, &[self.approval()]));
        Ok((!is_permitted).then_some(Denied::Session))
    }

    /// Returns whether the authentication proxy sent the request.
    pub(super) fn is_of_proxy(&self) -> bool {
        self.home.head.auth_proxy == Some(self.caller.user)
    }

    /// Returns the view that kinds get.
    pub(super) fn view(&'a self) -> View<'a> {
        View::new(self.world, &self.target, self.caller.user, self.caller.invitation, self.now)
    }

    /// Returns the approval that the request itself represents.
    pub(super) fn approval(&self) -> Approval {
        let Caller { user, stamp, attestation, .. } = &self.caller;
        let holder = self.home.user(*user);
        Approval {
            user: *user,
            public_key: stamp.public_key.clone(),
            authentication: match attestation {
                Some(attestation) => Some(attestation.authentication()),
                None => {
                    holder.and_then(|holder| Authentication::of_key(holder, stamp.scheme, &stamp.public_key))
                }
            },
            created: self.now,
        }
    }

    /// Checks that the limit allows one more activity to wait for votes.
    fn check_waiting_limit(&self) -> Result<(), RequestError> {
        let limit = self.world.limits().waiting_activities;
        let mut waiting = 0_usize;
        for status in Status::WAITING {
            let prefix = layout::activities_of_status(self.target.id(), status);
            waiting = waiting.saturating_add(self.world.records().keys(Page::first(&prefix, limit))?.len());
        }
        if waiting < limit { Ok(()) } else { Err(Limit::Waiting(limit).into()) }
    }
}
