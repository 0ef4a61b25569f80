//! Lists all tags of private keys.
//!
//! - `{}` is answered.
//! - `{"organizationId": "$unknown"}` is refused with 404: no organization found with the given ID

use crate::queries::prelude::*;

/// Returns all tags of private keys, oldest first.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ListPrivateKeyTags {}

impl Query for ListPrivateKeyTags {
    type Answer = Vec<wire::Tag>;

    fn answer(self, context: &QueryContext<'_>) -> Result<Vec<wire::Tag>, RequestError> {
        Ok(super::tags(context, TagKind::PrivateKey))
    }
}
