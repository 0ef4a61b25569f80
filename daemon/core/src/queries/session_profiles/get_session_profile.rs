//! Returns one session profile.
//!
//! - `{"sessionProfileId": "$sessionProfile"}` is answered.
//! - `{"sessionProfileId": "$unknown"}` is refused with 404: no session profile found with the given ID

use crate::queries::prelude::*;

/// Returns one session profile of the organization, or of its parent if it is a sub-organization.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GetSessionProfile {
    session_profile_id: SessionProfileId,
}

impl Query for GetSessionProfile {
    const COST: Cost = Cost::Small;
    type Answer = wire::SessionProfile;

    fn answer(self, context: &QueryContext<'_>) -> Result<wire::SessionProfile, RequestError> {
        let mut profiles = super::session_profiles(context.world, context.organization)?.into_iter();
        let found = profiles.find(|profile| profile.id == self.session_profile_id);
        Ok(found.ok_or(Missing::Other("session profile"))?.wire())
    }
}
