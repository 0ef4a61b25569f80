//! Lists all users.
//!
//! - `{}` is answered.
//! - `{"organizationId": "$unknown"}` is refused with 404: no organization found with the given ID

use crate::queries::prelude::*;

/// Returns all users with all credentials, oldest first.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ListUsers {}

impl Query for ListUsers {
    type Answer = Vec<wire::User>;

    fn answer(self, context: &QueryContext<'_>) -> Result<Vec<wire::User>, RequestError> {
        Ok(oldest_first(context.organization.users(), |user| (user.created, user.id), User::wire))
    }
}
