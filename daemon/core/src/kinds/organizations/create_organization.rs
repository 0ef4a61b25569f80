//! Founds a top-level organization. Whoever stamps it with the passkey that it registers is its root user.

use quorate_common::bounded::Email;
use quorate_common::ids::{OrganizationId, UserId};

use crate::kind::Founder;
use crate::kinds::prelude::*;
use crate::make::user::{self, SignIn};
use crate::params::credential::AuthenticatorParamsV2;
use crate::params::{NewAuthenticator, NewUser};

pub(in crate::kinds) struct CreateOrganization;

/// Founds an organization, which the passkey that it registers stamps; `organizationId` is left out.
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

impl Form for Intent {
    type Kind = CreateOrganization;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_ORGANIZATION_V2";
    const NUMBER: u16 = 34;
    const RESULT: &'static str = "createOrganizationResult";
}

impl From<Intent> for Founder {
    fn from(intent: Intent) -> Self {
        founder(
            intent.organization_name,
            intent.root_email,
            intent.root_authenticator.into(),
            intent.root_user_id,
        )
    }
}

/// The root user is called as the authenticator, since nothing else names them.
fn founder(
    organization: Label,
    email: Email,
    authenticator: NewAuthenticator,
    user_id: Option<UserId>,
) -> Founder {
    let user = NewUser {
        name: authenticator.name.clone(),
        email: Some(email),
        phone: None,
        api_keys: Vec::new(),
        authenticators: vec![authenticator],
        oauth_providers: Vec::new(),
        tags: Vec::new(),
    };
    Founder { organization, user, user_id }
}

impl Kind for CreateOrganization {
    const ACTS: Option<(Action, Resource)> = None;
    const GATE: Gate = Gate::Founder;
    type Intent = Founder;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(founder: &Founder, view: &View<'_>) -> Result<(Facts, ()), Refusal> {
        user::are_meant_for(view.proposer, &founder.user.authenticators)?;
        user::check(std::slice::from_ref(&founder.user), None, SignIn::default(), view.limits())?;
        Ok((Facts::default(), ()))
    }

    fn execute(_: Founder, (): (), cx: &mut Cx<'_, '_>) -> Result<Outcome, Refusal> {
        Ok(Outcome { organization_id: cx.organization.id() })
    }

    fn founder(founder: &Founder) -> Option<&Founder> {
        Some(founder)
    }
}

/// First version: the authenticator in its older form, which says whose it is.
pub(in crate::kinds) mod v1 {
    use quorate_common::bounded::Email;

    use super::{
        CreateOrganization, Deserialize, Form, Founder, JsonSchema, Label, NewAuthenticator, Outcome,
        Serialize, UserId,
    };
    use crate::params::credential::AuthenticatorParams;

    /// Founds an organization, with an authenticator in its older form.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub(in crate::kinds) struct Intent {
        organization_name: Label,
        root_email: Email,
        root_authenticator: AuthenticatorParams,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        root_user_id: Option<UserId>,
    }

    impl Form for Intent {
        type Kind = CreateOrganization;
        type Outcome = Outcome;
        const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_ORGANIZATION";
        const NUMBER: u16 = 16;
        const RESULT: &'static str = "createOrganizationResult";
    }

    impl From<Intent> for Founder {
        fn from(intent: Intent) -> Self {
            let authenticator = NewAuthenticator::from(intent.root_authenticator);
            let user_id = intent.root_user_id.or(authenticator.user);
            super::founder(intent.organization_name, intent.root_email, authenticator, user_id)
        }
    }
}
