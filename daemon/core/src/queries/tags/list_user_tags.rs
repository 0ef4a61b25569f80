//! Lists all tags of users.
//!
//! - `{}` is answered.
//! - `{"organizationId": "$unknown"}` is refused with 404: no organization found with the given ID

use crate::queries::prelude::*;

/// Returns all tags of users, oldest first.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ListUserTags {}

impl Query for ListUserTags {
    type Answer = Vec<wire::Tag>;

    fn answer(self, context: &QueryContext<'_>) -> Result<Vec<wire::Tag>, RequestError> {
        Ok(super::tags(context, TagKind::User))
    }
}
