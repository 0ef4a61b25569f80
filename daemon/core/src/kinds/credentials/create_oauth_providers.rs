//! Registers OAuth identities for a user. They are records only: signing in with them is not supported yet.

use quorate_common::ids::{ProviderId, UserId};

use crate::kinds::prelude::*;
use crate::make::user;
use crate::params::NewOauthProvider;
use crate::params::credential::OauthProviderParamsV2;

pub(in crate::kinds) struct CreateOauthProviders;

/// Registers OAuth identities for a user.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    user_id: UserId,
    #[serde(default)]
    oauth_providers: AtMost<OauthProviderParamsV2, BATCH>,
}

/// The version-independent parameters.
pub(in crate::kinds) struct New {
    providers: Vec<NewOauthProvider>,
    user: UserId,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    provider_ids: AtMost<ProviderId, BATCH>,
}

impl Version for Intent {
    type Kind = CreateOauthProviders;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2";
    const NUMBER: u16 = 123;
    const RESULT: &'static str = "createOauthProvidersResultV2";
}

impl From<Intent> for New {
    fn from(intent: Intent) -> Self {
        let providers = intent.oauth_providers.into_iter().map(Into::into).collect();
        Self { providers, user: intent.user_id }
    }
}

impl Kind for CreateOauthProviders {
    const ACTS: Option<(Action, Resource)> = Some((Action::Create, Resource::Credential));
    const GATE: Gate = Gate::OwnCredential;
    type Intent = New;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(intent: &New, view: &View<'_>) -> Result<(Facts, ()), RequestError> {
        not_empty(&intent.providers, "oauthProviders")?;
        user::check_oauth_providers(&intent.providers, view.user(intent.user)?, view)?;
        Ok((Facts::of_own_credentials(intent.user), ()))
    }

    fn own_credentials_of(intent: &New) -> Option<UserId> {
        Some(intent.user)
    }

    fn execute(intent: New, (): (), context: &mut ExecutionContext<'_, '_>) -> Result<Outcome, RequestError> {
        let now = context.now();
        let mut user = context.user(intent.user)?.clone();
        let mut ids = Vec::with_capacity(intent.providers.len());
        for new in &intent.providers {
            let provider = user::oauth_provider(new, now, &mut || context.random())?;
            ids.push(provider.id);
            user.oauth_providers.push(provider);
        }
        user.updated = now;
        context.change(Change::PutUser(user));
        Ok(Outcome { provider_ids: AtMost::cut(ids) })
    }
}
