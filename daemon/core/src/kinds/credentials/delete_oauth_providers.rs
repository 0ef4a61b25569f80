//! Deletes OAuth identities of a user.

use crate::kinds::prelude::*;
use crate::make::{credential, user};
use crate::params::credential::OauthProvidersResult;

/// Deletes OAuth identities of a user.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    user_id: UserId,
    #[serde(default)]
    provider_ids: AtMost<ProviderId, BATCH>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS";
    const NUMBER: u16 = 66;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Delete, Resource::Credential));
    const GATE: Gate = Gate::OwnCredential;
    type Plan = User;
    type Outcome = OauthProvidersResult;

    fn rules(&self, view: &View<'_>) -> Result<User, RequestError> {
        let mut user = view.user(self.user_id)?.clone();
        let missing = |id: ProviderId| Missing::Record("OAuth provider", id.to_string());
        credential::remove_credentials(
            &mut user.oauth_providers,
            &self.provider_ids,
            "providerIds",
            |one| one.id,
            missing,
        )?;
        user::check_remaining_access(&user, view.organization)?;
        Ok(user)
    }

    fn own_credentials_of(&self, _: &View<'_>) -> Option<UserId> {
        Some(self.user_id)
    }

    fn execute(self, user: User, context: &mut Execution<'_>) -> Result<OauthProvidersResult, RequestError> {
        context.update_user(user);
        Ok(OauthProvidersResult { provider_ids: self.provider_ids })
    }
}
