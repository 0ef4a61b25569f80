//! Opens a session for the user whom an ID token identifies, and returns a token that describes it.

use quorate_common::bounded::ExpirationSeconds;
use quorate_common::ids::{ProviderId, SessionProfileId};

use crate::kinds::prelude::*;
use crate::make::oidc;
use crate::make::session::{self, Login};
use crate::params::credential::OIDC_TOKEN;
use crate::params::secret_text::SecretText;
use crate::params::session::{LoginParams, LoginResult, PUBLIC_KEY};

/// Opens a session for the user whom an ID token identifies: an expiring key, which a signed token describes.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    oidc_token: SecretText<OIDC_TOKEN>,
    public_key: Text<PUBLIC_KEY>,
    expiration_seconds: Option<ExpirationSeconds>,
    invalidate_existing: Option<bool>,
    session_profile_id: Option<SessionProfileId>,
}

/// The parameters, with those of the login in the form that all logins have.
pub(in crate::kinds) struct Request {
    token: SecretText<OIDC_TOKEN>,
    login: LoginParams,
}

impl Version for Intent {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_OAUTH_LOGIN";
    const NUMBER: u16 = 88;
    const MASKS: bool = true;
}

impl From<Intent> for Request {
    fn from(intent: Intent) -> Self {
        let login = LoginParams {
            public_key: intent.public_key,
            expiration_seconds: intent.expiration_seconds,
            invalidate_existing: intent.invalidate_existing,
            session_profile_id: intent.session_profile_id,
        };
        Self { token: intent.oidc_token, login }
    }
}

impl Kind for Request {
    const ACTS: Acts = Some((Action::Create, Resource::Auth));
    const OPEN_TO_PARENT: bool = true;
    const WAITS: bool = false;
    type Plan = ((User, ProviderId), Login);
    type Outcome = LoginResult;

    fn rules(&self, view: &View<'_>) -> Result<Self::Plan, RequestError> {
        let login = session::check_login(&self.login, view)?;
        let signed_in = oidc::sign_in(self.token.reveal(), self.login.public_key.as_str(), view)?;
        Ok((signed_in, login))
    }

    fn execute(
        self,
        ((user, identity), login): Self::Plan,
        context: &mut Execution<'_>,
    ) -> Result<LoginResult, RequestError> {
        context.used_identity(user.id, identity);
        Ok(LoginResult { session: login.open(user, context)? })
    }
}
