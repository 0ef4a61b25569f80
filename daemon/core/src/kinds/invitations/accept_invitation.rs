//! Accepts an invitation: the holder of the mailed secret becomes a user.

use crate::error::{Conflict, Denied};
use crate::kinds::prelude::*;
use crate::make::user::{self, SignIn};
use crate::make::{credential, named_id};
use crate::params::credential::{AuthenticatorParams, AuthenticatorParamsV2};
use crate::params::{NewAuthenticator, NewUser};

/// Accepts an invitation with an authenticator in the original format.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct V1 {
    invitation_id: InvitationId,
    user_id: UserId,
    authenticator: AuthenticatorParams,
}

/// Accepts an invitation: creates the invited user with this authenticator. Stamped by the mailed key.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct V2 {
    invitation_id: InvitationId,
    /// Id of the new user, which the client chooses at random. No user had it, and no policy, MFA policy or session
    /// profile names it.
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

impl Version for V1 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_ACCEPT_INVITATION";
    const NUMBER: u16 = 6;
}

impl Version for V2 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_ACCEPT_INVITATION_V2";
    const NUMBER: u16 = 36;
    const RESULT: Option<&'static str> = Some("acceptInvitationResult");
}

impl From<V1> for Request {
    fn from(V1 { invitation_id: invitation, user_id: user, authenticator }: V1) -> Self {
        Self { invitation, user, authenticator: authenticator.into() }
    }
}

impl From<V2> for Request {
    fn from(V2 { invitation_id: invitation, user_id: user, authenticator }: V2) -> Self {
        Self { invitation, user, authenticator: authenticator.into() }
    }
}

impl Kind for Request {
    const GATE: Gate = Gate::Invitation;
    const SCOPE: CredentialScope = CredentialScope::Invitations;
    type Plan = (Invitation, NewUser);
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<Self::Plan, RequestError> {
        if view.invitation != Some(self.invitation) {
            return Err(Denied::NotAuthorized.into());
        }
        credential::check_authenticator_owner(self.user, std::slice::from_ref(&self.authenticator))?;
        let invitation = view.collection_item::<Invitation>(self.invitation)?;
        if let Some(end) = invitation.ended(view.now) {
            return Err(Wrong::Text(end).into());
        }
        if invitation.created < view.installation().restored() {
            // It may have been revoked since the backup.
            return Err(
                Wrong::Text("invitation has ended, because this store was restored from a backup").into()
            );
        }
        // Policies and activities refer to users by id, so a user id is never reused, even after deletion.
        let nil = UserId::from_bytes([0; 16]);
        if view.records().is_deleted_user(self.user)?
            || self.user == nil
            || view.organization.user(self.user).is_some()
        {
            return Err(Conflict::User.into());
        }
        // The holder of the secret chooses the id, and must not choose one that has rights already.
        if named_id::is_named(self.user, view)? {
            return Err(Conflict::NamedUser.into());
        }
        let new = NewUser {
            authenticators: vec![self.authenticator.clone()],
            tags: invitation.tags.clone(),
            ..NewUser::new(invitation.name.clone(), Some(invitation.email.clone()))
        };
        user::check_new(std::slice::from_ref(&new), "authenticator", SignIn::default(), view)?;
        Ok((invitation.clone(), new))
    }

    fn execute(self, plan: Self::Plan, context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        let (invitation, new) = plan;
        let user = User { id: self.user, ..user::user(new, context)? };
        context.change(Change::PutUser(user));
        context.change(Change::put(invitation.with_status(InvitationStatus::Accepted, context.now())));
        Ok(Outcome { invitation_id: self.invitation, user_id: self.user })
    }

    fn newcomer(&self) -> Option<UserId> {
        Some(self.user)
    }
}
