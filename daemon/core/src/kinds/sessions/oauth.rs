//! Opens a session for the user whom an ID token identifies, and returns its key.

use quorate_common::bounded::ExpirationSeconds;
use quorate_common::ids::ProviderId;

use crate::kinds::prelude::*;
use crate::make::oidc;
use crate::make::session::BundledSession;
use crate::model::user::KeySource;
use crate::params::credential::OIDC_TOKEN;
use crate::params::secret_text::SecretText;
use crate::params::session::BundledSessionResult;

/// Opens a session for the user whom an ID token identifies, and returns its key encrypted to the target key.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    oidc_token: SecretText<OIDC_TOKEN>,
    target_public_key: Text<130>,
    api_key_name: Option<Label>,
    expiration_seconds: Option<ExpirationSeconds>,
    invalidate_existing: Option<bool>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_OAUTH";
    const NUMBER: u16 = 68;
    const MASKS: bool = true;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Create, Resource::Auth));
    const OPEN_TO_PARENT: bool = true;
    const WAITS: bool = false;
    type Plan = ((User, ProviderId), BundledSession);
    type Outcome = BundledSessionResult;

    fn rules(&self, view: &View<'_>) -> Result<Self::Plan, RequestError> {
        let (target, name) = (&self.target_public_key, self.api_key_name.as_ref());
        let session = BundledSession::check(target, name, "Oauth", view)?;
        let signed_in = oidc::sign_in(self.oidc_token.reveal(), self.target_public_key.as_str(), view)?;
        Ok((signed_in, session))
    }

    fn execute(
        self,
        ((user, identity), session): Self::Plan,
        context: &mut Execution<'_>,
    ) -> Result<BundledSessionResult, RequestError> {
        context.used_identity(user.id, identity);
        let replaces = self.invalidate_existing == Some(true);
        session.open(user, KeySource::Oauth, self.expiration_seconds, replaces, context)
    }
}
