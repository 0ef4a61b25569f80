//! Takes rules away.

use super::policy::gone;
use super::{Kind, Reader, Scene, Story, Undecodable, Version};

pub(super) struct DeletePolicies;

impl Kind for DeletePolicies {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_POLICIES",
            intent: "deletePoliciesIntent",
            shape: "policyIds[]",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete policies"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        Ok(gone(&parameters.texts("policyIds")?, scene))
    }
}
