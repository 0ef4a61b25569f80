//! Creates a top-level organization. The holder of the passkey that it registers stamps the request and
//! becomes the root user.

use crate::kind::Registrant;
use crate::kinds::prelude::*;
use crate::make::credential;
use crate::make::user::{self, SignIn};
use crate::params::credential::{AuthenticatorParams, AuthenticatorParamsV2};
use crate::params::organization::OrganizationResult;
use crate::params::{NewAuthenticator, NewUser};

/// Creates an organization with an authenticator in the original format.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct V1 {
    organization_name: Label,
    root_email: Email,
    root_authenticator: AuthenticatorParams,
    root_user_id: Option<UserId>,
}

/// Creates an organization. The passkey that it registers must stamp the request, without `organizationId`.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct V2 {
    organization_name: Label,
    root_email: Email,
    root_authenticator: AuthenticatorParamsV2,
    root_user_id: Option<UserId>,
}

/// The version-independent parameters.
pub(in crate::kinds) struct Request(Registrant);

impl Version for V1 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_ORGANIZATION";
    const NUMBER: u16 = 16;
}

impl Version for V2 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_ORGANIZATION_V2";
    const NUMBER: u16 = 34;
    const RESULT: Option<&'static str> = Some("createOrganizationResult");
}

impl Request {
    /// Returns the request of a registrant. The root user gets the name of the authenticator, because the
    /// request has no other one. An authenticator in the original format contains the id of its user.
    fn new(organization: Label, email: Email, authenticator: NewAuthenticator, id: Option<UserId>) -> Self {
        let user_id = id.or(authenticator.user);
        let user = NewUser::new(authenticator.name.clone(), Some(email));
        let user = NewUser { authenticators: vec![authenticator], ..user };
        Self(Registrant { organization, user, user_id })
    }
}

impl From<V1> for Request {
    fn from(intent: V1) -> Self {
        let authenticator = intent.root_authenticator.into();
        Self::new(intent.organization_name, intent.root_email, authenticator, intent.root_user_id)
    }
}

impl From<V2> for Request {
    fn from(intent: V2) -> Self {
        let authenticator = intent.root_authenticator.into();
        Self::new(intent.organization_name, intent.root_email, authenticator, intent.root_user_id)
    }
}

impl Kind for Request {
    const GATE: Gate = Gate::Registrant;
    type Plan = ();
    type Outcome = OrganizationResult;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        credential::check_authenticator_owner(view.proposer, &self.0.user.authenticators)?;
        user::check(std::slice::from_ref(&self.0.user), None, SignIn::default(), view.limits()).map(drop)
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<OrganizationResult, RequestError> {
        Ok(OrganizationResult { organization_id: context.organization.id() })
    }

    fn registrant(&self) -> Option<&Registrant> {
        Some(&self.0)
    }
}
