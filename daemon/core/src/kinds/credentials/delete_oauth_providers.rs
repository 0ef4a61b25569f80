//! Deletes OAuth identities of a user.

use quorate_common::ids::{ProviderId, UserId};

use crate::kinds::prelude::*;
use crate::make::user;
use crate::model::User;

pub(in crate::kinds) struct DeleteOauthProviders;

/// Deletes OAuth identities of a user.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    user_id: UserId,
    #[serde(default)]
    provider_ids: AtMost<ProviderId, BATCH>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    provider_ids: AtMost<ProviderId, BATCH>,
}

impl Version for Intent {
    type Kind = DeleteOauthProviders;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS";
    const NUMBER: u16 = 66;
    const RESULT: &'static str = "deleteOauthProvidersResult";
}

impl Kind for DeleteOauthProviders {
    const ACTS: Option<(Action, Resource)> = Some((Action::Delete, Resource::Credential));
    const GATE: Gate = Gate::OwnCredential;
    type Intent = Intent;
    type Plan = User;
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, User), RequestError> {
        let mut user = view.user(intent.user_id)?.clone();
        let missing = |id: &ProviderId| Missing::Record("OAuth provider", id.to_string());
        user::remove_credentials(
            &mut user.oauth_providers,
            &intent.provider_ids,
            "providerIds",
            |one| &one.id,
            missing,
        )?;
        user::check_remaining_access(&user, view.organization)?;
        Ok((Facts::of_own_credentials(intent.user_id), user))
    }

    fn own_credentials_of(intent: &Intent) -> Option<UserId> {
        Some(intent.user_id)
    }

    fn execute(
        intent: Intent,
        user: User,
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        context.change(Change::PutUser(User { updated: context.now(), ..user }));
        Ok(Outcome { provider_ids: intent.provider_ids })
    }
}
