//! Accepts an invitation: the holder of the mailed secret becomes a user.

use quorate_common::ids::{InvitationId, UserId};

use crate::error::{Conflict, Denied};
use crate::kinds::prelude::*;
use crate::make::user::{self, SignIn};
use crate::model::{Invitation, InvitationStatus, User};
use crate::params::credential::{AuthenticatorParams, AuthenticatorParamsV2};
use crate::params::{NewAuthenticator, NewUser};

pub(in crate::kinds) struct AcceptInvitation;

/// Accepts an invitation: creates the invited user with this authenticator. Stamped by the mailed key.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    invitation_id: InvitationId,
    user_id: UserId,
    authenticator: AuthenticatorParamsV2,
}

/// The version-independent parameters.
pub(in crate::kinds) struct Request {
    invitation: InvitationId,
    user: UserId,
    authenticator: NewAuthenticator,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    invitation_id: InvitationId,
    user_id: UserId,
}

impl Version for Intent {
    type Kind = AcceptInvitation;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_ACCEPT_INVITATION_V2";
    const NUMBER: u16 = 36;
    const RESULT: &'static str = "acceptInvitationResult";
}

impl From<Intent> for Request {
    fn from(intent: Intent) -> Self {
        let authenticator = intent.authenticator.into();
        Self { invitation: intent.invitation_id, user: intent.user_id, authenticator }
    }
}

impl Kind for AcceptInvitation {
    const ACTS: Option<(Action, Resource)> = None;
    const GATE: Gate = Gate::Invitation;
    type Intent = Request;
    type Plan = (Invitation, NewUser);
    type Outcome = Outcome;

    fn rules(request: &Request, view: &View<'_>) -> Result<(Facts, Self::Plan), RequestError> {
        if view.invitation != Some(request.invitation) {
            return Err(Denied::NotAuthorized.into());
        }
        user::check_authenticator_owner(request.user, std::slice::from_ref(&request.authenticator))?;
        let invitation = view.collection_item::<Invitation>(request.invitation)?;
        match invitation.status {
            InvitationStatus::Created if invitation.waits(view.now) => {}
            InvitationStatus::Created => return Err(Wrong::Text("invitation has expired").into()),
            InvitationStatus::Accepted => return Err(Wrong::Text("invitation has been accepted").into()),
            InvitationStatus::Revoked => return Err(Wrong::Text("invitation has been revoked").into()),
        }
        // Policies and activities refer to users by id, so a user id is never reused, even after deletion.
        let nil = UserId::from_bytes([0; 16]);
        if view.records().is_deleted_user(request.user)?
            || request.user == nil
            || view.organization.user(request.user).is_some()
        {
            return Err(Conflict::User.into());
        }
        let new = NewUser {
            name: invitation.name.clone(),
            email: Some(invitation.email.clone()),
            phone: None,
            api_keys: Vec::new(),
            authenticators: vec![request.authenticator.clone()],
            oauth_providers: Vec::new(),
            tags: invitation.tags.clone(),
        };
        user::check_new(std::slice::from_ref(&new), "authenticator", SignIn::default(), view)?;
        Ok((Facts::default(), (invitation.clone(), new)))
    }

    fn execute(
        request: Request,
        (invitation, new): (Invitation, NewUser),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        let user = User { id: request.user, ..user::user(new, context)? };
        context.change(Change::PutUser(user));
        context
            .change(Change::PutInvitation(invitation.with_status(InvitationStatus::Accepted, context.now())));
        Ok(Outcome { invitation_id: request.invitation, user_id: request.user })
    }

    fn newcomer(request: &Request) -> Option<UserId> {
        Some(request.user)
    }
}

/// Version 1: the authenticator in the original format.
pub(in crate::kinds) mod v1 {
    use super::{
        AcceptInvitation, AuthenticatorParams, Deserialize, InvitationId, JsonSchema, Outcome, Request,
        Serialize, UserId, Version,
    };

    /// Accepts an invitation with an authenticator in the original format.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub(in crate::kinds) struct Intent {
        invitation_id: InvitationId,
        user_id: UserId,
        authenticator: AuthenticatorParams,
    }

    impl Version for Intent {
        type Kind = AcceptInvitation;
        type Outcome = Outcome;
        const TYPE: &'static str = "ACTIVITY_TYPE_ACCEPT_INVITATION";
        const NUMBER: u16 = 6;
        const RESULT: &'static str = "acceptInvitationResult";
    }

    impl From<Intent> for Request {
        fn from(intent: Intent) -> Self {
            let authenticator = intent.authenticator.into();
            Self { invitation: intent.invitation_id, user: intent.user_id, authenticator }
        }
    }
}
