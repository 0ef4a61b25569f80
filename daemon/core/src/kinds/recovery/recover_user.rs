//! Registers an authenticator of a user who lost access.

use crate::bundles;
use crate::kinds::prelude::*;
use crate::make::credential;
use crate::params::NewAuthenticator;
use crate::params::credential::AuthenticatorParamsV2;

/// Registers an authenticator of the caller, and removes their recovery keys.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    authenticator: AuthenticatorParamsV2,
    user_id: UserId,
}

/// The parameters with the authenticator in the form that all kinds use.
pub(in crate::kinds) struct Request {
    authenticator: NewAuthenticator,
    user: UserId,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    authenticator_id: AtMost<AuthenticatorId, 1>,
}

impl Version for Intent {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_RECOVER_USER";
    const NUMBER: u16 = 48;
}

impl From<Intent> for Request {
    fn from(intent: Intent) -> Self {
        Self { authenticator: intent.authenticator.into(), user: intent.user_id }
    }
}

impl Kind for Request {
    const ACTS: Acts = Some((Action::Create, Resource::Recovery));
    const GATE: Gate = Gate::OwnCredential;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        bundles::is_own(self.user, view)?;
        let (user, new) = (view.user(self.user)?, std::slice::from_ref(&self.authenticator));
        credential::check_authenticator_owner(self.user, new)?;
        credential::check_authenticators(new, user, view)
    }

    fn own_credentials_of(&self, _: &View<'_>) -> Option<UserId> {
        Some(self.user)
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        let now = context.now();
        let mut user = context.user(self.user)?.clone();
        let new = credential::authenticator(self.authenticator, now, &mut || context.random())?;
        let id = new.id;
        user.authenticators.push(new);
        user.api_keys.retain(|key| !key.is_recovery());
        context.update_user(user);
        Ok(Outcome { authenticator_id: AtMost::cut(vec![id]) })
    }
}
