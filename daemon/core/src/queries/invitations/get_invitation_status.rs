//! Returns the status of an invitation to the holder of its mailed key. The examples are stamped with that key.
//!
//! - `{"invitationId": "$invitation"}` is answered.
//! - `{"invitationId": "$unknown"}` is refused with 403: request not authorized

use quorate_common::ids::InvitationId;

use crate::error::Denied;
use crate::queries::prelude::*;
use crate::view::CredentialScope;

/// Returns the status of an invitation that can be accepted. Fails like the acceptance if it cannot. Stamped by the
/// mailed key.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GetInvitationStatus {
    invitation_id: InvitationId,
}

impl Query for GetInvitationStatus {
    const COST: Cost = Cost::Small;
    const SCOPE: CredentialScope = CredentialScope::Invitations;
    type Answer = String;

    fn answer(self, context: &QueryContext<'_>) -> Result<String, RequestError> {
        if context.caller.invitation != Some(self.invitation_id) {
            return Err(Denied::NotAuthorized.into());
        }
        let found = context.organization.records.invitations.get(self.invitation_id);
        let found: &Invitation = found.ok_or(Missing::Other("invitation"))?;
        match found.ended(context.now) {
            None => Ok(found.status.name().to_owned()),
            Some(end) => Err(Intent::Text(end).into()),
        }
    }
}
