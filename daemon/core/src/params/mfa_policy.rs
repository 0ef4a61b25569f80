//! Results of activities on MFA policies.

use quorate_common::ids::MfaPolicyId;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MfaPolicyResult {
    pub(crate) mfa_policy_id: MfaPolicyId,
}
