//! A rejection of another activity.

use super::{Description, Kind, Reader, Scene, Undecodable, Version};
use crate::text::clean;

pub(super) struct RejectActivity;

impl Kind for RejectActivity {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_REJECT_ACTIVITY",
            intent: "rejectActivityIntent",
            schema: "fingerprint",
        }]
    }

    fn title(&self) -> &'static str {
        "Reject activity"
    }

    fn describe(&self, parameters: &Reader<'_>, _: &Scene<'_>) -> Result<Description, Undecodable> {
        let fingerprint = clean(parameters.text("fingerprint")?);
        Ok(Description::new(
            format!("rejection of {fingerprint}"),
            format!("Reject the activity with the fingerprint {fingerprint}. One rejection is final."),
        ))
    }
}
