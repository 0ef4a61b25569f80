//! Deletes a session profile.

use quorate_common::ids::SessionProfileId;

use crate::kinds::prelude::*;
use crate::model::SessionProfile;

/// Deletes a session profile.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    session_profile_id: SessionProfileId,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    session_profile_id: SessionProfileId,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_SESSION_PROFILE";
    const NUMBER: u16 = 60_000;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Delete, Resource::SessionProfile));
    type Plan = ();
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        view.collection_item::<SessionProfile>(self.session_profile_id).map(drop)
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        context.change(Change::remove::<SessionProfile>(self.session_profile_id));
        Ok(Outcome { session_profile_id: self.session_profile_id })
    }
}
