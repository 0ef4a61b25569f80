//! Changes the telephone number of a user, or takes it away.

use super::{Kind, Reader, Scene, Story, Undecodable, Version, user_change};
use crate::text::quoted;

pub(super) struct UpdateUserPhoneNumber;

impl Kind for UpdateUserPhoneNumber {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER",
            intent: "updateUserPhoneNumberIntent",
            shape: "userId userPhoneNumber verificationToken",
        }]
    }

    fn title(&self) -> &'static str {
        "Change telephone number"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let id = parameters.text("userId")?;
        let value = parameters.maybe_text("userPhoneNumber")?;
        let named = scene.user_named(id);
        let sentence = match value {
            Some(value) => format!("Give the user {named} the telephone number {}.", quoted(value)),
            None => format!("Take the telephone number from the user {named}."),
        };
        let brief = value.map_or_else(|| "none".to_owned(), quoted);
        let mut story = Story::new(format!("{}: {brief}", scene.user_short(id)), sentence);
        let now = scene.user(id).and_then(|user| user.user_phone_number.as_deref());
        user_change::contact(&mut story, "telephone number", now, value);
        user_change::whom(&mut story, id, scene);
        Ok(story)
    }
}
