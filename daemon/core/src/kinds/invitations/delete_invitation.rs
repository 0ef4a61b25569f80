//! Revokes an invitation.

use crate::kinds::prelude::*;

/// Revokes an invitation, so that nobody can accept it any more.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    invitation_id: InvitationId,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    invitation_id: InvitationId,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_INVITATION";
    const NUMBER: u16 = 11;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Delete, Resource::Invitation));
    type Plan = Invitation;
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<Invitation, RequestError> {
        let invitation = view.collection_item::<Invitation>(self.invitation_id)?;
        if invitation.status == InvitationStatus::Accepted {
            return Err(Wrong::Text("invitation has been accepted").into());
        }
        Ok(invitation.clone())
    }

    fn execute(self, invitation: Invitation, context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        context.change(Change::put(invitation.with_status(InvitationStatus::Revoked, context.now())));
        Ok(Outcome { invitation_id: self.invitation_id })
    }
}
