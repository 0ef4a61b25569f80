//! Takes an invitation back.

use super::scene::stated;
use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};
use crate::text::clean;

pub(super) struct DeleteInvitation;

impl Kind for DeleteInvitation {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_INVITATION",
            intent: "deleteInvitationIntent",
            shape: "invitationId",
        }]
    }

    fn title(&self) -> &'static str {
        "Take invitation back"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let id = parameters.text("invitationId")?;
        let named = scene.invitation_named(id);
        let known = scene.invitation(id);
        let address = known.map_or_else(String::new, |one| format!(" to {}", stated(&one.receiver_email)));
        let mut story = Story::new(
            known.map_or_else(
                || named.clone(),
                |one| format!("{} at {}", stated(&one.receiver_user_name), clean(&one.receiver_email)),
            ),
            format!("Take the invitation {named}{address} back: the secret in its mail opens nothing then."),
        );
        let Some(known) = known else {
            story.flag(Level::Med, "unknown-invitation", format!("{named} is not in this organization now"));
            return Ok(story);
        };
        let status = known.status.strip_prefix("INVITATION_STATUS_").unwrap_or(&known.status);
        story.change("invitation", clean(status), "REVOKED", "");
        if status == "ACCEPTED" {
            story.flag(
                Level::Med,
                "invitation-accepted",
                "it has been accepted: whoever became a user by it stays one",
            );
        }
        Ok(story)
    }
}
