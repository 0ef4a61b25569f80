//! Removes users with all their credentials.

use super::scene::{count, listed};
use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};

pub(super) struct DeleteUsers;

impl Kind for DeleteUsers {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_USERS",
            intent: "deleteUsersIntent",
            shape: "userIds[]",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete users"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let ids = parameters.texts("userIds")?;
        let named = listed(ids.iter().map(|id| scene.user_named(id)));
        let brief = listed(ids.iter().map(|id| scene.user_short(id)));
        let sentence = format!(
            "Remove {} with all their credentials: {named}. They can do nothing afterwards.",
            count(ids.len(), "user")
        );
        let mut story = Story::new(brief, sentence);
        let before = scene.organization.users.len();
        story.change("users", before.to_string(), before.saturating_sub(ids.len()).to_string(), "");
        for id in &ids {
            if scene.is_root(id) {
                story.flag(
                    Level::High,
                    "root-user-removed",
                    format!("{} is in the root quorum", scene.user_named(id)),
                );
                story.danger("the NAME of the root user who is removed", &scene.user_name(id));
            } else if scene.user(id).is_none() {
                story.flag(
                    Level::Med,
                    "unknown-user",
                    format!("{} is not in this organization now", scene.user_named(id)),
                );
            }
        }
        story.flag(Level::Med, "access-removed", "people or programs lose access; it cannot be undone");
        Ok(story)
    }
}
