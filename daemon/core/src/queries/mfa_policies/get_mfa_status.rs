//! Returns what MFA policies require for an activity, and what was proven.
//!
//! - `{"activityId": "$activity"}` is answered.
//! - `{"activityId": "$activity", "userId": "$user"}` is answered.
//! - `{"activityId": "$unknown"}` is refused with 404: no activity found with the given ID
//! - `{"activityId": "$activity", "userId": "$unknown"}` is refused with 404: unable to find user $unknown in organization $organization

use crate::pipeline::Pending;
use crate::policy::MfaState;
use crate::queries::prelude::*;
use crate::records;

/// Returns the MFA policies that apply to a waiting activity, for one user or for its proposer and all users who
/// approved it, and the steps that they have proven.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GetMfaStatus {
    activity_id: ActivityId,
    user_id: Option<UserId>,
}

impl Query for GetMfaStatus {
    type Answer = Vec<wire::MfaStatus>;

    fn answer(self, context: &QueryContext<'_>) -> Result<Vec<wire::MfaStatus>, RequestError> {
        let QueryContext { world, organization, now, .. } = *context;
        if let Some(user) = self.user_id {
            super::user(context, user)?;
        }
        let record = records::activity(world, organization, self.activity_id)?.ok_or(Missing::Activity)?;
        // Nothing is required of an activity that has ended.
        if !record.status.waits() {
            return Ok(Vec::new());
        }
        let pending = Pending::of(world, &record, organization, now)?;
        Ok(pending.mfa(&record, self.user_id).iter().map(MfaState::wire).collect())
    }
}
