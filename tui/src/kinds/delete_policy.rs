//! Takes a rule away.

use super::policy::gone;
use super::{Kind, Reader, Scene, Story, Undecodable, Version};

pub(super) struct DeletePolicy;

impl Kind for DeletePolicy {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_POLICY",
            intent: "deletePolicyIntent",
            shape: "policyId",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete policy"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        Ok(gone(&[parameters.text("policyId")?], scene))
    }
}
