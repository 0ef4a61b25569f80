//! Returns all session profiles.
//!
//! - `{}` is answered.
//! - `{"organizationId": "$unknown"}` is refused with 404: no organization found with the given ID

use crate::queries::prelude::*;

/// Returns all session profiles of the organization, or of its parent if it is a sub-organization, oldest first.
#[derive(Deserialize, JsonSchema)]
pub(super) struct GetSessionProfiles {}

impl Query for GetSessionProfiles {
    type Answer = Vec<wire::SessionProfile>;

    fn answer(self, context: &QueryContext<'_>) -> Result<Vec<wire::SessionProfile>, RequestError> {
        let profiles = super::session_profiles(context.world, context.organization)?.into_iter();
        Ok(oldest_first(profiles, |profile| (profile.created, profile.id), |profile| profile.wire()))
    }
}
