//! Lists the members of the root quorum.
//!
//! - `{}` is answered.
//! - `{"organizationId": "$unknown"}` is refused with 404: no organization found with the given ID

use crate::queries::prelude::*;

/// Returns the members of the root quorum, oldest first.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ListRootUsers {}

impl Query for ListRootUsers {
    const NAME: &'static str = "list_root_users";
    const MEMBER: &'static str = "rootUsers";
    type Answer = Vec<wire::User>;

    fn answer(self, context: &QueryContext<'_>) -> Result<Vec<wire::User>, RequestError> {
        let users = context.organization.users().filter(|user| context.organization.is_root(user.id));
        Ok(oldest_first(users, |user| (user.created, user.id), User::wire))
    }
}
