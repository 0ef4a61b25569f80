//! Takes an invitation back.

use quorate_common::ids::InvitationId;

use crate::kinds::prelude::*;
use crate::model::{Invitation, InvitationStatus};

pub(in crate::kinds) struct DeleteInvitation;

/// Takes an invitation back, so that nobody can accept it.
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

impl Form for Intent {
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

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, Invitation), Refusal> {
        let invitation = view.shelved::<Invitation>(intent.invitation_id)?;
        if invitation.status == InvitationStatus::Accepted {
            return Err(Wrong::Text("invitation has been accepted").into());
        }
        Ok((Facts::default(), invitation.clone()))
    }

    fn execute(intent: Intent, invitation: Invitation, cx: &mut Cx<'_, '_>) -> Result<Outcome, Refusal> {
        cx.change(Change::PutInvitation(invitation.with_status(InvitationStatus::Revoked, cx.now())));
        Ok(Outcome { invitation_id: intent.invitation_id })
    }
}
