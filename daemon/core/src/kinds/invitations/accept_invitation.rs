//! Accepts an invitation: whoever holds the mailed secret becomes a user.

use quorate_common::ids::{InvitationId, UserId};

use crate::kinds::prelude::*;
use crate::make::user::{self, SignIn};
use crate::model::{Invitation, InvitationStatus, User};
use crate::params::credential::{AuthenticatorParams, AuthenticatorParamsV2};
use crate::params::{NewAuthenticator, NewUser};
use crate::refusal::{Clash, Denied};

pub(in crate::kinds) struct AcceptInvitation;

/// Makes the caller a user with this authenticator, as the invitation says; its mailed key stamps the request.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    invitation_id: InvitationId,
    user_id: UserId,
    authenticator: AuthenticatorParamsV2,
}

/// The parameters in no version's names.
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

impl Form for Intent {
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

    fn rules(request: &Request, view: &View<'_>) -> Result<(Facts, Self::Plan), Refusal> {
        if view.invitation != Some(request.invitation) {
            return Err(Denied::NotYours.into());
        }
        user::are_meant_for(request.user, std::slice::from_ref(&request.authenticator))?;
        let invitation = view.shelved::<Invitation>(request.invitation)?;
        match invitation.status {
            InvitationStatus::Created if invitation.waits(view.now) => {}
            InvitationStatus::Created => return Err(Wrong::Text("invitation has expired").into()),
            InvitationStatus::Accepted => return Err(Wrong::Text("invitation has been accepted").into()),
            InvitationStatus::Revoked => return Err(Wrong::Text("invitation has been revoked").into()),
        }
        // Policies and histories name users by their ids, so an id is one person's for ever.
        let nobody = UserId::from_bytes([0; 16]);
        if view.records().is_departed(request.user)?
            || request.user == nobody
            || view.organization.user(request.user).is_some()
        {
            return Err(Clash::User.into());
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
        cx: &mut Cx<'_, '_>,
    ) -> Result<Outcome, Refusal> {
        let user = User { id: request.user, ..user::user(new, cx)? };
        cx.change(Change::PutUser(user));
        cx.change(Change::PutInvitation(invitation.with_status(InvitationStatus::Accepted, cx.now())));
        Ok(Outcome { invitation_id: request.invitation, user_id: request.user })
    }

    fn newcomer(request: &Request) -> Option<UserId> {
        Some(request.user)
    }
}

/// First version: the authenticator in its older form.
pub(in crate::kinds) mod v1 {
    use super::{
        AcceptInvitation, AuthenticatorParams, Deserialize, Form, InvitationId, JsonSchema, Outcome, Request,
        Serialize, UserId,
    };

    /// Makes the caller a user, with an authenticator in its older form.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub(in crate::kinds) struct Intent {
        invitation_id: InvitationId,
        user_id: UserId,
        authenticator: AuthenticatorParams,
    }

    impl Form for Intent {
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
