//! Returns the authenticators of one user.
//!
//! - `{"userId": "$user"}` is answered.
//! - `{}` is refused with 400: invalid request body: missing field `userId`
//! - `{"userId": "$unknown"}` is refused with 404: unable to find user $unknown in organization $organization

use crate::queries::prelude::*;

/// Returns the authenticators of one user.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GetAuthenticators {
    user_id: UserId,
}

impl Query for GetAuthenticators {
    const COST: Cost = Cost::Small;
    type Answer = Vec<wire::Authenticator>;

    fn answer(self, context: &QueryContext<'_>) -> Result<Vec<wire::Authenticator>, RequestError> {
        let users = super::users(context, Some(self.user_id))?;
        Ok(users.flat_map(|user| user.authenticators.iter().map(Authenticator::wire)).collect())
    }
}
