//! Registers OAuth identities for a user. They are records only: signing in with them is not supported yet.

use crate::kinds::prelude::*;
use crate::make::credential;
use crate::params::NewOauthProvider;
use crate::params::credential::{OauthProviderParamsV2, OauthProvidersResult};

/// Registers OAuth identities for a user.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    user_id: UserId,
    #[serde(default)]
    oauth_providers: AtMost<OauthProviderParamsV2, BATCH>,
}

/// The version-independent parameters.
pub(in crate::kinds) struct Request {
    providers: Vec<NewOauthProvider>,
    user: UserId,
}

impl Version for Intent {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2";
    const NUMBER: u16 = 123;
}

impl From<Intent> for Request {
    fn from(intent: Intent) -> Self {
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

    fn own_credentials_of(&self, _: &View<'_>) -> Option<UserId> {
        Some(self.user)
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<OauthProvidersResult, RequestError> {
        let now = context.now();
        let mut user = context.user(self.user)?.clone();
        let mut ids = Vec::with_capacity(self.providers.len());
        for new in &self.providers {
            let provider = credential::oauth_provider(new, now, &mut || context.random())?;
            ids.push(provider.id);
            user.oauth_providers.push(provider);
        }
        context.update_user(user);
        Ok(OauthProvidersResult { provider_ids: AtMost::cut(ids) })
    }
}
