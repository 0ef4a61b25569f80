//! Creates a top-level organization. The holder of the passkey that it registers stamps the request and
//! becomes the root user.

use quorate_common::bounded::Email;
use quorate_common::ids::{OrganizationId, UserId};

use crate::kind::Registrant;
use crate::kinds::prelude::*;
use crate::make::user::{self, SignIn};
use crate::params::credential::AuthenticatorParamsV2;
use crate::params::{NewAuthenticator, NewUser};

pub(in crate::kinds) struct CreateOrganization;

/// Creates an organization. The passkey that it registers must stamp the request, without `organizationId`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    organization_name: Label,
    root_email: Email,
    root_authenticator: AuthenticatorParamsV2,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    root_user_id: Option<UserId>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    organization_id: OrganizationId,
}

impl Version for Intent {
    type Kind = CreateOrganization;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_ORGANIZATION_V2";
    const NUMBER: u16 = 34;
    const RESULT: &'static str = "createOrganizationResult";
}

impl From<Intent> for Registrant {
    fn from(intent: Intent) -> Self {
        registrant(
            intent.organization_name,
            intent.root_email,
            intent.root_authenticator.into(),
            intent.root_user_id,
        )
    }
}

/// Returns the registrant. The root user gets the name of the authenticator, because the request has no other
/// one.
fn registrant(
    organization: Label,
    email: Email,
    authenticator: NewAuthenticator,
    user_id: Option<UserId>,
) -> Registrant {
    let user = NewUser {
        name: authenticator.name.clone(),
        email: Some(email),
        phone: None,
        api_keys: Vec::new(),
        authenticators: vec![authenticator],
        oauth_providers: Vec::new(),
        tags: Vec::new(),
    };
    Registrant { organization, user, user_id }
}

impl Kind for CreateOrganization {
    const ACTS: Option<(Action, Resource)> = None;
    const GATE: Gate = Gate::Registrant;
    type Intent = Registrant;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(registrant: &Registrant, view: &View<'_>) -> Result<(Facts, ()), RequestError> {
        user::check_authenticator_owner(view.proposer, &registrant.user.authenticators)?;
        user::check(std::slice::from_ref(&registrant.user), None, SignIn::default(), view.limits())?;
        Ok((Facts::default(), ()))
    }

    fn execute(
        _: Registrant,
        (): (),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        Ok(Outcome { organization_id: context.organization.id() })
    }

    fn registrant(registrant: &Registrant) -> Option<&Registrant> {
        Some(registrant)
    }
}

/// Version 1: the authenticator in the original format, which contains the id of its user.
pub(in crate::kinds) mod v1 {
    use quorate_common::bounded::Email;

    use super::{
        CreateOrganization, Deserialize, JsonSchema, Label, NewAuthenticator, Outcome, Registrant, Serialize,
        UserId, Version,
    };
    use crate::params::credential::AuthenticatorParams;

    /// Creates an organization with an authenticator in the original format.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub(in crate::kinds) struct Intent {
        organization_name: Label,
        root_email: Email,
        root_authenticator: AuthenticatorParams,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        root_user_id: Option<UserId>,
    }

    impl Version for Intent {
        type Kind = CreateOrganization;
        type Outcome = Outcome;
        const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_ORGANIZATION";
        const NUMBER: u16 = 16;
        const RESULT: &'static str = "createOrganizationResult";
    }

    impl From<Intent> for Registrant {
        fn from(intent: Intent) -> Self {
            let authenticator = NewAuthenticator::from(intent.root_authenticator);
            let user_id = intent.root_user_id.or(authenticator.user);
            super::registrant(intent.organization_name, intent.root_email, authenticator, user_id)
        }
    }
}
