//! An approval of another activity.

use super::{Description, Kind, Reader, Scene, Undecodable, Version};
use crate::text::clean;

pub(super) struct ApproveActivity;

impl Kind for ApproveActivity {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_APPROVE_ACTIVITY",
            intent: "approveActivityIntent",
            schema: "fingerprint",
        }]
    }

    fn title(&self) -> &'static str {
        "Approve activity"
    }

    fn describe(&self, parameters: &Reader<'_>, _: &Scene<'_>) -> Result<Description, Undecodable> {
        let fingerprint = clean(parameters.text("fingerprint")?);
        Ok(Description::new(
            format!("approval of {fingerprint}"),
            format!("Approve the activity with the fingerprint {fingerprint}."),
        ))
    }
}
