//! A vote for another activity.

use super::{Kind, Reader, Scene, Story, Undecodable, Version};
use crate::text::clean;

pub(super) struct ApproveActivity;

impl Kind for ApproveActivity {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_APPROVE_ACTIVITY",
            intent: "approveActivityIntent",
            shape: "fingerprint",
        }]
    }

    fn title(&self) -> &'static str {
        "Vote yes"
    }

    fn describe(&self, parameters: &Reader<'_>, _: &Scene<'_>) -> Result<Story, Undecodable> {
        let fingerprint = clean(parameters.text("fingerprint")?);
        Ok(Story::new(
            format!("yes to {fingerprint}"),
            format!("Vote yes on the activity with the fingerprint {fingerprint}."),
        ))
    }
}
