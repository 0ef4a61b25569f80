//! Returns one authenticator.
//!
//! - `{"authenticatorId": "$authenticator"}` is answered.
//! - `{"authenticatorId": "$unknown"}` is refused with 404: no authenticator found with the given ID

use crate::queries::prelude::*;

/// Returns one authenticator of any user.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GetAuthenticator {
    authenticator_id: AuthenticatorId,
}

impl Query for GetAuthenticator {
    const COST: Cost = Cost::Small;
    type Answer = wire::Authenticator;

    fn answer(self, context: &QueryContext<'_>) -> Result<wire::Authenticator, RequestError> {
        let mut all = context.organization.users().flat_map(|user| &user.authenticators);
        let found = all.find(|one| one.id == self.authenticator_id);
        Ok(found.ok_or(Missing::Other("authenticator"))?.wire())
    }
}
