//! Deletes a policy.

use super::policy::describe_deletion;
use super::{Description, Kind, Reader, Scene, Undecodable, Version};

pub(super) struct DeletePolicy;

impl Kind for DeletePolicy {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_POLICY",
            intent: "deletePolicyIntent",
            schema: "policyId",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete policy"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        Ok(describe_deletion(&[parameters.text("policyId")?], scene))
    }
}
