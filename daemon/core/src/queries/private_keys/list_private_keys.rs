//! Lists all private keys.
//!
//! - `{}` is answered.
//! - `{"organizationId": "$unknown"}` is refused with 404: no organization found with the given ID

use crate::queries::prelude::*;

/// Returns all private keys, oldest first, without their secrets.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ListPrivateKeys {}

impl Query for ListPrivateKeys {
    type Answer = Vec<wire::PrivateKey>;

    fn answer(self, context: &QueryContext<'_>) -> Result<Vec<wire::PrivateKey>, RequestError> {
        let keys = context.organization.private_keys();
        Ok(oldest_first(keys, |key| (key.created, key.id), PrivateKey::wire))
    }
}
