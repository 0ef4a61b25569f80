//! Opens a session for a user, with a key that is delivered encrypted to a key of the client.

use quorate_common::bounded::{Email, ExpirationSeconds, Text};
use quorate_common::ids::{ApiKeyId, OrganizationId, UserId};

use crate::kinds::prelude::*;
use crate::make::session::BundledSession;
use crate::make::user;
use crate::model::User;
use crate::model::user::KeySource;
use crate::params::session::BundledSessionResult;

/// Opens a session for the user with an email address, and returns its key encrypted to the target key.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct V1 {
    target_public_key: Text<130>,
    email: Email,
    api_key_name: Option<Label>,
    expiration_seconds: Option<ExpirationSeconds>,
}

/// Opens a session for the caller or another user, and returns its key encrypted to the target key.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct V2 {
    target_public_key: Text<130>,
    user_id: Option<UserId>,
    api_key_name: Option<Label>,
    expiration_seconds: Option<ExpirationSeconds>,
    invalidate_existing: Option<bool>,
}

/// The version-independent parameters.
pub(in crate::kinds) struct Request {
    target: Text<130>,
    user: SessionUser,
    name: Option<Label>,
    seconds: Option<ExpirationSeconds>,
    invalidates_existing: bool,
}

/// Whose session it is.
enum SessionUser {
    Caller,
    Id(UserId),
    Email(Email),
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    organization_id: OrganizationId,
    organization_name: String,
    user_id: UserId,
    username: String,
    api_key_id: ApiKeyId,
    credential_bundle: String,
}

impl Version for V1 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION";
    const NUMBER: u16 = 70;
}

impl Version for V2 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2";
    const NUMBER: u16 = 75;
}

impl From<V1> for Request {
    fn from(V1 { target_public_key: target, email, api_key_name: name, expiration_seconds }: V1) -> Self {
        let user = SessionUser::Email(email);
        Self { target, user, name, seconds: expiration_seconds, invalidates_existing: false }
    }
}

impl From<V2> for Request {
    fn from(intent: V2) -> Self {
        Self {
            target: intent.target_public_key,
            user: intent.user_id.map_or(SessionUser::Caller, SessionUser::Id),
            name: intent.api_key_name,
            seconds: intent.expiration_seconds,
            invalidates_existing: intent.invalidate_existing == Some(true),
        }
    }
}

impl Request {
    fn user<'v>(&self, view: &View<'v>) -> Result<&'v User, RequestError> {
        match &self.user {
            SessionUser::Caller => view.user(view.proposer),
            SessionUser::Id(id) => view.user(*id),
            SessionUser::Email(email) => user::with_email(email, view.organization),
        }
    }
}

impl Kind for Request {
    const ACTS: Acts = Some((Action::Create, Resource::Auth));
    const GATE: Gate = Gate::OwnCredential;
    const SCOPE: CredentialScope = CredentialScope::SubOrganizations;
    const OPEN_TO_PARENT: bool = true;
    type Plan = (User, BundledSession);
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<Self::Plan, RequestError> {
        let session = BundledSession::check(&self.target, self.name.as_ref(), "Read Write Session", view)?;
        Ok((self.user(view)?.clone(), session))
    }

    fn own_credentials_of(&self, view: &View<'_>) -> Option<UserId> {
        self.user(view).ok().map(|user| user.id)
    }

    fn execute(
        self,
        (user, session): Self::Plan,
        context: &mut Execution<'_>,
    ) -> Result<Outcome, RequestError> {
        let (username, source) = (user.name.to_string(), KeySource::ReadWriteSession);
        let BundledSessionResult { user_id, api_key_id, credential_bundle } =
            session.open(user, source, self.seconds, self.invalidates_existing, context)?;
        Ok(Outcome {
            organization_id: context.organization.id(),
            organization_name: context.organization.head.name.to_string(),
            user_id,
            username,
            api_key_id,
            credential_bundle,
        })
    }
}
