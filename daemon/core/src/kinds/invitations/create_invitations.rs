//! Invites people by email to become users.

use crate::kinds::prelude::*;
use crate::make::{child_messages, invitation, user};
use crate::params::user::AccessType;

/// Invites people by email to become users. Each email contains a secret that accepts its invitation once.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    invitations: AtMost<InvitationParams, BATCH>,
}

/// An invitation to create.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct InvitationParams {
    receiver_user_name: Label,
    receiver_user_email: Email,
    #[serde(default)]
    receiver_user_tags: AtMost<TagId, BATCH>,
    access_type: AccessType,
    /// Must be the user who submits the request; nobody can invite in the name of another user.
    sender_user_id: UserId,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    invitation_ids: AtMost<InvitationId, BATCH>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_INVITATIONS";
    const NUMBER: u16 = 5;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Create, Resource::Invitation));
    type Plan = ();
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        not_empty(&self.invitations, "invitations")?;
        distinct(self.invitations.iter().map(|one| one.receiver_user_email.as_str()), "invitations")?;
        if !view.sends_mail() {
            return Err(Wrong::NoMail.into());
        }
        for one in &self.invitations {
            user::check_email(Some(&one.receiver_user_email), "receiverUserEmail")?;
            view.user(one.sender_user_id)?;
            if one.sender_user_id != view.proposer {
                let text = "invalid request body: `senderUserId` must be the user who submits the request";
                return Err(Wrong::Text(text).into());
            }
            distinct(one.receiver_user_tags.iter(), "receiverUserTags")?;
            view.tags_exist(&one.receiver_user_tags, TagKind::User)?;
        }
        let waiting = view.organization.records.invitations.iter().filter(|one| one.waits(view.now)).count();
        let limit = view.limits().records.invitations;
        check_limit(waiting, self.invitations.len(), limit, "invitations", "invitations")
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        child_messages::count_invitations(self.invitations.len(), context)?;
        invitation::make_room(self.invitations.len(), context);
        let mut ids = Vec::with_capacity(self.invitations.len());
        for one in self.invitations {
            let new = invitation::New {
                name: one.receiver_user_name,
                email: one.receiver_user_email,
                tags: one.receiver_user_tags.into_vec(),
                access_type: one.access_type,
                sender: one.sender_user_id,
            };
            ids.push(invitation::invite(new, context)?);
        }
        Ok(Outcome { invitation_ids: AtMost::cut(ids) })
    }
}
