//! Revokes an invitation.

use quorate_common::ids::InvitationId;

use crate::kinds::prelude::*;
use crate::model::{Invitation, InvitationStatus};

pub(in crate::kinds) struct DeleteInvitation;

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
    type Kind = DeleteInvitation;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_INVITATION";
    const NUMBER: u16 = 11;
    const RESULT: &'static str = "deleteInvitationResult";
}

impl Kind for DeleteInvitation {
    const ACTS: Option<(Action, Resource)> = Some((Action::Delete, Resource::Invitation));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = Invitation;
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, Invitation), RequestError> {
        let invitation = view.collection_item::<Invitation>(intent.invitation_id)?;
        if invitation.status == InvitationStatus::Accepted {
            return Err(Wrong::Text("invitation has been accepted").into());
        }
        Ok((Facts::default(), invitation.clone()))
    }

    fn execute(
        intent: Intent,
        invitation: Invitation,
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        context
            .change(Change::PutInvitation(invitation.with_status(InvitationStatus::Revoked, context.now())));
        Ok(Outcome { invitation_id: intent.invitation_id })
    }
}
