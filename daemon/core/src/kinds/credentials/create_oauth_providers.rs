//! Registers OAuth identities for a user, who can then sign in with ID tokens of their issuers.

use crate::kinds::prelude::*;
use crate::make::credential;
use crate::params::NewOauthProvider;
use crate::params::credential::{OauthProviderParams, OauthProviderParamsV2, OauthProvidersResult};

/// Registers OAuth identities for a user.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "P: Deserialize<'de>"))]
pub(in crate::kinds) struct Intent<P: Serialize> {
    user_id: UserId,
    #[serde(default)]
    oauth_providers: AtMost<P, BATCH>,
}

/// Version 1: identities given by their tokens.
pub(in crate::kinds) type V1 = Intent<OauthProviderParams>;
/// Version 2: identities may be given by their claims.
pub(in crate::kinds) type V2 = Intent<OauthProviderParamsV2>;

/// The version-independent parameters.
pub(in crate::kinds) struct Request {
    providers: Vec<NewOauthProvider>,
    user: UserId,
}

impl Version for V1 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS";
    const NUMBER: u16 = 65;
    const MASKS: bool = true;
}

impl Version for V2 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2";
    const NUMBER: u16 = 123;
}

impl<P: Serialize + Into<NewOauthProvider>> From<Intent<P>> for Request {
    fn from(intent: Intent<P>) -> Self {
        let providers = intent.oauth_providers.into_iter().map(Into::into).collect();
        Self { providers, user: intent.user_id }
    }
}

impl Kind for Request {
    const ACTS: Acts = Some((Action::Create, Resource::Credential));
    const GATE: Gate = Gate::OwnCredential;
    type Plan = ();
    type Outcome = OauthProvidersResult;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        not_empty(&self.providers, "oauthProviders")?;
        credential::check_oauth_providers(&self.providers, view.user(self.user)?, view)
    }

    fn has_secret(&self) -> bool {
        self.providers.iter().any(NewOauthProvider::has_token)
    }

    fn own_credentials_of(&self, _: &View<'_>) -> Option<UserId> {
        Some(self.user)
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<OauthProvidersResult, RequestError> {
        let now = context.now();
        let mut user = context.user(self.user)?.clone();
        let new = credential::oauth_providers(&self.providers, now, &mut || context.random())?;
        let ids = new.iter().map(|provider| provider.id).collect();
        user.oauth_providers.extend(new);
        context.update_user(user);
        Ok(OauthProvidersResult { provider_ids: AtMost::cut(ids) })
    }
}
