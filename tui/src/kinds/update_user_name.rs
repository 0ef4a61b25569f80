//! Renames a user.

use super::{Kind, Reader, Scene, Story, Undecodable, Version, user_change};
use crate::text::{clean, quoted};

pub(super) struct UpdateUserName;

impl Kind for UpdateUserName {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_UPDATE_USER_NAME",
            intent: "updateUserNameIntent",
            shape: "userId userName",
        }]
    }

    fn title(&self) -> &'static str {
        "Rename user"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let (id, name) = (parameters.text("userId")?, parameters.text("userName")?);
        let mut story = Story::new(
            format!("{} becomes {}", scene.user_short(id), quoted(name)),
            format!("Give the user {} the name {}.", scene.user_named(id), quoted(name)),
        );
        let now = scene.user(id).map_or_else(|| "?".to_owned(), |user| clean(&user.user_name));
        story.change("name", now, clean(name), "");
        user_change::whom(&mut story, id, scene);
        Ok(story)
    }
}
