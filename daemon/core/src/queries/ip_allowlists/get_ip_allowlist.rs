//! Returns the IP allowlist of the organization, or of one API key.
//!
//! - `{"publicKey": "$publicKey"}` is answered.
//! - `{}` is refused with 404: no IP allowlist found with the given ID

use crate::queries::prelude::*;

/// Returns the IP allowlist of the organization, or of one API key.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GetIpAllowlist {
    /// Public key of the API key in hex. If absent or empty, the allowlist of the organization is returned.
    #[schemars(length(max = 256))]
    public_key: Option<String>,
}

impl Query for GetIpAllowlist {
    const COST: Cost = Cost::Small;
    type Answer = wire::IpAllowlist;

    fn answer(self, context: &QueryContext<'_>) -> Result<wire::IpAllowlist, RequestError> {
        let key = self.public_key.filter(|key| !key.is_empty()).map(|key| key.to_ascii_lowercase());
        let list = context.organization.ip_allowlist(key.as_deref()).ok_or(Missing::Other("IP allowlist"))?;
        Ok(list.wire(context.id(), key))
    }
}
