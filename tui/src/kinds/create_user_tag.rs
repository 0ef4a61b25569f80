//! Makes a tag and puts it on users.

use super::scene::{count, listed};
use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};
use crate::text::quoted;

pub(super) struct CreateUserTag;

impl Kind for CreateUserTag {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_CREATE_USER_TAG",
            intent: "createUserTagIntent",
            shape: "userTagName userIds[]",
        }]
    }

    fn title(&self) -> &'static str {
        "Create user tag"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let name = parameters.text("userTagName")?;
        let ids = parameters.texts("userIds")?;
        let who = if ids.is_empty() { "no users yet".to_owned() } else { count(ids.len(), "user") };
        let holders = if ids.is_empty() {
            "Nobody gets it yet.".to_owned()
        } else {
            format!("It goes on {}.", listed(ids.iter().map(|id| scene.user_named(id))))
        };
        let mut story = Story::new(
            format!("{}, {who}", quoted(name)),
            format!("Make the user tag {}. {holders}", quoted(name)),
        );
        if scene.organization.tags.iter().any(|tag| tag.tag_name == name) {
            story.flag(Level::Med, "same-name", format!("there is a tag named {} already", quoted(name)));
        }
        let before = scene.organization.tags.len();
        story.change("tags", before.to_string(), before.saturating_add(1).to_string(), "");
        Ok(story)
    }
}
