//! Renames a user.

use super::{Description, Kind, Reader, Scene, Undecodable, Version, user_change};
use crate::text::{clean, quoted};

pub(super) struct UpdateUserName;

impl Kind for UpdateUserName {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_UPDATE_USER_NAME",
            intent: "updateUserNameIntent",
            schema: "userId userName",
        }]
    }

    fn title(&self) -> &'static str {
        "Rename user"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let (id, name) = (parameters.text("userId")?, parameters.text("userName")?);
        let mut description = Description::new(
            format!("{} becomes {}", scene.user_short(id), quoted(name)),
            format!("Rename the user {} to {}.", scene.user_named(id), quoted(name)),
        );
        let now = scene.user(id).map_or_else(|| "?".to_owned(), |user| clean(&user.user_name));
        description.change("name", now, clean(name), "");
        user_change::flag_user(&mut description, id, scene);
        Ok(description)
    }
}
