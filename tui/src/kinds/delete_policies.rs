//! Deletes policies.

use super::policy::describe_deletion;
use super::{Description, Kind, Reader, Scene, Undecodable, Version};

pub(super) struct DeletePolicies;

impl Kind for DeletePolicies {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_POLICIES",
            intent: "deletePoliciesIntent",
            schema: "policyIds[]",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete policies"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        Ok(describe_deletion(&parameters.texts("policyIds")?, scene))
    }
}
