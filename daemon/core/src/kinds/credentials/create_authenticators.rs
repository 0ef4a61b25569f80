//! Registers authenticators for a user.

use quorate_common::ids::{AuthenticatorId, UserId};

use crate::kinds::prelude::*;
use crate::make::user;
use crate::params::NewAuthenticator;
use crate::params::credential::AuthenticatorParamsV2;

pub(in crate::kinds) struct CreateAuthenticators;

/// Registers authenticators for a user.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    authenticators: AtMost<AuthenticatorParamsV2, BATCH>,
    user_id: UserId,
}

/// The version-independent parameters.
pub(in crate::kinds) struct New {
    authenticators: Vec<NewAuthenticator>,
    user: UserId,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    authenticator_ids: AtMost<AuthenticatorId, BATCH>,
}

impl Version for Intent {
    type Kind = CreateAuthenticators;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2";
    const NUMBER: u16 = 33;
    const RESULT: &'static str = "createAuthenticatorsResult";
}

impl From<Intent> for New {
    fn from(intent: Intent) -> Self {
        Self {
            authenticators: intent.authenticators.into_iter().map(Into::into).collect(),
            user: intent.user_id,
        }
    }
}

impl Kind for CreateAuthenticators {
    const ACTS: Option<(Action, Resource)> = Some((Action::Create, Resource::Credential));
    const GATE: Gate = Gate::OwnCredential;
    type Intent = New;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(intent: &New, view: &View<'_>) -> Result<(Facts, ()), RequestError> {
        not_empty(&intent.authenticators, "authenticators")?;
        let user = view.user(intent.user)?;
        user::check_authenticator_owner(intent.user, &intent.authenticators)?;
        user::check_authenticators(&intent.authenticators, user, view)?;
        Ok((Facts::of_own_credentials(intent.user), ()))
    }

    fn own_credentials_of(intent: &New) -> Option<UserId> {
        Some(intent.user)
    }

    fn execute(intent: New, (): (), context: &mut ExecutionContext<'_, '_>) -> Result<Outcome, RequestError> {
        let now = context.now();
        let mut user = context.user(intent.user)?.clone();
        let mut ids = Vec::with_capacity(intent.authenticators.len());
        for new in intent.authenticators {
            let authenticator = user::authenticator(new, now, &mut || context.random())?;
            ids.push(authenticator.id);
            user.authenticators.push(authenticator);
        }
        user.updated = now;
        context.change(Change::PutUser(user));
        Ok(Outcome { authenticator_ids: AtMost::cut(ids) })
    }
}

/// Version 1: the original attestation format.
pub(in crate::kinds) mod v1 {
    use super::{
        AtMost, BATCH, CreateAuthenticators, Deserialize, JsonSchema, New, Outcome, Serialize, UserId,
        Version,
    };
    use crate::params::credential::AuthenticatorParams;

    /// Registers authenticators for a user.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub(in crate::kinds) struct Intent {
        #[serde(default)]
        authenticators: AtMost<AuthenticatorParams, BATCH>,
        user_id: UserId,
    }

    impl Version for Intent {
        type Kind = CreateAuthenticators;
        type Outcome = Outcome;
        const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_AUTHENTICATORS";
        const NUMBER: u16 = 21;
        const RESULT: &'static str = "createAuthenticatorsResult";
    }

    impl From<Intent> for New {
        fn from(intent: Intent) -> Self {
            Self {
                authenticators: intent.authenticators.into_iter().map(Into::into).collect(),
                user: intent.user_id,
            }
        }
    }
}
