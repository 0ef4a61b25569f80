//! Returns one private key.
//!
//! - `{"privateKeyId": "$privateKey"}` is answered.
//! - `{"privateKeyId": "$unknown"}` is refused with 404: no private key found with the given ID

use crate::queries::prelude::*;

/// Returns one private key, without its secret.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GetPrivateKey {
    private_key_id: PrivateKeyId,
}

impl Query for GetPrivateKey {
    const COST: Cost = Cost::Small;
    type Answer = wire::PrivateKey;

    fn answer(self, context: &QueryContext<'_>) -> Result<wire::PrivateKey, RequestError> {
        let key = context.organization.private_key(self.private_key_id);
        Ok(key.ok_or(Missing::Other("private key"))?.wire())
    }
}
