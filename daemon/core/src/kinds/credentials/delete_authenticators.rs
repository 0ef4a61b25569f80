//! Deletes authenticators of a user.

use crate::kinds::prelude::*;
use crate::make::{credential, user};
use crate::params::credential::AuthenticatorsResult;

/// Deletes authenticators of a user.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    user_id: UserId,
    #[serde(default)]
    authenticator_ids: AtMost<AuthenticatorId, BATCH>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_AUTHENTICATORS";
    const NUMBER: u16 = 20;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Delete, Resource::Credential));
    const GATE: Gate = Gate::OwnCredential;
    type Plan = User;
    type Outcome = AuthenticatorsResult;

    fn rules(&self, view: &View<'_>) -> Result<User, RequestError> {
        let mut user = view.user(self.user_id)?.clone();
        let missing = |id: AuthenticatorId| Missing::Record("authenticator", id.to_string());
        credential::remove_credentials(
            &mut user.authenticators,
            &self.authenticator_ids,
            "authenticatorIds",
            |one| one.id,
            missing,
        )?;
        user::check_remaining_access(&user, view.organization)?;
        Ok(user)
    }

    fn own_credentials_of(&self, _: &View<'_>) -> Option<UserId> {
        Some(self.user_id)
    }

    fn execute(self, user: User, context: &mut Execution<'_>) -> Result<AuthenticatorsResult, RequestError> {
        context.update_user(user);
        Ok(AuthenticatorsResult { authenticator_ids: self.authenticator_ids })
    }
}
