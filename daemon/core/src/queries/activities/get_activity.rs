//! Returns one activity.
//!
//! - `{"activityId": "$activity"}` is answered.
//! - `{"activityId": "$unknown"}` is refused with 404: no activity found with the given ID

use quorate_common::activity::Activity;

use crate::answer::activity_answer;
use crate::error::Corrupt;
use crate::pipeline::can_flags;
use crate::queries::prelude::*;
use crate::queries::query::Answer;

// The body of the answer, rendered without copies of the record.
#[derive(JsonSchema)]
pub(super) struct Rendered(#[schemars(with = "Activity")] Vec<u8>);

impl Answer for Rendered {
    fn body(self, _: &str) -> Result<Vec<u8>, Corrupt> {
        Ok(self.0)
    }
}

/// Returns one activity with its votes.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GetActivity {
    activity_id: ActivityId,
}

impl Query for GetActivity {
    type Answer = Rendered;

    fn answer(self, context: &QueryContext<'_>) -> Result<Rendered, RequestError> {
        let record = super::activity(context, self.activity_id)?;
        let can = can_flags(context.world, &record, context.organization, context.caller, context.now)?;
        Ok(Rendered(activity_answer(&record, context.organization, can)?))
    }
}
