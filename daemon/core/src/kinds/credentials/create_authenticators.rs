//! Registers authenticators for a user.

use crate::kinds::prelude::*;
use crate::make::credential;
use crate::params::NewAuthenticator;
use crate::params::credential::{AuthenticatorParams, AuthenticatorParamsV2, AuthenticatorsResult};

/// Registers authenticators for a user.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "A: Deserialize<'de>"))]
pub(in crate::kinds) struct Intent<A: Serialize> {
    #[serde(default)]
    authenticators: AtMost<A, BATCH>,
    user_id: UserId,
}

/// Version 1: the original attestation format.
pub(in crate::kinds) type V1 = Intent<AuthenticatorParams>;
pub(in crate::kinds) type V2 = Intent<AuthenticatorParamsV2>;

/// The version-independent parameters.
pub(in crate::kinds) struct Request {
    authenticators: Vec<NewAuthenticator>,
    user: UserId,
}

impl Version for V1 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_AUTHENTICATORS";
    const NUMBER: u16 = 21;
}

impl Version for V2 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2";
    const NUMBER: u16 = 33;
    const RESULT: Option<&'static str> = Some("createAuthenticatorsResult");
}

impl<A: Serialize + Into<NewAuthenticator>> From<Intent<A>> for Request {
    fn from(intent: Intent<A>) -> Self {
        let authenticators = intent.authenticators.into_iter().map(Into::into).collect();
        Self { authenticators, user: intent.user_id }
    }
}

impl Kind for Request {
    const ACTS: Acts = Some((Action::Create, Resource::Credential));
    const GATE: Gate = Gate::OwnCredential;
    type Plan = ();
    type Outcome = AuthenticatorsResult;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        not_empty(&self.authenticators, "authenticators")?;
        let user = view.user(self.user)?;
        credential::check_authenticator_owner(self.user, &self.authenticators)?;
        credential::check_authenticators(&self.authenticators, user, view)
    }

    fn own_credentials_of(&self, _: &View<'_>) -> Option<UserId> {
        Some(self.user)
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<AuthenticatorsResult, RequestError> {
        let now = context.now();
        let mut user = context.user(self.user)?.clone();
        let mut ids = Vec::with_capacity(self.authenticators.len());
        for new in self.authenticators {
            let authenticator = credential::authenticator(new, now, &mut || context.random())?;
            ids.push(authenticator.id);
            user.authenticators.push(authenticator);
        }
        context.update_user(user);
        Ok(AuthenticatorsResult { authenticator_ids: AtMost::cut(ids) })
    }
}
