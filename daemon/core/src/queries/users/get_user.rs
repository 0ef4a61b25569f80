//! Returns one user.
//!
//! - `{"userId": "$user"}` is answered.
//! - `{"userId": "$unknown"}` is refused with 404: unable to find user $unknown in organization $organization

use crate::queries::prelude::*;

/// Returns one user with all credentials.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GetUser {
    user_id: UserId,
}

impl Query for GetUser {
    const COST: Cost = Cost::Small;
    type Answer = wire::User;

    fn answer(self, context: &QueryContext<'_>) -> Result<wire::User, RequestError> {
        let user = context.organization.user(self.user_id);
        Ok(user.ok_or(Missing::User(self.user_id, context.id()))?.wire())
    }
}
