//! A vote against another activity.

use super::{Kind, Reader, Scene, Story, Undecodable, Version};
use crate::text::clean;

pub(super) struct RejectActivity;

impl Kind for RejectActivity {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_REJECT_ACTIVITY",
            intent: "rejectActivityIntent",
            shape: "fingerprint",
        }]
    }

    fn title(&self) -> &'static str {
        "Vote no"
    }

    fn describe(&self, parameters: &Reader<'_>, _: &Scene<'_>) -> Result<Story, Undecodable> {
        let fingerprint = clean(parameters.text("fingerprint")?);
        Ok(Story::new(
            format!("no to {fingerprint}"),
            format!("Vote no on the activity with the fingerprint {fingerprint}. One no is final."),
        ))
    }
}
