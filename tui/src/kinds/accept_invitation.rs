//! Makes whoever holds the secret of an invitation a user.

use super::scene::{listed, stated};
use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};
use crate::text::{clean, quoted};

pub(super) struct AcceptInvitation;

impl Kind for AcceptInvitation {
    fn versions(&self) -> &'static [Version] {
        &[
            Version {
                activity_type: "ACTIVITY_TYPE_ACCEPT_INVITATION",
                intent: "acceptInvitationIntent",
                shape: "invitationId userId authenticator:Authenticator1",
            },
            Version {
                activity_type: "ACTIVITY_TYPE_ACCEPT_INVITATION_V2",
                intent: "acceptInvitationIntentV2",
                shape: "invitationId userId authenticator:Authenticator2",
            },
        ]
    }

    fn title(&self) -> &'static str {
        "Accept invitation"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let id = parameters.text("invitationId")?;
        let user = parameters.text("userId")?;
        let passkey =
            parameters.object("authenticator")?.ok_or_else(|| parameters.unknown("authenticator"))?;
        let passkey = quoted(passkey.text("authenticatorName")?);
        let invitation = scene.invitation(id);
        let who = invitation.map_or_else(
            || "whoever was invited".to_owned(),
            |known| format!("{} ({})", stated(&known.receiver_user_name), clean(&known.receiver_email)),
        );
        let mut story = Story::new(
            invitation.map_or_else(|| clean(id), |known| stated(&known.receiver_user_name)),
            format!(
                "Make {who} a user with the id {} and the passkey {passkey}, as the invitation {} says. The secret \
                 that was mailed stamps this, so its key is none of the user's.",
                clean(user),
                scene.invitation_named(id)
            ),
        );
        let Some(invitation) = invitation else {
            let text = format!("the invitation {} is not in this organization now", clean(id));
            story.flag(Level::Med, "unknown-invitation", text);
            return Ok(story);
        };
        if !invitation.receiver_user_tags.is_empty() {
            let tags = invitation.receiver_user_tags.iter().map(|tag| scene.tag_named(&tag.to_string()));
            let text = format!("the new user can do at once whatever policies give to {}", listed(tags));
            story.flag(Level::Med, "joins-tag", text);
        }
        if invitation.status == "INVITATION_STATUS_REVOKED" {
            story.flag(Level::Med, "invitation-revoked", "the invitation has been taken back");
        }
        Ok(story)
    }
}
