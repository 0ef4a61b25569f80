//! Changes or removes the mail address of a user.

use super::{Description, Kind, Reader, Scene, Undecodable, Version, user_change};
use crate::text::quoted;

pub(super) struct UpdateUserEmail;

impl Kind for UpdateUserEmail {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_UPDATE_USER_EMAIL",
            intent: "updateUserEmailIntent",
            schema: "userId userEmail verificationToken",
        }]
    }

    fn title(&self) -> &'static str {
        "Change mail address"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let id = parameters.text("userId")?;
        let value = parameters.maybe_text("userEmail")?;
        let named = scene.user_named(id);
        let sentence = match value {
            Some(value) => format!("Set the mail address of the user {named} to {}.", quoted(value)),
            None => format!("Remove the mail address of the user {named}."),
        };
        let brief = value.map_or_else(|| "none".to_owned(), quoted);
        let mut description = Description::new(format!("{}: {brief}", scene.user_short(id)), sentence);
        let now = scene.user(id).and_then(|user| user.user_email.as_deref());
        user_change::add_contact(&mut description, "mail address", now, value);
        user_change::flag_user(&mut description, id, scene);
        Ok(description)
    }
}
