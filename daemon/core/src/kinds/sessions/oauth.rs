//! Opens a session for the user whom an ID token identifies, and returns its key.

use quorate_common::bounded::ExpirationSeconds;
use quorate_common::bundle::TargetPublicKey;

use crate::bundles;
use crate::kinds::prelude::*;
use crate::make::oidc;
use crate::make::session::{self, NewSession};
use crate::model::user::KeySource;
use crate::params::credential::OIDC_TOKEN;
use crate::params::secret_text::SecretText;

/// Opens a session for the user whom an ID token identifies, and returns its key encrypted to the target key.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    oidc_token: SecretText<OIDC_TOKEN>,
    target_public_key: Text<130>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    api_key_name: Option<Label>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expiration_seconds: Option<ExpirationSeconds>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    invalidate_existing: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    user_id: UserId,
    api_key_id: ApiKeyId,
    credential_bundle: String,
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
    type Plan = (User, TargetPublicKey, Label);
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<Self::Plan, RequestError> {
        let target = bundles::target(self.target_public_key.as_str())?;
        let name = self.api_key_name.clone().map_or_else(|| session::label("Oauth", view), Ok)?;
        let user = oidc::sign_in(self.oidc_token.reveal(), self.target_public_key.as_str(), view)?;
        Ok((user, target, name))
    }

    fn execute(
        self,
        (user, target, name): Self::Plan,
        context: &mut Execution<'_>,
    ) -> Result<Outcome, RequestError> {
        let (credential_bundle, public_key) = bundles::new_credential(&target, context)?;
        let new = NewSession {
            key: session::p256_key(name, public_key, session::seconds(self.expiration_seconds)),
            source: KeySource::Oauth,
            invalidates_existing: self.invalidate_existing == Some(true),
            profile: None,
        };
        let user_id = user.id;
        Ok(Outcome { user_id, api_key_id: new.open(user, context), credential_bundle })
    }
}
