//! Registers OAuth identities of a user. They are records: nobody signs in with them yet.

use quorate_common::ids::{ProviderId, UserId};

use crate::kinds::prelude::*;
use crate::make::user;
use crate::params::NewOauthProvider;
use crate::params::credential::OauthProviderParamsV2;

pub(in crate::kinds) struct CreateOauthProviders;

/// Registers OAuth identities of a user.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    user_id: UserId,
    #[serde(default)]
    oauth_providers: AtMost<OauthProviderParamsV2, BATCH>,
}

/// The parameters in no version's names.
pub(in crate::kinds) struct New {
    providers: Vec<NewOauthProvider>,
    user: UserId,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    provider_ids: AtMost<ProviderId, BATCH>,
}

impl Form for Intent {
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

    fn rules(intent: &New, view: &View<'_>) -> Result<(Facts, ()), Refusal> {
        not_empty(&intent.providers, "oauthProviders")?;
        user::check_oauth_providers(&intent.providers, view.user(intent.user)?, view)?;
        Ok((Facts::of_own_credentials(intent.user), ()))
    }

    fn own_credentials_of(intent: &New) -> Option<UserId> {
        Some(intent.user)
    }

    fn execute(intent: New, (): (), cx: &mut Cx<'_, '_>) -> Result<Outcome, Refusal> {
        let now = cx.now();
        let mut user = cx.user(intent.user)?.clone();
        let mut ids = Vec::with_capacity(intent.providers.len());
        for new in &intent.providers {
            let provider = user::oauth_provider(new, now, &mut || cx.random())?;
            ids.push(provider.id);
            user.oauth_providers.push(provider);
        }
        user.updated = now;
        cx.change(Change::PutUser(user));
        Ok(Outcome { provider_ids: AtMost::cut(ids) })
    }
}
